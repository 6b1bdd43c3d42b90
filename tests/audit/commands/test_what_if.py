"""The command what_if: what it prints, and its exit status."""

import json
from collections.abc import Iterator
from io import StringIO
from typing import Any

import pytest
from django.core.management import call_command
from django.core.management.base import CommandError

from config_admin.drafts.models import CeDraft, CeDraftEdit
from config_admin.models import CeResponse, CeRule
from config_admin.releases.content import content_of
from convengine.server.extensions.registry import TaskEntry, registry
from tests.api import Caller
from tests.worlds import create_help_desk

pytestmark = pytest.mark.django_db


@pytest.fixture
def caller() -> Caller:
    create_help_desk()
    return Caller()


@pytest.fixture
def draft(caller: Caller) -> CeDraft:
    draft = CeDraft.objects.create(title="Dearer")
    row = CeResponse.objects.get(intent_code="FEES")
    before = content_of(row)
    after = {**before, "exact_text": "Ten."}
    CeDraftEdit.objects.create(draft=draft, table_name="ce_response", row_pk=str(row.pk), before=before, after=after)
    return draft


def run(*arguments: str) -> tuple[int, str]:
    """The exit status, and what is printed."""
    out = StringIO()
    try:
        call_command("what_if", *arguments, stdout=out, stderr=StringIO())
    except SystemExit as left:
        return int(str(left.code)), out.getvalue()
    except CommandError as refused:
        return refused.returncode, str(refused)
    return 0, out.getvalue()


def test_it_lists_the_turns_that_differ(caller: Caller, draft: CeDraft) -> None:
    for text in ("hours", "fees"):
        caller.say(text)

    status, text = run("--draft", "Dearer", "--last", "10", "--json")

    answer: dict[str, Any] = json.loads(text)
    assert status == 1
    assert (answer["conversations"], answer["turns"], answer["differing"]) == (1, 2, 1)
    (turn,) = answer["differences"]
    assert (turn["kind"], turn["turnNo"], turn["cause"]["table"]) == ("ANSWER", 2, "ce_response")
    assert (turn["old"]["answer"], turn["new"]["answer"]) == ("No fees.", "Ten.")
    status, text = run("--configuration", f"draft:{draft.pk}")
    assert status == 1
    assert "Draft: Dearer: 1 of 2 turns differ, in 1 conversation." in text
    assert "  - No fees.\n  + Ten." in text


def test_the_status_says_how_it_went(caller: Caller, draft: CeDraft) -> None:
    caller.say("hours")

    assert run("--configuration", "live")[0] == 0
    assert run("--draft", "Dearer", "--intent", "FEES")[0] == 0
    assert run("--configuration", "live", "--compare-with", "recorded")[0] == 0
    for wrong in (
        ["--draft", "Nothing"],
        ["--configuration", "draft:999"],
        ["--configuration", "yesterday"],
        ["--configuration", "live", "--last", "0"],
        ["--configuration", "live", "--since", "tomorrow"],
    ):
        status, text = run(*wrong)
        assert status == 2, text
        assert text


@pytest.fixture
def task() -> Iterator[None]:
    """A task that no recorded turn has called."""
    registry.add_task("unasked", TaskEntry({"run": lambda call: pytest.fail("It was called.")}))
    yield
    del registry.tasks["unasked"]


@pytest.mark.usefixtures("task")
def test_an_open_question_has_a_status_of_its_own(caller: Caller, draft: CeDraft) -> None:
    caller.say("hours")
    rule: Any = {
        "rule_id": 900, "phase": "PRE_RESPONSE_RESOLUTION", "intent_code": "ANY", "state_code": "ANY",
        "rule_type": "EXACT", "match_pattern": "ANY", "action": "SET_TASK", "action_value": "unasked:run",
    }  # fmt: skip
    row = content_of(CeRule(**rule))
    CeDraftEdit.objects.create(draft=draft, table_name="ce_rule", row_pk="900", before=None, after=row)

    status, text = run("--draft", "Dearer", "--json")

    assert (status, json.loads(text)["counts"]) == (3, {"NEEDS_MODEL": 1})
