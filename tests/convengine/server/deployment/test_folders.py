from pathlib import Path

import pytest

from convengine.server.deployment import folders

ROOT = Path(folders.__file__).resolve().parents[3]


@pytest.fixture(autouse=True)
def _fresh(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("CE_PROJECT_DIR", raising=False)
    monkeypatch.setattr(folders, "project_folder", folders.project_folder.__wrapped__)


@pytest.mark.parametrize("name", ["templates", "static", "docs", "fixtures"])
def test_a_checkout_ships_the_folders_of_the_repository(name: str) -> None:
    assert folders.find_shipped(name) == ROOT / name


def test_a_missing_folder_says_what_to_do() -> None:
    with pytest.raises(FileNotFoundError, match="Install the package again"):
        folders.find_shipped("nothing")


def test_a_wheel_ships_them_inside_of_the_package(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "_shipped" / "docs").mkdir(parents=True)
    monkeypatch.setattr(folders, "_INSIDE", tmp_path / "_shipped")

    assert folders.find_shipped("docs") == tmp_path / "_shipped" / "docs"
    assert not folders.is_checkout()
    assert folders.demo_extension() == "convengine._shipped.fixtures.demo.helpdesk"


def test_the_project_is_the_nearest_folder_that_says_so(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    inner = tmp_path / "clinic" / "flows"
    inner.mkdir(parents=True)
    (tmp_path / "clinic" / "pyproject.toml").write_text('[tool.convengine]\nsettings = "clinic.settings"\n')
    (inner / "pyproject.toml").write_text("[tool.other]\n")
    monkeypatch.chdir(inner)

    assert folders.project_folder() == tmp_path / "clinic"
    assert folders.read_project(tmp_path / "clinic") == {"settings": "clinic.settings"}


def test_without_a_project_data_is_in_the_checkout_or_the_current_folder(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    of_checkout = folders.project_folder()
    monkeypatch.setattr(folders, "is_checkout", lambda: False)

    assert (of_checkout, folders.project_folder()) == (ROOT, tmp_path)


def test_a_named_project_has_precedence(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CE_PROJECT_DIR", str(tmp_path / "there"))

    assert folders.project_folder() == tmp_path / "there"
