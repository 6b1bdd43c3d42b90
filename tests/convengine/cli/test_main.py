import os
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from django.core.exceptions import ImproperlyConfigured
from django.core.management import ManagementUtility, get_commands

from convengine import __version__
from convengine.cli import main as cli
from convengine.cli.commands import BY_WORDS, COMMANDS
from convengine.server.deployment.folders import project_folder

ROOT = Path(__file__).resolve().parents[3]
PROJECT = '[tool.convengine]\nsettings = "clinic.settings"\n'


def environment(**variables: str) -> dict[str, str]:
    """The environment with only these variables of ours: tests of commands leave theirs in this process."""
    ours = ("CE_", "DJANGO_", "DATABASE_")
    return {name: value for name, value in os.environ.items() if not name.startswith(ours)} | variables


def run(folder: Path, *arguments: str, **variables: str) -> subprocess.CompletedProcess[str]:
    """The command in a folder, with only these variables of ours."""
    return subprocess.run(
        [sys.executable, "-m", "convengine", *arguments],
        capture_output=True,
        text=True,
        check=False,
        cwd=folder,
        env=environment(**{"PYTHONPATH": str(ROOT), **variables}),
    )


@pytest.fixture
def calls(monkeypatch: pytest.MonkeyPatch) -> list[list[str]]:
    """The management commands that would run."""
    seen: list[list[str]] = []
    monkeypatch.setattr(cli, "run_management", lambda arguments, words="": seen.append(list(arguments)) or 0)
    monkeypatch.setattr(cli, "use_project", lambda command=None: Path())
    return seen


def test_every_command_is_a_management_command_that_there_is() -> None:
    known = get_commands()

    assert [command.words for command in COMMANDS if command.management and command.management not in known] == []
    assert {command.words for command in COMMANDS if not command.management} == {"init", "doctor", "manage"}


@pytest.mark.parametrize(
    ("given", "expected"),
    [
        (["key", "create", "web", "--scope", "turns"], ["api_key_create", "web", "--scope", "turns"]),
        (["import", "a.yaml", "--apply"], ["config_import", "a.yaml", "--apply"]),
        (["test"], ["scenarios"]),
        (["test", "--coverage", "--fail-under", "80"], ["scenarios", "--coverage", "--fail-under", "80"]),
        (["test", "--junit", "pyproject.toml"], ["scenarios", "--junit", "pyproject.toml"]),
        (["test", "tests/scenarios"], ["scenarios", "tests/scenarios"]),
        (["manage", "migrate"], ["migrate"]),
    ],
)
def test_a_command_is_handed_to_django(given: list[str], expected: list[str], calls: list[list[str]]) -> None:
    assert cli.main(given) == 0
    assert calls == [expected]


@pytest.mark.parametrize(
    ("given", "text"),
    [
        (["serv"], "convengine has no command 'serv'. Did you mean serve?"),
        (["key"], "Write one of: convengine key create."),
        (["key", "destroy"], "Write one of: convengine key create."),
    ],
)
def test_an_unknown_command_names_the_nearest_one(
    given: list[str], text: str, calls: list[list[str]], capsys: Any
) -> None:
    assert cli.main(given) == 2
    assert text in capsys.readouterr().err
    assert calls == []


def test_the_help_lists_all_commands(capsys: Any) -> None:
    assert cli.main([]) == 0

    text = capsys.readouterr().out
    assert [words for words in BY_WORDS if f"  {words} " not in text] == []


@pytest.fixture
def environ(monkeypatch: pytest.MonkeyPatch) -> dict[str, str]:
    """The variables that a project sets."""
    variables = {"HOME": "/home/ada"}
    monkeypatch.setattr("os.environ", variables)
    monkeypatch.setattr("sys.path", [])
    return variables


def test_a_project_names_its_settings_and_is_importable_by_children(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, environ: dict[str, str]
) -> None:
    (tmp_path / "pyproject.toml").write_text(PROJECT)
    monkeypatch.setattr(cli, "project_folder", lambda: tmp_path)

    cli.use_project(BY_WORDS["serve"])

    assert environ["DJANGO_SETTINGS_MODULE"] == "clinic.settings"
    assert (environ["CE_PROJECT_DIR"], environ["PYTHONPATH"]) == (str(tmp_path), str(tmp_path))
    assert "CE_EXTENSIONS" not in environ


