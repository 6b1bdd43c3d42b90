"""From files to documents and back: which reader a name asks for."""

from collections.abc import Collection
from dataclasses import replace
from pathlib import Path

from config_admin.releases.change_set import released
from config_admin.transfer import bundle
from config_admin.transfer.document import Document, FileRefused, Mode
from config_admin.transfer.planning import contents_of

FORMS = (YAML, JSON) = ("yaml", "json")


def form_of(path: Path | None) -> str:
    """The form that a file's name asks for; YAML when it asks for none."""
    suffix = path.suffix.lower().lstrip(".") if path else ""
    return suffix if suffix in FORMS else YAML


def read_bytes(name: str, data: bytes, *, mode: str | None = None) -> Document:
    """The rows of a file. `mode`: a `Mode`; null is that of the form. Raises FileRefused."""
    try:
        found = bundle.read(data.decode("utf-8-sig"))
    except UnicodeDecodeError as error:
        raise FileRefused(name, f"is no text in UTF-8 (byte {error.start}).") from None
    return replace(found, mode=Mode(mode)) if mode else found


def read_file(path: Path, *, mode: str | None = None) -> Document:
    """The rows of a file. Raises FileRefused, also when it cannot be opened."""
    try:
        data = path.read_bytes()
    except OSError as error:
        raise FileRefused(str(path), f"cannot be read: {error.strerror}.") from None
    return read_bytes(path.name, data, mode=mode)


def bundle_of(config_version: int | None = None, *, tables: Collection[str] = (), form: str = YAML) -> bytes:
    """A release as a bundle; of null the configuration in force. `tables`: only these.

    Raises NoSuchRelease.
    """
    contents = contents_of(released().config_version if config_version is None else config_version)
    return bundle.written(contents, tables or contents, as_yaml=form == YAML).encode()
