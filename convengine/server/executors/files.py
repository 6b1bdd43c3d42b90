"""The executor of group FILES: list and read files in one folder of the deployment."""

import os
from pathlib import Path

from convengine.engine.tools.fault import ToolFault
from convengine.engine.turn.ports import ToolAnswer
from convengine.json_value import Json
from convengine.server.deployment import conf
from convengine.server.executors.job import ToolJob

_LONGEST_TEXT = 256 * 1024
_MOST_ENTRIES = 500


def run(job: ToolJob) -> ToolAnswer:
    """A folder as `{path, entries, truncated}`, a file as `{path, size, text, truncated}`. Raises ToolFault."""
    root = conf.get("FILES_ROOT")
    if not root:
        raise ToolFault("FILES_NOT_CONFIGURED", "File access is not configured. Set CE_FILES_ROOT.")
    path = job.args.get("path", "")
    if not isinstance(path, str):
        raise ToolFault("INVALID_ARGS", "path must be a text.")
    base = Path(root).resolve()
    target = _resolve_path(base, path)
    return ToolAnswer(_list_folder(base, target) if target.is_dir() else _read_file(base, target))


def _resolve_path(base: Path, path: str) -> Path:
    """The location of a path, with links followed.

    Raises ToolFault: FILE_REFUSED for one outside of the folder, or a hidden one; FILE_NOT_FOUND if nothing is there.
    """
    parts = [part for part in path.replace("\\", "/").split("/") if part]
    if "\x00" in path or path.startswith(("/", "\\", "~")) or any(part.startswith(".") for part in parts):
        raise ToolFault("FILE_REFUSED", f"{path[:200]} is not a path in the folder of files.")
    try:
        target = base.joinpath(*parts).resolve()
        is_there = target.exists()
    except (OSError, RuntimeError, ValueError) as error:
        raise ToolFault("FILE_REFUSED", f"{path[:200]} cannot be followed to a file or folder.") from error
    # A link inside may lead outside, so its target is checked.
    if not target.is_relative_to(base) or any(part.startswith(".") for part in target.relative_to(base).parts):
        raise ToolFault("FILE_REFUSED", f"{path[:200]} is not a path in the folder of files.")
    if not is_there:
        raise ToolFault("FILE_NOT_FOUND", f"The file {path[:200]} does not exist.")
    return target


def _list_folder(base: Path, folder: Path) -> dict[str, Json]:
    """The visible files and folders of a folder, by name; no links, and at most `_MOST_ENTRIES`.

    Raises ToolFault FILE_REFUSED.
    """
    try:
        children = sorted(entry for entry in folder.iterdir() if not entry.name.startswith("."))
        entries = [
            {"name": entry.name, "kind": "folder" if entry.is_dir() else "file", "size": entry.lstat().st_size}
            for entry in children[:_MOST_ENTRIES]
            if not entry.is_symlink()
        ]
    except OSError as error:
        raise _refuse_unreadable(base, folder, error) from error
    return {"path": _name_relative(base, folder), "entries": entries, "truncated": len(children) > _MOST_ENTRIES}


def _read_file(base: Path, file: Path) -> dict[str, Json]:
    """The beginning of a text file; a link in its place is refused.

    Raises ToolFault FILE_REFUSED and FILE_NOT_TEXT.
    """
    if not file.is_file():
        raise ToolFault("FILE_REFUSED", f"{_name_relative(base, file)} is neither a file nor a folder.")
    try:
        handle = os.open(file, os.O_RDONLY | getattr(os, "O_NOFOLLOW", 0))
        with os.fdopen(handle, "rb") as opened:
            data, size = opened.read(_LONGEST_TEXT + 1), os.fstat(opened.fileno()).st_size
    except OSError as error:
        raise _refuse_unreadable(base, file, error) from error
    cut = len(data) > _LONGEST_TEXT
    try:
        # A cut may split a character.
        text = data[:_LONGEST_TEXT].decode("utf-8", "ignore" if cut else "strict")
    except UnicodeDecodeError as error:
        raise ToolFault("FILE_NOT_TEXT", f"{_name_relative(base, file)} is not UTF-8 text.") from error
    return {"path": _name_relative(base, file), "size": size, "text": text, "truncated": cut}


def _refuse_unreadable(base: Path, target: Path, error: OSError) -> ToolFault:
    """The fault, without the location of the folder on the server, which the error's own message has."""
    return ToolFault("FILE_REFUSED", f"{_name_relative(base, target)} cannot be read: {error.strerror}.")


def _name_relative(base: Path, target: Path) -> str:
    return target.relative_to(base).as_posix()
