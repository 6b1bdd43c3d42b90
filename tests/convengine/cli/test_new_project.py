import importlib
import json
import os
import re
import stat
import subprocess
import sys
from importlib.metadata import PackageNotFoundError
from pathlib import Path
from types import SimpleNamespace

import pytest
import yaml
from django.core.management import call_command

import convengine
from config_admin.transfer.apply_import import add_rows
from config_admin.transfer.files import export_configuration
from convengine.cli import new_project
from convengine.cli.new_project import ProjectRefused, init, make_project
from convengine.server import wiring
from convengine.server.deployment.folders import find_shipped
from convengine.server.extensions import registry as registered
from convengine.server.extensions.registry import Registry

TEMPLATE = find_shipped("fixtures") / "project"


def test_a_project_has_its_name_in_its_code_and_not_in_what_it_says(tmp_path: Path) -> None:
    files = make_project("night-school", tmp_path / "night-school")
    texts = {file.relative_to(tmp_path / "night-school").as_posix(): file.read_text() for file in files}

    assert 'settings = "night_school.settings"' in texts["pyproject.toml"]
    assert 'name = "night-school"' in texts["pyproject.toml"]
    assert '"night_school.appointments"' in texts["night_school/settings.py"]
    assert texts["configuration.yaml"] == (TEMPLATE / "configuration.yaml").read_text()
    left = {name for name, text in texts.items() if "clinic" in text}
    assert {name.partition("/")[0] for name in left} == {"configuration.yaml", "flows"}


@pytest.mark.parametrize("name", ["my-clinic", "clinic-2", "clinic-project", "clinical"])
def test_a_name_that_contains_that_of_the_template_is_written_once(name: str, tmp_path: Path) -> None:
    make_project(name, tmp_path / "project")
    package = name.replace("-", "_")

    assert f'name = "{name}"' in (tmp_path / "project/pyproject.toml").read_text()
    assert f'settings = "{package}.settings"' in (tmp_path / "project/pyproject.toml").read_text()
    assert (tmp_path / "project/README.md").read_text().startswith(f"# {name}\n")


@pytest.mark.parametrize("variable", ["CE_SECRET_KEY", "DATABASE_PASSWORD"])
def test_secrets_are_made_and_only_the_owner_reads_them(variable: str, tmp_path: Path) -> None:
    make_project("school", tmp_path / "one")
    make_project("school", tmp_path / "two")
    secrets = [
        re.findall(f"^{variable}=(.*)$", (tmp_path / name / ".env").read_text(), re.M) for name in ("one", "two")
    ]

    assert all(len(secret) == 1 and len(secret[0]) > 40 for secret in secrets)
    assert f"\n{variable}=\n" in (tmp_path / "one" / ".env.example").read_text()
    assert secrets[0] != secrets[1]
    assert stat.S_IMODE((tmp_path / "one" / ".env").stat().st_mode) == 0o600
    assert ".env" in (tmp_path / "one" / ".gitignore").read_text().split()


def test_a_project_has_a_page_with_the_chat(tmp_path: Path) -> None:
    for empty in (True, False):
        make_project("school", tmp_path / str(empty), empty=empty)

        assert "/chat.js" in (tmp_path / str(empty) / "page/index.html").read_text()
        assert "CE_CHAT=true" in (tmp_path / str(empty) / ".env").read_text()


@pytest.mark.parametrize(("options", "port"), [([], 8000), (["PORT=8123"], 8123), (["PORT=80"], 80)])
def test_the_page_with_the_chat_names_the_port_of_the_server(options: list[str], port: int, tmp_path: Path) -> None:
    make_project("school", tmp_path / "school")
    (tmp_path / "school/page/shop.css").write_text("body {}")
    (tmp_path / "python3").write_text("#!/bin/sh\n")
    (tmp_path / "python3").chmod(0o755)
    environment = {**os.environ, "PATH": f"{tmp_path}:{os.environ['PATH']}"}

    for _ in range(2):
        subprocess.run(["make", "--silent", "page", *options], cwd=tmp_path / "school", env=environment, check=True)

    shown = tmp_path / "school/var/page"
    assert f'src="http://127.0.0.1:{port}/chat.js"' in (shown / "index.html").read_text()
    assert sorted(file.name for file in shown.iterdir()) == ["index.html", "shop.css"]


