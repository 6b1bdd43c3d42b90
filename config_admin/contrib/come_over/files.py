"""The files of a bot, from a folder or a zip archive, as far as they are not too many or too large."""

import os
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path, PurePosixPath

from config_admin.transfer.document import FileRefused
from convengine.files import Unreadable
from convengine.files.apart import read_apart
from convengine.files.archive import unpack

#: Limits of a bot: files, bytes of a file, and bytes in all.
MOST_FILES, MOST_BYTES, MOST_BYTES_IN_ALL = 5000, 4 * 1024 * 1024, 16 * 1024 * 1024
Files = Sequence[tuple[str, bytes]]


@dataclass(frozen=True)
class Layout:
    """Where a system has its files: names in the top folder, in order, and the suffixes of what is read."""

    roots: Sequence[str]
    suffixes: Collection[str]


def read_files(source: Path, layout: Layout) -> Files:
    """The files of a folder or an archive. Raises FileRefused, which names the file and the remedy."""
    try:
        if source.is_dir():
            return _limit(_read_folder(source, layout))
        with source.open("rb") as opened:
            return read_archive(source.name, opened.read(MOST_BYTES_IN_ALL + 1), layout)
    except OSError as error:
        name = str(error.filename or source)
        raise FileRefused(name, f"cannot be read: {error.strerror}. Correct its name or permissions.") from None


def read_archive(name: str, data: bytes, layout: Layout) -> Files:
    """The files of an archive, whose top folder may be in other folders. Raises FileRefused."""
    most = MOST_BYTES_IN_ALL // 1024**2
    if len(data) > MOST_BYTES_IN_ALL:
        raise FileRefused(name, f"has more than {most} MB. Leave examples out.")
    try:
        files = read_apart(
            data, unpack, data, layout.suffixes,
            most_files=MOST_FILES, most_bytes=MOST_BYTES, most_bytes_in_all=MOST_BYTES_IN_ALL * 10,
        )  # fmt: skip
    except Unreadable as error:
        raise FileRefused(name, error.problem) from None
    return _limit(_order(files, layout))


def _limit(files: Iterator[tuple[str, bytes]]) -> Files:
    total, limited = 0, list[tuple[str, bytes]]()
    for name, data in files:
        total += len(data)
        if len(limited) == MOST_FILES:
            raise FileRefused(name, f"is one of more than {MOST_FILES:,} files. Join some of them.")
        if len(data) > MOST_BYTES:
            raise FileRefused(name, f"has more than {MOST_BYTES // 1024**2} MB. Split it, or leave examples out.")
        if total > MOST_BYTES_IN_ALL:
            most = MOST_BYTES_IN_ALL // 1024**2
            raise FileRefused(name, f"is too much: the files up to it have more than {most} MB. Leave examples out.")
        limited.append((name, data))
    return limited


def _read_folder(folder: Path, layout: Layout) -> Iterator[tuple[str, bytes]]:
    """The files below the roots. Links are left out, because they may lead anywhere."""
    for root in (folder / name for name in layout.roots if not (folder / name).is_symlink()):
        below = [Path(parent, name) for parent, _, names in sorted(os.walk(root)) for name in sorted(names)]
        for path in [root, *below]:
            if path.suffix.lower() in layout.suffixes and path.is_file() and not path.is_symlink():
                with path.open("rb") as opened:
                    yield path.relative_to(folder).as_posix(), opened.read(MOST_BYTES + 1)


def _order(files: Files, layout: Layout) -> Iterator[tuple[str, bytes]]:
    """The files below the roots of the top folder, which is the one nearest to the top that has any root."""
    parts = {name: PurePosixPath(name).parts for name, _ in files}
    tops = [each[:depth] for each in parts.values() for depth, part in enumerate(each) if part in layout.roots]
    top = min(tops, key=len, default=())
    inside = {each[len(top) :]: data for (name, data) in files if (each := parts[name])[: len(top)] == top}
    for root in layout.roots:
        yield from (("/".join(each), inside[each]) for each in sorted(inside) if each[:1] == (root,))
