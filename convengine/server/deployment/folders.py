"""The folders of the installation: what the package ships, and where a project keeps its data."""

import os
import subprocess
import tomllib
from contextlib import suppress
from functools import cache
from pathlib import Path
from typing import Any

import convengine

_PACKAGE = Path(convengine.__file__).resolve().parent
#: What a wheel holds of the folders at the top level of the repository.
_INSIDE = _PACKAGE / "_shipped"
#: Files of the folder of data: the SQLite database, and the users and the key, and the secret of the demonstration.
DATABASE_FILE, DEMO_FACTS, SECRET_FILE = "convengine.sqlite3", "demo.json", "secret_key"
#: The file that is there until the demonstration's whole sample week is played. It holds the time at which it ends.
UNFINISHED_WEEK = "sample_week"
#: What to do in a folder that is no project.
FIND_PROJECT = "Go to the folder of your project, or make one: convengine init NAME."
_PACKAGES = frozenset({"convengine", "config_admin", "audit"})
#: The apps of our management commands. Projects of others do not install them: they have `manage.py convengine`.
COMMAND_APPS = ("convengine.commands", "config_admin.commands", "audit.commands")


def find_shipped(name: str) -> Path:
    """One of the folders `templates`, `static`, `docs` and `fixtures`, of a wheel or of the checkout.

    Raises FileNotFoundError.
    """
    folder = (_INSIDE if _INSIDE.is_dir() else _PACKAGE.parent) / name
    if not folder.is_dir():
        raise FileNotFoundError(f"The folder {name!r} of ConvEngine is missing: {folder}. Install the package again.")
    return folder


def name_chapter(chapter: str) -> str:
    """A chapter of the manual for whoever reads a message: its file, which the package has, and its page."""
    file = find_shipped("docs") / f"{chapter}.md"
    shown = file.relative_to(_PACKAGE.parent) if is_checkout() else file
    return f"{shown} (page /docs/{chapter}/ of the server)"


def describe_version() -> str:
    """The version with its commit, such as "0.9.0 (commit 332b7264)"; without the commit if nothing names it."""
    built, commit = _PACKAGE / "commit.txt", ""
    if built.is_file():
        commit = built.read_text()
    elif (_PACKAGE.parent / ".git").exists():
        command = ["git", "-C", str(_PACKAGE.parent), "rev-parse", "--short=12", "HEAD"]
        with suppress(OSError):
            commit = subprocess.run(command, capture_output=True, text=True, check=False).stdout.strip()  # noqa: S603
    return f"{convengine.__version__} (commit {commit})" if commit else convengine.__version__


def is_own_module(name: str) -> bool:
    """Whether a module is part of the product, by its dotted name."""
    return name.partition(".")[0] in _PACKAGES


def is_checkout() -> bool:
    """Whether the package runs from its repository."""
    return (_PACKAGE.parent / "manage.py").is_file() and not _INSIDE.is_dir()


def demo_extension() -> str:
    """The module of the demonstration's own code."""
    return "convengine._shipped.fixtures.demo.helpdesk" if _INSIDE.is_dir() else "fixtures.demo.helpdesk"


def is_demonstration(data: Path, database: object) -> bool:
    """Whether a database is the one that the demonstration made in its folder of data."""
    return (data / DEMO_FACTS).is_file() and database == str(data / DATABASE_FILE)


def is_demonstration_secret(data: Path, secret: str) -> bool:
    """Whether a secret is the one that the demonstration made in its folder of data."""
    try:
        return (data / SECRET_FILE).read_text("utf-8").strip() == secret
    except (OSError, UnicodeDecodeError):
        return False


def read_project(folder: Path) -> dict[str, Any] | None:
    """The table `tool.convengine` of the folder's pyproject.toml. Returns None if there is none."""
    file = folder / "pyproject.toml"
    if not file.is_file():
        return None
    try:
        project: dict[str, Any] | None = tomllib.loads(file.read_text("utf-8")).get("tool", {}).get("convengine")
    except (ValueError, OSError):
        return None
    return project


def is_project(folder: Path) -> bool:
    return read_project(folder) is not None or (is_checkout() and folder == _PACKAGE.parent)


@cache
def project_folder() -> Path:
    """The folder of the project: `CE_PROJECT_DIR`, or the nearest project above the current folder.

    Without either it is the checkout, and outside of a checkout the current folder; never the installed package.
    """
    if named := os.environ.get("CE_PROJECT_DIR", "").strip():
        return Path(named).resolve()
    current = Path.cwd()
    nearest = next((folder for folder in (current, *current.parents) if read_project(folder) is not None), None)
    return nearest or (_PACKAGE.parent if is_checkout() else current)