@pytest.mark.parametrize("empty", [True, False])
def test_a_project_says_which_language_its_users_have(empty: bool, tmp_path: Path) -> None:
    make_project("school", tmp_path / "school", empty=empty)
    tables = yaml.safe_load((tmp_path / "school/configuration.yaml").read_text())["tables"]
    settings = {f"{row['config_type']}/{row['config_key']}": row["config_value"] for row in tables["ce_config"]}

    assert settings["Session/LOCALE"] == "en"


@pytest.mark.parametrize("empty", [True, False])
def test_no_file_of_a_project_speaks_of_how_it_was_made(empty: bool, tmp_path: Path) -> None:
    files = make_project("school", tmp_path / "school", empty=empty)
    comments = [line for file in files for line in re.findall(r"(?:#|<!--) .*", file.read_text())]

    assert [line for line in comments if re.search(r"~=0\.0\b|wrote one|template|fixtures/", line)] == []
    assert [line for line in comments if f'"convengine[production]~={convengine.__version__}"' in line]


def test_a_folder_with_files_is_refused_and_left_alone(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "school").mkdir()
    (tmp_path / "school" / "thesis.txt").write_text("mine")

    assert init(["school", "--folder", str(tmp_path / "school")]) == 1
    assert "exists and is not empty" in capsys.readouterr().err
    assert [file.name for file in (tmp_path / "school").iterdir()] == ["thesis.txt"]


def test_a_folder_that_cannot_be_made_is_reported_without_a_traceback(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "file").write_text("mine")

    assert init(["school", "--folder", str(tmp_path / "file" / "school")]) == 1
    assert "No project was made: [Errno" in capsys.readouterr().err


def test_an_empty_folder_is_filled(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "school").mkdir()

    assert init(["school", "--folder", str(tmp_path / "school")]) == 0
    assert "make test" in capsys.readouterr().out


@pytest.mark.parametrize("name", ["1st", "class", "json", "django", "tests", "flows", "../up", "é", "my bot", "bot-"])
def test_a_name_that_no_package_can_have_is_refused(name: str, tmp_path: Path) -> None:
    with pytest.raises(ProjectRefused):
        make_project(name, tmp_path / "project")

    assert not (tmp_path / "project").exists()


