"""`convengine init NAME`: a project of one's own, made from the template in `fixtures/project`."""

import argparse
import keyword
import re
import secrets
import sys
import tomllib
from collections.abc import Sequence
from functools import partial
from importlib.metadata import PackageNotFoundError, distribution
from importlib.util import find_spec
from pathlib import Path

from convengine import __version__
from convengine.server.deployment.folders import find_shipped

#: The template is a complete project of this name.
NAME = "clinic"
#: Files that a tool would act on where the template lies.
_STORED_AS = {
    "gitignore": ".gitignore",
    "dockerignore": ".dockerignore",
    "env.example": ".env.example",
    "ruff": "ruff.toml",
}
_FOLDERS = {"github": ".github"}
#: What the bot says, in which the name of the project does not occur.
_CONTENT = ("configuration.yaml", "flows", "scenarios")
#: What an empty project has none of, or its own.
_EXAMPLE = (*_CONTENT, NAME, "tests", "README.md")
#: Variables of `.env` that get a random text. The password is part of a URL, so it has letters and digits only.
_SECRETS = {"CE_SECRET_KEY": partial(secrets.token_urlsafe, 48), "DATABASE_PASSWORD": partial(secrets.token_hex, 24)}


class ProjectRefused(Exception):
    """No project was made; the message says why."""


def init(arguments: Sequence[str]) -> int:
    """The command; gives the exit status."""
    parser = argparse.ArgumentParser(
        prog="convengine init", description="Make a project in a new folder.", allow_abbrev=False
    )
    parser.add_argument("name", metavar="NAME", help="The name of the project, its folder and its package.")
    parser.add_argument("--folder", type=Path, help="Another folder than the name.")
    parser.add_argument("--empty", action="store_true", help="Without the example: no intents and no code yet.")
    options = parser.parse_args(list(arguments))
    folder = options.folder or Path(options.name)
    try:
        files = make_project(options.name, folder, empty=options.empty)
    except (ProjectRefused, OSError) as problem:
        print(f"No project was made: {problem}", file=sys.stderr)
        return 1
    print(
        f"Made {len(files)} files in {folder}. Next:\n\n"
        f"  cd {folder}\n"
        "  make test     # the checks, the tests and the scenarios\n"
        "  make run      # the bot, its admin and manual at http://127.0.0.1:8000\n\n"
        "README.md says what each file is."
    )
    return 0


def make_project(name: str, folder: Path, *, empty: bool = False) -> list[Path]:
    """Write the files of a project, and return them. `empty`: without the example bot. Raises Refused and OSError."""
    package = name_package(name)
    if folder.exists() and (not folder.is_dir() or any(folder.iterdir())):
        raise ProjectRefused(f"{folder} exists and is not empty. Choose another name, or an empty folder.")
    sources, made = _list_files("project"), []
    if empty:
        # An empty project has files of its own in place of the example's.
        frame = {path: file for path, file in sources.items() if path.parts[0] not in _EXAMPLE}
        sources = frame | _list_files("empty_project")
    for path, source in sorted(sources.items()):
        parts = [package if part == NAME else _STORED_AS.get(part, _FOLDERS.get(part, part)) for part in path.parts]
        target = folder.joinpath(*parts)
        target.parent.mkdir(parents=True, exist_ok=True)
        text = source.read_text("utf-8")
        target.write_text(text if parts[0] in _CONTENT else fill_in(text, name, package), "utf-8")
        made.append(target)
    lock = folder / "requirements.lock"
    lock.write_text(_lock_installed(), "utf-8")
    env = folder / ".env"
    env.touch(mode=0o600)
    example = (folder / ".env.example").read_text("utf-8")
    for name, make_secret in _SECRETS.items():
        example = re.sub(f"^{name}=$", f"{name}={make_secret()}", example, flags=re.MULTILINE)
    env.write_text(example, "utf-8")
    return [*made, lock, env]


def _list_files(template: str) -> dict[Path, Path]:
    folder = find_shipped("fixtures") / template
    files = (file for file in folder.rglob("*") if file.is_file() and "__pycache__" not in file.parts)
    return {file.relative_to(folder): file for file in files}


def name_package(name: str) -> str:
    """The Python package of a project. Raises Refused for a name that cannot be one."""
    package = re.sub(r"[-.]", "_", name).lower()
    # The name is that of the distribution, too, which ends with a letter or a digit.
    if not re.fullmatch(r"[a-z]([a-z0-9_]*[a-z0-9])?", package) or keyword.iskeyword(package):
        hint = "Begin with a letter, and use letters, digits and '-'."
        if "/" in name:
            hint = "To name its place, use --folder."
        raise ProjectRefused(f"{name!r} cannot be the name of a Python package. {hint}")
    if package in ("tests", "scenarios", "flows", "var") or package in sys.stdlib_module_names or find_spec(package):
        raise ProjectRefused(f"{package!r} is the name of another Python package. Choose another name.")
    return package


def fill_in(text: str, name: str, package: str) -> str:
    """The text of a file of the template for this project."""
    values = {"~=0.0": f"~={__version__}", f"{NAME}-project": name, NAME: package}
    # In one pass, as the name may contain that of the template.
    return re.sub("|".join(map(re.escape, values)), lambda match: values[match[0]], text)


def _lock_installed() -> str:
    """The exact versions of ConvEngine and of what it needs, as this environment has them."""
    versions = {"convengine": __version__}
    try:
        requirements = [*(distribution("convengine").requires or ())]
    except PackageNotFoundError:
        # In a checkout the package is not installed, so its own file says what it needs.
        project = tomllib.loads((find_shipped("docs").parent / "pyproject.toml").read_text("utf-8"))["project"]
        requirements = [*project["dependencies"]]
    while requirements:
        name = re.sub(r"[-_.]+", "-", re.split(r"[^\w.-]", requirements.pop(), maxsplit=1)[0]).lower()
        if name in versions:
            continue
        try:
            installed = distribution(name)
        except PackageNotFoundError:  # Of another platform, or of an extra that nobody asked for.
            continue
        versions[name] = installed.version
        requirements += installed.requires or ()
    return "# `make lock` takes newer versions.\n" + "".join(f"{name}=={versions[name]}\n" for name in sorted(versions))
