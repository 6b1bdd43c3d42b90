"""`manage.py test_cases` in a pipeline: reports, exit codes, files."""

import json
from pathlib import Path
from xml.etree import ElementTree as Xml

import pytest
from django.core.management import CommandError, call_command

from config_admin.drafts.models import CeDraft
from config_admin.test_cases.models import CeTestCase, CeTestRun
from tests.config_admin.test_cases.builders import make_test
from tests.worlds import create_help_desk

pytestmark = pytest.mark.django_db


@pytest.fixture(autouse=True)
def desk() -> None:
    create_help_desk()


def test_a_run_reports_as_json_and_junit_and_fails_with_1(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    make_test(tags=("smoke",))
    make_test("Fees", {"user": "fees", "expect": {"intent": "HOURS"}})
    report = tmp_path / "reports" / "junit.xml"
    call_command("test_cases", "run", "--tag", "Smoke", "--json")
    assert json.loads(capsys.readouterr().out)["passed"] == 1
    with pytest.raises(SystemExit) as ended:
        call_command("test_cases", "run", "--configuration", "live", "--junit", str(report), "--json")
    document = json.loads(capsys.readouterr().out)
    assert (ended.value.code, document["failed"], document["status"]) == (1, 1, "DONE")
    assert document["scenarios"][1]["failures"][0]["got"] == "FEES"
    suite = Xml.parse(report).getroot()
    assert (suite.get("tests"), suite.get("failures")) == ("2", "1")
    assert CeTestRun.objects.count() == 2


@pytest.mark.parametrize(
    "arguments", [["--configuration", "draft:99"], ["--tag", "none"], ["--configuration", "x"], ["--draft", "Nobody's"]]
)
def test_what_cannot_run_ends_with_2(arguments: list[str]) -> None:
    make_test()
    with pytest.raises(CommandError) as refused:
        call_command("test_cases", "run", *arguments)
    assert refused.value.returncode == 2


def test_the_scenarios_of_a_project_are_tests_without_their_configuration(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    turns = "turns: [{user: opening hours, expect: {intent: HOURS}}]"
    (tmp_path / "hours.yaml").write_text(f"id: hours\ntitle: Hours\nconfiguration: ../configuration.yaml\n{turns}")
    call_command("test_cases", "import", str(tmp_path))

    assert "1 added, 0 changed. 1 named a configuration file, which was left out" in capsys.readouterr().out
    assert "configuration" not in CeTestCase.objects.get(name="hours").document


def test_an_unchanged_file_changes_nothing(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = tmp_path / "hours.yaml"
    file.write_text("id: hours\ntitle: Hours\ncovers: [b, a]\nwhy: Asked daily\nturns: [{user: hours, at: 0s}]")
    call_command("test_cases", "import", str(tmp_path))
    before = CeTestCase.objects.values().get()
    capsys.readouterr()

    call_command("test_cases", "import", str(tmp_path))
    assert capsys.readouterr().out == "Nothing changed\n"
    assert CeTestCase.objects.values().get() == before

    file.write_text(file.read_text().replace("[b, a]", "[a]"))
    call_command("test_cases", "import", str(tmp_path))
    assert capsys.readouterr().out == "0 added, 1 changed\n"
    assert CeTestCase.objects.get().changed_at > before["changed_at"]


def test_a_draft_is_named_by_its_title(capsys: pytest.CaptureFixture[str]) -> None:
    make_test()
    draft = CeDraft.objects.create(title="Holidays", created_by="ada")
    call_command("test_cases", "run", "--draft", "Holidays", "--json")
    assert json.loads(capsys.readouterr().out)["configuration"] == f"draft:{draft.pk}"


def test_tests_go_to_files_and_back(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    make_test("Hours", tags=("smoke",), folder="desk")
    make_test("Fees")
    before = sorted(CeTestCase.objects.values_list("name", "folder", "document_hash"))
    call_command("test_cases", "export", str(tmp_path))
    CeTestCase.objects.all().delete()
    call_command("test_cases", "import", str(tmp_path))
    assert sorted(CeTestCase.objects.values_list("name", "folder", "document_hash")) == before
    call_command("test_cases", "list", "--tag", "smoke")
    assert "hours: Hours [smoke] desk" in capsys.readouterr().out
    (tmp_path / "bad.yaml").write_text("id: bad\ntitle: A\nturns: [{user: x, before: [{delete: ce_rule, where: {}}]}]")
    with pytest.raises(SystemExit):
        call_command("test_cases", "import", str(tmp_path), "--json")
    assert "Run it with: convengine test." in capsys.readouterr().out