@pytest.mark.django_db
def test_the_configuration_is_what_its_flows_make_with_the_greeting(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.syspath_prepend(str(TEMPLATE))
    registry = Registry()
    for module in (registered, wiring):
        monkeypatch.setattr(module, "registry", registry)
    stored = yaml.safe_load((TEMPLATE / "configuration.yaml").read_text())["tables"]
    monkeypatch.setattr("config_admin.validation.installation.registry", wiring.registry)
    monkeypatch.delitem(sys.modules, "clinic.appointments", raising=False)
    importlib.import_module("clinic.appointments")
    add_rows({"ce_mcp_tool": stored["ce_mcp_tool"]}, author="ada", reason="The tool")
    for file in sorted((TEMPLATE / "flows").glob("*.json")):
        call_command("start_flow", str(file), verbosity=0)
    made = yaml.safe_load(export_configuration(None, tables=[], form="yaml"))["tables"]

    for table in ("ce_output_schema", "ce_tool", "ce_mcp_tool"):
        assert _contents(made[table]) == _contents(stored[table])
    assert _contents(made["ce_rule"]) == _contents(stored["ce_rule"])


def _contents(rows: list[dict[str, object]]) -> list[str]:
    return sorted(json.dumps({key: value for key, value in row.items() if not key.endswith("_id")}) for row in rows)


def test_an_empty_project_has_the_frame_and_nothing_of_the_example(tmp_path: Path) -> None:
    assert init(["night-school", "--empty", "--folder", str(tmp_path / "school")]) == 0
    files = {file.relative_to(tmp_path / "school").as_posix() for file in (tmp_path / "school").rglob("*")}
    settings = (tmp_path / "school" / "night_school" / "settings.py").read_text()

    assert {"Makefile", "Dockerfile", ".env", ".github/workflows/test.yml", "configuration.yaml"} <= files
    assert "scenarios/1-nobody-understood.yaml" in files
    assert not {file for file in files if "appointment" in file or file.startswith("flows")}
    assert '"night_school.extensions"' in settings
    assert "appointment" not in (tmp_path / "school" / "README.md").read_text()


def test_a_project_pins_its_engine_and_locks_what_is_installed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    installed = {
        "convengine": ("0.9.1", ["Django<6,>=5.2", "psycopg[binary]>=3", "tzdata"]),
        "django": ("5.2.9", ["asgiref>=3.8", "argon2-cffi>=23; extra == 'argon2'"]),
        "asgiref": ("3.9.1", None),
        "psycopg": ("3.3.1", ["psycopg-binary==3.3.1; implementation_name != 'pypy' and extra == 'binary'"]),
        "psycopg-binary": ("3.3.1", ["psycopg"]),
        "flask": ("3.1", None),
    }

    def read_distribution(name: str) -> SimpleNamespace:
        if name not in installed:
            raise PackageNotFoundError(name)
        version, requires = installed[name]
        return SimpleNamespace(version=version, requires=requires)

    monkeypatch.setattr(new_project, "distribution", read_distribution)
    monkeypatch.setattr(new_project, "__version__", "0.9.1")
    make_project("school", tmp_path / "school")
    lock = (tmp_path / "school" / "requirements.lock").read_text()

    assert 'dependencies = ["convengine~=0.9.1"]' in (tmp_path / "school" / "pyproject.toml").read_text()
    assert [line for line in lock.splitlines() if not line.startswith("#")] == [
        "asgiref==3.9.1", "convengine==0.9.1", "django==5.2.9", "psycopg==3.3.1", "psycopg-binary==3.3.1",
    ]  # fmt: skip


def test_a_project_that_is_made_in_a_checkout_locks_what_the_checkout_needs(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def read_distribution(name: str) -> SimpleNamespace:
        if name == "convengine":
            raise PackageNotFoundError(name)
        return SimpleNamespace(version="1.0", requires=["asgiref"] if name == "django" else [])

    monkeypatch.setattr(new_project, "distribution", read_distribution)
    make_project("school", tmp_path / "school")
    lock = (tmp_path / "school" / "requirements.lock").read_text().splitlines()

    assert f"convengine=={convengine.__version__}" in lock
    assert {"django==1.0", "psycopg==1.0", "asgiref==1.0", "tzdata==1.0"} <= set(lock)


@pytest.mark.parametrize("options", [[], ["--empty"]])
def test_the_code_of_a_project_passes_its_own_linter_and_types(tmp_path: Path, options: list[str]) -> None:
    init(["the-night-school-of-the-town", *options, "--folder", str(tmp_path / "school")])
    types = "mypy --cache-dir /dev/null --follow-imports silent ."
    # The tests of the product do not install the package.
    environment = {**os.environ, "MYPYPATH": str(Path(convengine.__file__).parents[1])}

    for program, *arguments in map(str.split, ("ruff format --check --no-cache .", "ruff check --no-cache .", types)):
        command = [Path(sys.executable).parent / program, *arguments]
        done = subprocess.run(
            command, cwd=tmp_path / "school", env=environment, capture_output=True, text=True, check=False
        )
        assert done.returncode == 0, done.stdout


def test_the_image_of_a_project_installs_the_lock_before_it_copies_the_code() -> None:
    dockerfile = (TEMPLATE / "Dockerfile").read_text()

    assert dockerfile.index("pip install --no-cache-dir -r requirements.lock") < dockerfile.index("COPY clinic")
