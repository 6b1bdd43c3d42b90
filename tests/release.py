"""Make a release: write version, heading in the changelog, notes, and the database that upgrades are tested from.

`make release VERSION=0.9.0`
"""

import re
import subprocess
import sys
from datetime import UTC, date, datetime
from pathlib import Path

from packaging.version import InvalidVersion, Version

from tests.upgrade.releases import store as store_upgrade

ROOT = Path(__file__).resolve().parent.parent
VERSION_FILE = "convengine/__init__.py"
_VERSION = re.compile(r'^__version__ = "(.+)"$', re.MULTILINE)
_SECTION = re.compile(r"^## Unreleased\n(.*?)(?=^## |\Z)", re.MULTILINE | re.DOTALL)


class ReleaseRefused(Exception):
    """Nothing was written; the message says why."""


def make_release(root: Path, version: str, day: date) -> Path:
    """Write the three in the tree `root`, and return the file of the notes. Raises ReleaseRefused."""
    source, changelog = (root / VERSION_FILE).read_text(), (root / "CHANGELOG.md").read_text()
    _check_version(version, _VERSION.findall(source)[0])
    _check_tree(root)
    notes = _read_notes(changelog)
    made = f"## Unreleased\n\n{_list_headings(changelog)}## {version} ({day.isoformat()})\n\n{notes}"
    (root / VERSION_FILE).write_text(_VERSION.sub(f'__version__ = "{version}"', source))
    (root / "CHANGELOG.md").write_text(_SECTION.sub(lambda _: made, changelog))
    file = root / "var" / f"notes-{version}.md"
    file.parent.mkdir(exist_ok=True)
    file.write_text(f"ConvEngine {version}\n\n{notes}")
    return file


def _check_version(version: str, current: str) -> None:
    try:
        wanted = Version(version)
    except InvalidVersion:
        wanted = None
    if wanted is None or wanted.is_devrelease or wanted.local or str(wanted) != version or len(wanted.release) != 3:
        raise ReleaseRefused(f"VERSION {version!r} is not the version of a release. Write it as 0.9.0 or 0.9.0rc1.")
    if wanted <= Version(current):
        raise ReleaseRefused(f"VERSION {version} is not higher than {current} in {VERSION_FILE}. Choose a higher one.")


def _check_tree(root: Path) -> None:
    status = ["git", "status", "--porcelain"]
    changed = subprocess.run(status, cwd=root, capture_output=True, text=True, check=True).stdout
    if changed:
        raise ReleaseRefused(f"Files differ from the last commit. Commit or remove them first:\n{changed.rstrip()}")


def _read_notes(changelog: str) -> str:
    """What stands below *Unreleased*, without headings that have no lines. Raises ReleaseRefused."""
    parts = re.split(r"(?=^### )", "".join(_SECTION.findall(changelog)), flags=re.MULTILINE)
    notes = "".join(part.strip() + "\n\n" for part in parts if re.search(r"^[-*] ", part, re.MULTILINE))
    if not notes:
        raise ReleaseRefused("CHANGELOG.md has no line below “Unreleased”. Say there what users notice.")
    return notes


def _list_headings(changelog: str) -> str:
    headings = re.findall(r"^### .+$", "".join(_SECTION.findall(changelog)), re.MULTILINE)
    return "".join(f"{heading}\n\n" for heading in headings)


def main() -> int:
    """0 when the release was written."""
    try:
        file = make_release(ROOT, sys.argv[1] if len(sys.argv) > 1 else "", datetime.now(UTC).date())
    except ReleaseRefused as refusal:
        print(refusal, file=sys.stderr)
        return 1
    store_upgrade(ROOT)
    tag = f"v{sys.argv[1]}"
    print(f"Wrote {VERSION_FILE}, CHANGELOG.md, tests/upgrade/ and {file.relative_to(ROOT)}. Read them, then:")
    print("  git add tests/upgrade")
    print(f"  git commit --all --message 'Release {sys.argv[1]}'")
    print(f"  git tag --annotate --cleanup=verbatim --file {file.relative_to(ROOT)} {tag}")
    print("  make dist sbom")
    if ".example/" in (ROOT / "pyproject.toml").read_text():
        print(
            "Before you publish dist/, declare the address of the repository in pyproject.toml, for the README's links."
        )
    return 0


if __name__ == "__main__":
    sys.exit(main())
