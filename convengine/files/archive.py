"""The files of a zip archive, with limits that its own statements about them cannot pass."""

import io
import zipfile
import zlib
from collections.abc import Collection
from pathlib import PurePosixPath

from convengine.files import Unreadable


def unpack(
    data: bytes, suffixes: Collection[str], *, most_files: int, most_bytes: int, most_bytes_in_all: int
) -> list[tuple[str, bytes]]:
    """The files with these suffixes, by name. One with more than `most_bytes` has its first bytes and one too many.

    Raises Unreadable.
    """
    try:
        with zipfile.ZipFile(io.BytesIO(data)) as archive:
            entries = [each for each in archive.infolist() if PurePosixPath(each.filename).suffix.lower() in suffixes]
            # Their sizes are those that the archive declares; reading ends there.
            if len(entries) > most_files or sum(entry.file_size for entry in entries) > most_bytes_in_all:
                raise Unreadable(
                    f"unpacks to more than {most_bytes_in_all // 1_000_000} MB, or {most_files:,} files. Split it."
                )
            return [(entry.filename, archive.open(entry).read(most_bytes + 1)) for entry in entries]
    except Unreadable:
        raise
    # `zipfile` raises NotImplementedError for an unknown compression, RuntimeError for a password, and ValueError for
    # a file that begins before the archive.
    except (zipfile.BadZipFile, zlib.error, NotImplementedError, RuntimeError, EOFError, OSError, ValueError):
        raise Unreadable("is not a readable archive.") from None
