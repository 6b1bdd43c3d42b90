import json
from io import StringIO
from pathlib import Path
from typing import Any

import pytest
import yaml
from django.core.management import call_command
from django.core.management.base import CommandError

from config_admin.models import CeIntent

pytestmark = pytest.mark.django_db(transaction=True)

RESPONSE = {"intent_code": "UNKNOWN", "state_code": "UNKNOWN", "response_type": "EXACT", "exact_text": "Sorry?"}


def write(folder: Path, name: str, expect: dict[str, Any], **values: Any) -> None:
    world = {"id": name, "title": name, "tables": {"ce_response": [RESPONSE]}, **values}
    (folder / f"{name}.yaml").write_text(yaml.safe_dump({**world, "turns": [{"user": "hi", "expect": expect}]}))


@pytest.fixture
def worlds(tmp_path: Path) -> Path:
    write(tmp_path, "good", {"response": {"equals": "Sorry?"}})
    write(tmp_path, "wrong", {"response": {"equals": "Hello."}, "state": "X"})
    write(tmp_path, "later", {}, requires=["time_travel"])
    return tmp_path


def run_command(*arguments: Any, **options: Any) -> tuple[str, int]:
    out = StringIO()
    try:
        call_command("scenarios", *map(str, arguments), stdout=out, **options)
    except SystemExit as end:
        return out.getvalue(), int(end.code or 0)
    return out.getvalue(), 0


def test_a_line_a_scenario_then_the_totals_and_the_status_says_whether_any_failed(worlds: Path) -> None:
    CeIntent.objects.create(intent_code="MINE")

    text, status = run_command(worlds)

    lines = text.splitlines()
    assert [line for line in lines if not line.startswith(" ")] == [
        "passed  good",
        "skipped later: requires time_travel",
        'failed  wrong: turn 1, expect.state: expected "X", got "UNKNOWN" (and 1 more)',
        "1 passed, 1 failed, 1 skipped",
    ]
    # Below a failure: the others, and what happened in the turn and why.
    assert lines[3].strip() == 'also turn 1, expect.response.equals: expected "Hello.", got "Sorry?"'
    assert any("The user wrote “hi”." in line for line in lines)
    assert status == 1
    assert CeIntent.objects.filter(intent_code="MINE").exists()


def test_only_the_chosen_ones_are_played(worlds: Path) -> None:
    assert run_command(worlds, only=["good", "later"], replay=True) == (
        "passed  good\nskipped later: requires time_travel\n1 passed, 0 failed, 1 skipped\n",
        0,
    )


def test_json_is_one_document_with_every_failure(worlds: Path) -> None:
    text, status = run_command(worlds, json=True)

    document = json.loads(text)
    assert status == 1
    assert (document["passed"], document["failed"], document["skipped"]) == (1, 1, 1)
    wrong = document["scenarios"][2]
    assert wrong["failures"] == [
        {"turn": 1, "where": "expect.state", "expected": "X", "got": "UNKNOWN"},
        {"turn": 1, "where": "expect.response.equals", "expected": "Hello.", "got": "Sorry?"},
    ]


def test_a_report_that_cannot_be_written_is_named(worlds: Path) -> None:
    with pytest.raises(CommandError, match=r"good\.yaml.report\.xml cannot be written: File exists"):
        run_command(worlds, only=["good"], junit=worlds / "good.yaml" / "report.xml")


def test_without_a_model_nothing_can_be_recorded(worlds: Path) -> None:
    with pytest.raises(CommandError, match="No model is configured"):
        run_command(worlds, record=True)


def test_a_configuration_that_is_not_there_is_named(worlds: Path) -> None:
    with pytest.raises(CommandError, match=r"gone\.yaml does not exist"):
        run_command(worlds, configuration="gone.yaml")


@pytest.mark.parametrize(
    ("arguments", "only", "problem"),
    [
        (["nowhere"], [], "nowhere does not exist"),
        (["."], ["nobody"], "The scenario nobody does not exist in"),
        (["empty"], [], "contains no scenario"),
    ],
)
def test_what_leads_nowhere_is_said(
    tmp_path: Path, arguments: list[str], only: list[str], problem: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "empty").mkdir()

    with pytest.raises(CommandError, match=problem):
        run_command(*arguments, only=only)
