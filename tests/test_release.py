"""`make release` on a copy of the files that it writes."""

import subprocess
from datetime import date
from pathlib import Path

import pytest

from tests.release import ReleaseRefused, make_release

DAY = date(2027, 3, 1)
CHANGELOG = """# Changelog

## Unreleased

### For analysts

- Forms read more.

### For QA

### Removed

- Nothing that you miss.

## 0.8.0 (2026-01-01)

- The first one.
"""


@pytest.fixture
def tree(tmp_path: Path) -> Path:
    """A repository of the two files, at a development version."""
    (tmp_path / "convengine").mkdir()
    (tmp_path / "convengine/__init__.py").write_text('"""The engine."""\n\n__version__ = "0.9.0.dev0"\n')
    (tmp_path / "CHANGELOG.md").write_text(CHANGELOG)
    (tmp_path / ".gitignore").write_text("var/\n")
    identity = ["-c", "user.name=ada", "-c", "user.email=ada@example.com"]
    for command in (["init", "--quiet"], ["add", "--all"], [*identity, "commit", "--quiet", "--message", "Begin"]):
        subprocess.run(["git", *command], cwd=tmp_path, check=True)
    return tmp_path


def test_a_release_has_its_version_its_heading_and_its_notes(tree: Path) -> None:
    notes = make_release(tree, "0.9.0", DAY)

    section = "### For analysts\n\n- Forms read more.\n\n### Removed\n\n- Nothing that you miss.\n\n"
    assert (tree / "convengine/__init__.py").read_text() == '"""The engine."""\n\n__version__ = "0.9.0"\n'
    assert notes.read_text() == f"ConvEngine 0.9.0\n\n{section}"
    assert (tree / "CHANGELOG.md").read_text() == (
        "# Changelog\n\n## Unreleased\n\n### For analysts\n\n### For QA\n\n### Removed\n\n"
        f"## 0.9.0 (2027-03-01)\n\n{section}## 0.8.0 (2026-01-01)\n\n- The first one.\n"
    )


@pytest.mark.parametrize("version", ["", "1", "v0.9.0", "0.9", "0.9.0.dev1", "0.8.9", "0.9.0+here", "00.9.0"])
def test_a_wrong_version_is_refused(tree: Path, version: str) -> None:
    with pytest.raises(ReleaseRefused, match="VERSION"):
        make_release(tree, version, DAY)

    assert (tree / "CHANGELOG.md").read_text() == CHANGELOG


def test_a_tree_with_changes_is_refused(tree: Path) -> None:
    (tree / "notes.txt").write_text("not committed")

    with pytest.raises(ReleaseRefused, match=r"notes\.txt"):
        make_release(tree, "0.9.0", DAY)


def test_a_release_without_a_line_in_the_changelog_is_refused(tree: Path) -> None:
    make_release(tree, "0.9.0rc1", DAY)
    subprocess.run(
        ["git", "-c", "user.name=a", "-c", "user.email=a@b.c", "commit", "-qam", "Go on"], cwd=tree, check=True
    )

    with pytest.raises(ReleaseRefused, match="Unreleased"):
        make_release(tree, "0.9.0", DAY)
