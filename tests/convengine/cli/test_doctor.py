import sys
from pathlib import Path
from typing import Any

import pytest

from config_admin.models import CeIntent, CePendingAction, CeResponse
from convengine.cli import doctor
from convengine.cli.doctor import DoctorFinding, Level
from convengine.engine.pipeline.hooks import StepHook
from convengine.server import wiring
from convengine.server.extensions import registry as registered
from convengine.server.extensions.registry import Registry, TaskEntry
from tests.api import make_key
from tests.convengine.cli.test_main import run
from tests.live.processes import free_port

pytestmark = pytest.mark.django_db


def find(subject: str) -> list[DoctorFinding]:
    return [finding for finding in doctor.examine() if finding.subject == subject]


@pytest.fixture(autouse=True)
def _project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(doctor, "project_folder", lambda: tmp_path)


def test_an_installation_without_anything_is_missing_much_and_nothing_is_wrong(capsys: Any) -> None:
    assert doctor.print_report() == 0

    text = capsys.readouterr().out
    for expected in ("It is empty.", "Nobody can sign in.", "→ convengine key create NAME", "0 wrong, "):
        assert expected in text


def test_what_there_is_is_counted(admin_user: Any) -> None:
    make_key()

    assert [finding.text for finding in find("API keys")] == ["1"]
    assert [finding.level for finding in find("users")] == [Level.FINE]


def test_errors_that_the_check_finds_are_wrong_and_warnings_are_not() -> None:
    CeIntent.objects.create(intent_code="LOAN", description="Wants a loan.")
    CeResponse.objects.create(intent_code="LOAN", state_code="ANY", response_type="EXACT", exact_text="Hello.")
    (fine,) = find("configuration")
    assert (fine.level, fine.text.partition(", ")[2]) == (Level.FINE, "1 intent")

    for task in ("orders", "accounts"):
        CePendingAction.objects.create(
            intent_code="LOAN", state_code="ANY", action_key=task, bean_name=task, method_names="close"
        )
    (wrong,) = find("configuration")
    assert (wrong.level, wrong.text.partition(", ")[2]) == (Level.WRONG, "1 intent, 2 errors")
    assert wrong.remedy.startswith("convengine check")


def test_a_misspelt_variable_is_wrong(monkeypatch: pytest.MonkeyPatch, capsys: Any) -> None:
    monkeypatch.setenv("CE_LLM_MODLE", "x")

    assert doctor.print_report() == 1
    assert "CE_LLM_MODLE is not a known variable. Did you mean CE_LLM_MODEL?" in capsys.readouterr().out


def test_a_broker_that_nobody_serves_is_wrong_and_its_password_is_not_shown(settings: Any) -> None:
    settings.CONVENGINE = {**settings.CONVENGINE, "BROKER_URL": f"redis://:secret@127.0.0.1:{free_port()}/0"}
    (finding,) = find("broker")

    assert (finding.level, "cannot be reached" in finding.text) == (Level.WRONG, True)
    assert "secret" not in finding.text


def test_an_extension_that_cannot_be_imported_is_wrong(settings: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    settings.CONVENGINE = {**settings.CONVENGINE, "EXTENSIONS": ["no.such.module"]}
    monkeypatch.setattr(wiring, "load_extensions", wiring.load_extensions.__wrapped__)

    assert "No module named 'no'" in find("wiring")[0].text


def test_what_extensions_registered_is_listed_by_the_names_that_rows_write(monkeypatch: pytest.MonkeyPatch) -> None:
    installed = Registry()
    monkeypatch.setattr(registered, "registry", installed)
    registered.task("ring")(lambda call: True)
    installed.add_task("till", TaskEntry({"open": len, "close": len}))
    registered.tool("stock.find")(lambda args, session: 7)
    installed.providers[1, 10, None] = len
    installed.hooks.append(StepHook())
    installed.verbose_listeners.append(print)
    installed.memory_stores["redis"] = object()
    for subject, expected in {
        "tasks": "ring, till:close, till:open",
        "tools": "stock.find",
        "containers": "1/10/*",
        "hooks": "StepHook",
        "listeners": "print",
        "memory stores": "redis",
    }.items():
        assert [finding.text for finding in find(subject)] == [expected]
    assert find("HTTP mappers") == []


def test_settings_that_cannot_be_loaded_are_one_finding(tmp_path: Path) -> None:
    done = run(tmp_path, "doctor", CE_PROJECT_DIR=str(tmp_path))

    assert done.returncode == 1
    assert "WRONG    settings       CE_SECRET_KEY must be set" in done.stdout
    assert "1 wrong, 0 missing." in done.stdout


@pytest.mark.parametrize("url", ["redis://:pa/ss@shop", "redis://[shop", f"redis://{'a' * 70}.example"])
def test_an_address_that_cannot_be_read_is_wrong(settings: Any, url: str) -> None:
    settings.CONVENGINE = {**settings.CONVENGINE, "BROKER_URL": url}
    (finding,) = find("broker")

    assert (finding.level, "pa" in finding.text.replace("password", "")) == (Level.WRONG, False)


def test_a_port_that_is_no_number_is_wrong(settings: Any) -> None:
    settings.CONVENGINE = {**settings.CONVENGINE, "BROKER_URL": "redis://:secret@shop.example:637x/0"}
    (finding,) = find("broker")

    assert (finding.level, "shop.example" in finding.text, "secret" in finding.text) == (Level.WRONG, True, False)


@pytest.mark.parametrize(
    ("variables", "expected"),
    [
        ({"CE_VAR_DIR": "/dev/null/var"}, "CE_VAR_DIR: the folder /dev/null/var cannot be made: Not a directory."),
        ({"DJANGO_SETTINGS_MODULE": "broken_settings"}, "SyntaxError: "),
    ],
)
def test_whatever_keeps_django_from_starting_is_one_finding(
    variables: dict[str, str], expected: str, tmp_path: Path
) -> None:
    (tmp_path / "broken_settings.py").write_text("DEBUG =\n")
    done = run(tmp_path, "doctor", CE_SECRET_KEY="x" * 50, CE_PROJECT_DIR=str(tmp_path), **variables)

    assert (done.returncode, done.stderr) == (1, "")
    assert f"WRONG    settings       {expected}" in done.stdout


@pytest.mark.parametrize("file", ["audit/__init__.py", "config_admin/__init__.py", "audit.py"])
def test_a_package_of_the_project_with_the_name_of_ours_is_wrong(file: str, tmp_path: Path) -> None:
    (tmp_path / file).parent.mkdir(exist_ok=True)
    (tmp_path / file).touch()

    (clash,) = doctor.examine_names([*sys.path, str(tmp_path)])

    assert (clash.level, clash.subject) == (Level.WRONG, "packages")
    assert str(tmp_path / file.split("/")[0].removesuffix(".py")) in clash.text
    assert "a service of its own" in clash.remedy


@pytest.mark.parametrize("file", ["audits/__init__.py", "clinic/audit/__init__.py", "audit/readme.md"])
def test_other_names_are_no_clash(file: str, tmp_path: Path) -> None:
    (tmp_path / file).parent.mkdir(parents=True, exist_ok=True)
    (tmp_path / file).touch()

    assert not list(doctor.examine_names([str(tmp_path)]))
