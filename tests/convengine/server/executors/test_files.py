import errno
import os
from pathlib import Path
from typing import Any

import pytest

from convengine.engine.turn.ports import ToolAnswer
from convengine.server.executors.port import BuiltInTools
from convengine.server.extensions.registry import Registry
from tests.builders import make_session, make_snapshot


@pytest.fixture
def shelf(tmp_path: Path, settings: Any) -> Path:
    """A folder of files, beside one that is nobody's business."""
    root = tmp_path / "shelf"
    (root / "sub").mkdir(parents=True)
    (root / "sub/note.txt").write_text("Grüße")
    (root / "large.txt").write_text("ä" * 200_000)
    (root / "picture.bin").write_bytes(b"\xff\xfe\x00")
    (root / ".hidden").write_text("key")
    (tmp_path / "outside.txt").write_text("secret")
    (root / "link.txt").symlink_to(tmp_path / "outside.txt")
    (root / "up").symlink_to(tmp_path)
    (root / "loop").symlink_to(root / "loop")
    (root / "inner.txt").symlink_to(root / "sub/note.txt")
    settings.CONVENGINE = {**settings.CONVENGINE, "FILES_ROOT": str(root)}
    return root


def list_files(path: Any = "") -> ToolAnswer:
    return BuiltInTools(make_snapshot(), Registry()).run("files", "FILE", {"path": path}, make_session())


def test_a_folder_is_listed_without_what_is_hidden_or_leads_elsewhere(shelf: Path) -> None:
    result = list_files().result

    assert [(entry["name"], entry["kind"]) for entry in result["entries"]] == [
        ("large.txt", "file"),
        ("picture.bin", "file"),
        ("sub", "folder"),
    ]
    assert result["truncated"] is False


def test_a_file_is_read(shelf: Path) -> None:
    assert list_files("sub/note.txt").result == {"path": "sub/note.txt", "size": 7, "text": "Grüße", "truncated": False}
    assert list_files("inner.txt").result["text"] == "Grüße"


def test_a_large_file_is_cut_at_a_character(shelf: Path) -> None:
    result = list_files("large.txt").result

    assert (result["truncated"], result["size"], len(result["text"])) == (True, 400_000, 131_072)


@pytest.mark.parametrize(
    "path",
    [
        "../outside.txt", "sub/../../outside.txt", "/etc/passwd", "~/x", "\\etc", "..\\outside.txt", ".hidden",
        "sub/.ssh", "link.txt", "up/outside.txt", "up/shelf/large.txt", "a\x00b", "....//outside.txt", "loop",
        "sub/../.hidden", ".",
    ],
)  # fmt: skip
def test_nothing_outside_of_the_folder_is_shown(shelf: Path, path: str) -> None:
    answer = list_files(path)

    if path == "up/shelf/large.txt":
        assert answer.error_type is None  # Around the corner, and inside again.
    else:
        assert (answer.error_type, answer.result) == ("FILE_REFUSED", None)


def test_what_is_not_there_or_no_text_is_told(shelf: Path) -> None:
    assert list_files("nothing.txt").error_type == "FILE_NOT_FOUND"
    assert list_files("picture.bin").error_type == "FILE_NOT_TEXT"
    assert list_files(7).error_type == "INVALID_ARGS"


@pytest.mark.parametrize("path", ["x" * 300, "sub/" + "y" * 300, "\ud800"])
def test_a_name_that_no_file_can_have_is_refused_without_the_location_of_the_folder(shelf: Path, path: str) -> None:
    answer = list_files(path)

    assert answer.error_type == "FILE_REFUSED"
    assert str(shelf) not in str(answer.error_message)


@pytest.mark.parametrize(("path", "method"), [("sub", "iterdir"), ("sub/note.txt", "open")])
def test_what_cannot_be_read_is_refused_without_the_location_of_the_folder(
    shelf: Path, path: str, method: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(target: Path, *_: Any) -> Any:
        raise PermissionError(errno.EACCES, "Permission denied", str(target))

    with monkeypatch.context() as patch:
        patch.setattr(Path if method == "iterdir" else os, method, refuse)
        answer = list_files(path)

    assert (answer.error_type, answer.error_message) == ("FILE_REFUSED", f"{path} cannot be read: Permission denied.")


def test_without_a_folder_there_are_no_files() -> None:
    assert list_files().error_type == "FILES_NOT_CONFIGURED"