@pytest.mark.parametrize(("words", "level"), [("test", "WARNING"), ("serve", None)])
def test_conversations_in_the_terminal_are_not_mixed_with_the_log(
    words: str, level: str | None, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, environ: dict[str, str]
) -> None:
    (tmp_path / "pyproject.toml").write_text(PROJECT)
    monkeypatch.setattr(cli, "project_folder", lambda: tmp_path)

    cli.use_project(BY_WORDS[words])
    assert environ.get("CE_LOG_LEVEL") == level

    environ["CE_LOG_LEVEL"] = "INFO"
    cli.use_project(BY_WORDS[words])
    assert environ["CE_LOG_LEVEL"] == "INFO"


def test_the_demonstration_inside_of_a_project_has_data_of_its_own_and_uses_nothing_of_the_project(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, environ: dict[str, str]
) -> None:
    (tmp_path / "pyproject.toml").write_text(PROJECT)
    environ |= {"CE_PROJECT_DIR": str(tmp_path), "CE_BROKER_URL": "redis://shop", "CE_EXTENSIONS": "clinic.bot"}
    project_folder.cache_clear()

    cli.use_project(BY_WORDS["demo"])

    assert environ["DJANGO_SETTINGS_MODULE"] == "convengine.settings"
    assert (environ["CE_VAR_DIR"], environ["CE_PROJECT_DIR"]) == (str(tmp_path / "var" / "demo"),) * 2
    assert {environ[name] for name in ("DATABASE_URL", "CE_BROKER_URL", "CE_BUS_URL")} == {""}
    assert environ["CE_EXTENSIONS"].endswith("helpdesk")
    assert (tmp_path / "var" / "demo" / "secret_key").stat().st_mode & 0o777 == 0o600


def test_settings_that_cannot_be_used_give_lines_without_a_traceback(tmp_path: Path) -> None:
    done = run(tmp_path, "check", CE_SECRT_KEY="x", CE_PROJECT_DIR=str(tmp_path))

    assert done.returncode == 1
    assert done.stderr.splitlines() == [
        "Cannot start: CE_SECRET_KEY must be set to a long random string (or CE_DEBUG=true for development).",
        f"There is no project in {tmp_path} or above it. Go to the folder of your project, or make one: "
        "convengine init NAME.",
        "CE_SECRT_KEY is not a known variable. Did you mean CE_SECRET_KEY?",
    ]


def test_settings_that_do_not_exist_are_named(tmp_path: Path) -> None:
    (tmp_path / "pyproject.toml").write_text(PROJECT)
    done = run(tmp_path, "check")

    assert (done.returncode, done.stderr) == (1, "Cannot start: the settings clinic.settings do not exist.\n")


@pytest.mark.long
@pytest.mark.parametrize(
    ("above", "zone"), [("", "Europe/Berlin"), ('os.environ["CE_TIME_ZONE"] = "Asia/Tokyo"', "Asia/Tokyo")]
)
def test_the_settings_of_a_project_read_its_variables_where_they_import_ours(
    above: str, zone: str, tmp_path: Path
) -> None:
    (tmp_path / "pyproject.toml").write_text(PROJECT)
    (tmp_path / ".env").write_text(f"CE_SECRET_KEY={'x' * 50}\nCE_TIME_ZONE=Europe/Berlin\n")
    (tmp_path / "clinic").mkdir()
    (tmp_path / "clinic" / "settings.py").write_text(
        f'import os\nFOUND = os.environ.get("CE_TIME_ZONE", "none")\n{above}\nfrom convengine.settings import *\n'
    )
    show = "from django.conf import settings; print(settings.FOUND, settings.TIME_ZONE)"

    assert run(tmp_path, "manage", "shell", "--no-imports", "-c", show).stdout == f"none {zone}\n"


