"""What a command imports: neither pages nor serializers, no trained model, no matrices, unless it uses them."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.migrated import copy_migrated

ROOT = Path(__file__).parents[3]
#: What takes longest to import, by what it is for.
PAGES = ("config_admin.admin", "unfold.admin", "markdown_it", "config_admin.api.urls")
CALLS = ("rest_framework.serializers", "drf_spectacular.openapi")
MODELS = ("sklearn", "scipy", "onnxruntime", "openpyxl")
_REPORT = """
import json, sys
from convengine.cli.main import main
try:
    status = main(sys.argv[1:])
except SystemExit as ended:
    status = ended.code
print(json.dumps([status, sorted(sys.modules)]))
"""


@pytest.fixture(scope="module")
def project(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A project with an empty database."""
    folder = tmp_path_factory.mktemp("project")
    _run(folder, "init", "clinic", "--folder", str(folder))
    (folder / "var").mkdir(exist_ok=True)
    copy_migrated(folder / "var" / "convengine.sqlite3")
    return folder


def _run(folder: Path, *arguments: str) -> tuple[int, list[str]]:
    """The exit status of a command, and the modules that it imported."""
    kept = {name: os.environ[name] for name in ("HOME", "PATH", "LANG") if name in os.environ}
    done = subprocess.run(
        [sys.executable, "-c", _REPORT, *arguments],
        cwd=folder,
        env={**kept, "PYTHONPATH": str(ROOT)},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.stdout, done.stderr
    status, modules = json.loads(done.stdout.splitlines()[-1])
    return status, modules


@pytest.mark.long
@pytest.mark.parametrize(
    ("command", "heavy"),
    [
        ("--help", ("django", "numpy", *PAGES, *CALLS, *MODELS)),
        ("apply --help", (*PAGES, *CALLS, *MODELS)),
        ("evaluate --help", (*PAGES, *CALLS, *MODELS)),
        ("apply configuration.yaml --plan", (*PAGES, *CALLS, *MODELS)),
        ("import configuration.yaml", (*PAGES, *CALLS, *MODELS)),
        ("manage start_flow flows/1-book-appointment.json flows/2-find-appointment.json", (*PAGES, *CALLS, *MODELS)),
        ("check", (*PAGES, *CALLS, "sklearn", "openpyxl")),
        ("key create website", (*PAGES, *CALLS, *MODELS)),
    ],
)
def test_a_command_imports_only_what_it_uses(project: Path, command: str, heavy: tuple[str, ...]) -> None:
    status, modules = _run(project, *command.split())

    # A preview that found changes ends with 2, and so does a check of an empty database with its errors.
    assert status in (0, None, 1, 2)
    assert set(heavy) & set(modules) == set()