@pytest.mark.long
def test_an_error_of_a_command_begins_with_what_was_typed(tmp_path: Path) -> None:
    done = run(tmp_path, "import", "rows.yaml", CE_SECRET_KEY="x" * 50)

    assert done.returncode == 1
    assert done.stderr == "convengine import: rows.yaml: cannot be read: No such file or directory.\n"


def test_the_help_of_a_command_needs_no_project_and_shows_only_our_options(tmp_path: Path) -> None:
    done = run(tmp_path, "import", "--help")

    assert (done.returncode, done.stderr) == (0, "")
    assert "--merge" in done.stdout
    assert "--pythonpath" not in done.stdout


@pytest.mark.long
def test_a_command_on_sqlite_begins_without_warnings_of_django(tmp_path: Path) -> None:
    done = run(tmp_path, "manage", "check", CE_SECRET_KEY="x" * 50)

    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.startswith("System check identified no issues")


def test_the_version_names_its_commit_and_needs_no_settings(tmp_path: Path) -> None:
    commit = subprocess.run(
        ["git", "rev-parse", "--short=12", "HEAD"], cwd=ROOT, capture_output=True, text=True, check=True
    ).stdout

    assert run(tmp_path, "--version").stdout == f"convengine {__version__} (commit {commit.strip()})\n"


@pytest.mark.long
def test_a_database_without_tables_gives_a_line_that_says_what_to_do(tmp_path: Path) -> None:
    done = run(tmp_path, "check", CE_SECRET_KEY="x" * 50, CE_PROJECT_DIR=str(tmp_path))

    assert done.returncode == 1
    assert done.stderr == "The database has no tables of this version yet. Run `convengine manage migrate`.\n"


@pytest.mark.parametrize(
    ("given", "usage"),
    [
        (["test"], "usage: convengine test "),
        (["key", "create"], "usage: convengine key create "),
        (["manage", "migrate"], "usage: convengine manage migrate "),
    ],
)
def test_the_help_of_a_command_shows_what_was_typed(
    given: list[str], usage: str, capsys: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(cli, "use_project", lambda command=None: Path())

    with pytest.raises(SystemExit):
        cli.main([*given, "--help"])
    assert capsys.readouterr().out.startswith(usage)


@pytest.mark.parametrize(
    ("command", "variables"),
    [
        (["check"], {}),
        pytest.param(["doctor"], {"CE_SECRET_KEY": "x" * 50}, marks=pytest.mark.long),
        pytest.param(["manage", "check"], {"CE_SECRET_KEY": "x" * 50}, marks=pytest.mark.long),
        pytest.param(["serve"], {"CE_SECRET_KEY": "x" * 50, "CE_TIME_ZONE": "Europe/Berln"}, marks=pytest.mark.long),
    ],
)
def test_a_command_outside_of_a_project_leaves_no_folder(
    tmp_path: Path, command: list[str], variables: dict[str, str]
) -> None:
    done = run(tmp_path, *command, **variables)

    assert "Traceback" not in done.stderr
    assert list(tmp_path.iterdir()) == []


@pytest.mark.long
@pytest.mark.parametrize("unbuffered", ["", "1"])
def test_a_command_ends_quietly_when_nobody_reads_its_output(tmp_path: Path, unbuffered: str) -> None:
    kept = {name: value for name, value in os.environ.items() if not name.startswith(("CE_", "DJANGO_", "DATABASE_"))}
    given = {"PYTHONPATH": str(ROOT), "CE_DEBUG": "true", "CE_VAR_DIR": str(tmp_path), "PYTHONUNBUFFERED": unbuffered}
    command = [sys.executable, "-m", "convengine", "manage", "help"]
    with subprocess.Popen(
        command, cwd=tmp_path, env={**kept, **given}, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    ) as process:
        assert process.stdout
        assert process.stderr
        process.stdout.close()
        assert process.stderr.read() == ""
    assert process.returncode == 0


def test_a_command_that_fails_says_so_when_nobody_reads_its_output(
    monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    def fail(utility: ManagementUtility) -> None:
        print("begun")
        raise ImproperlyConfigured("no secret")

    monkeypatch.setattr(ManagementUtility, "execute", fail)
    read, write = os.pipe()
    os.close(read)
    with open(write, "w") as closed:
        monkeypatch.setattr(sys, "stdout", closed)

        assert cli.run_management(["check"]) == 1

    assert "Cannot start: no secret" in capfd.readouterr().err


def test_another_django_project_gets_near_names_of_management_commands_and_their_list(capsys: Any) -> None:
    assert cli.run_in_django_project(["help"]) == 0
    assert " audit_verify, " in capsys.readouterr().out

    assert cli.run_in_django_project(["audit_verfy"]) == 2
    assert "Did you mean audit_verify?" in capsys.readouterr().err


@pytest.fixture
def checkout(tmp_path: Path) -> Path:
    """A checkout in which `make` has written the command, and nothing is installed but what the product needs."""
    bin_folder = tmp_path / "checkout/.venv/bin"
    bin_folder.mkdir(parents=True)
    (bin_folder / "python").symlink_to(sys.executable)
    shutil.copy2(Path(sys.prefix) / "pyvenv.cfg", bin_folder.parent)
    (bin_folder.parent / "lib").symlink_to(Path(sys.prefix) / "lib")
    for name in ("convengine", "Makefile"):
        (tmp_path / "checkout" / name).symlink_to(ROOT / name)
    subprocess.run(["make", "--silent", ".venv/bin/convengine"], cwd=tmp_path / "checkout", check=True)
    return tmp_path / "checkout"


@pytest.mark.parametrize("folder", ["checkout", "checkout/.venv/bin", "elsewhere"])
def test_the_command_of_a_checkout_runs_in_every_folder(folder: str, checkout: Path, tmp_path: Path) -> None:
    (tmp_path / folder).mkdir(exist_ok=True)
    command = [f"./{os.path.relpath(checkout / '.venv/bin/convengine', tmp_path / folder)}", "--version"]

    variables = environment(PYTHONPATH="")
    done = subprocess.run(command, cwd=tmp_path / folder, env=variables, capture_output=True, text=True, check=False)

    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.startswith("convengine ")


def test_the_command_of_a_checkout_leaves_what_the_shell_lets_it_import(checkout: Path, tmp_path: Path) -> None:
    (tmp_path / "words.py").write_text("WORD = 'clinic'\n")
    (tmp_path / "pyproject.toml").write_text('[tool.convengine]\nsettings = "own_settings"\n')
    (tmp_path / "own_settings.py").write_text("from words import WORD\nraise SystemExit(f'{WORD} was read')\n")
    variables = environment(PYTHONPATH=str(tmp_path), PATH=f"{checkout / '.venv/bin'}:{os.environ['PATH']}")

    done = subprocess.run(
        ["convengine", "manage", "check"], cwd=tmp_path, env=variables, capture_output=True, text=True, check=False
    )

    assert done.stderr == "clinic was read\n"


@pytest.mark.parametrize(
    ("variables", "expected"),
    [
        ({}, "['fixtures.demo.helpdesk']"),
        ({"CE_EXTENSIONS": "json"}, "['json']"),
        ({"CE_EXTENSIONS": ""}, "[]"),
        ({"DATABASE_URL": "sqlite:///other.sqlite3"}, "[]"),
        ({"DATABASE_URL": "sqlite:///{folder}/convengine.sqlite3"}, "['fixtures.demo.helpdesk']"),
        ({"CE_VAR_DIR": "{folder}/other"}, "[]"),
    ],
)
def test_every_command_on_the_database_of_the_demonstration_loads_its_code(
    variables: dict[str, str], expected: str, tmp_path: Path
) -> None:
    (tmp_path / "demo.json").write_text("{}")
    given = {"CE_SECRET_KEY": "x" * 50, "CE_VAR_DIR": str(tmp_path)}
    given |= {name: value.format(folder=tmp_path) for name, value in variables.items()}
    code = "from convengine.settings import CONVENGINE; print(CONVENGINE['EXTENSIONS'])"
    kept = {name: value for name, value in os.environ.items() if not name.startswith(("CE_", "DJANGO_", "DATABASE_"))}

    done = subprocess.run(
        [sys.executable, "-c", code], cwd=ROOT, env={**kept, **given}, capture_output=True, text=True, check=True
    )

    assert done.stdout == f"{expected}\n"
