"""What becomes of real conversations and their forms, counted where they began, and listed by the search."""

from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
from django.contrib.auth.models import User
from django.test import Client
from django.utils import timezone

from audit.models import CeCountProgress, CeOutcome, CeTurnCount, CeTurnIndex
from audit.record.days import choose_days
from audit.record.form_steps import FormStep
from audit.reports.counting import count_new_turns
from audit.reports.funnel import read_funnels
from audit.reports.job import count_again
from audit.reports.measures import MEASURES, OUTCOMES, TASK_FAILED
from audit.reports.report import ReportSelection, read_totals
from config_admin.models import CeRule
from config_admin.releases.change_set import change_set
from convengine.engine.turn.turn import TurnRequest
from convengine.server.interfaces.configuration import configuration_files
from convengine.server.sessions.models import CeConversation, CeConversationHistory
from convengine.server.threads.hand_over import answer_as_person
from convengine.server.turns.take_turn import take_turn
from tests.audit.reports.counts import count_listed_turns

pytestmark = [pytest.mark.django_db, pytest.mark.dialects, pytest.mark.usefixtures("changeable_turns")]
BUNDLE = Path(__file__).parents[3] / "fixtures/bicycle_workshop.json"
RENT = "rent a bicycle|3|tomorrow at 10am|2 hours|yes|a@example.com"
TALKS = {
    f"{RENT}|yes|thanks": "RESOLVED",
    "blah blub|what are your opening hours|thanks": "RESOLVED",
    "rent a bicycle|stop|rent a bicycle|2": "OPEN",
    RENT: "OPEN",
    "hi": "OPEN",
    "rent a bicycle|stop|what are your opening hours": "GIVEN_UP",
    "rent a bicycle|2|start over|hi": "GIVEN_UP",
    "sell my bicycle|x|y|z|what are your opening hours": "HANDED_OVER_FAILED",
    "I want to talk to a person|thanks": "HANDED_OVER",
    "blah blub|I want to talk to a person": "HANDED_OVER",
    "sell my bicycle|x|I want to talk to a person": "HANDED_OVER",
    "blah blub|foo bar|quux zyzzy|thanks": "HANDED_OVER_FAILED",
    "what are your opening hours|blah blub": "NOT_UNDERSTOOD",
}


def talk(messages: str) -> str:
    key = str(CeConversation().conversation_id)
    for message in messages.split("|"):
        take_turn(TurnRequest(key, message))
    return key


def count_all() -> None:
    list(count_new_turns(timedelta()))


def read_outcome(key: str) -> str:
    return CeOutcome.objects.get(conversation_id=key, schema_id=CeOutcome.CONVERSATION).outcome


def select_week() -> ReportSelection:
    return ReportSelection(*choose_days(7, timezone.now()))


def count_lists(client: Client, measures: Any) -> dict[str, int]:
    return {each.name: count_listed_turns(client, select_week().search_url(**each.search)) for each in measures}


@pytest.fixture(autouse=True)
def _workshop() -> None:
    configuration_files().import_file(BUNDLE)


@pytest.mark.parametrize("is_counted_each_time", [True, False])
def test_the_outcomes_add_up_and_each_is_a_list(client: Client, is_counted_each_time: bool) -> None:
    client.force_login(User.objects.create_superuser("ada"))
    keys = {}
    for messages, outcome in TALKS.items():
        keys[talk(messages)] = outcome
        if is_counted_each_time:
            count_all()
    count_all()
    assert {key: read_outcome(key) for key in keys} == keys
    totals = read_totals(select_week())
    numbers = {measure.name: int(measure.count(totals)) for measure in OUTCOMES}
    assert sum(numbers.values()) == totals.conversations == len(TALKS)
    assert numbers == count_lists(client, OUTCOMES)
    completed = MEASURES["forms_completed"]
    assert (MEASURES["forms_started"].count(totals), completed.count(totals)) == (8, 1)
    assert count_lists(client, [completed]) == {"forms_completed": 1}


def test_a_form_card_adds_up() -> None:
    for messages in TALKS:
        talk(messages)
    count_all()
    rent, sell = read_funnels(select_week())
    assert rent.started == 6
    assert {str(step): rent.counts.get(step) for step in (FormStep.STARTED, FormStep.FILLED)} == {
        "STARTED": 6, "FILLED": 2
    }  # fmt: skip
    assert {str(outcome): number for outcome, number in rent.counts.outcomes.items() if number} == {
        "COMPLETED": 1, "LEFT": 3, "OPEN": 2
    }  # fmt: skip
    assert [(field.title, field.losses) for field in rent.fields if field.losses] == [
        ("Number of bicycles", 2), ("Start", 2), ("After the last field", 1)
    ]  # fmt: skip
    assert (sell.started, sell.worst_field and sell.worst_field.path) == (2, "frameNumber")


def test_an_outcome_that_changes_is_counted_where_its_conversation_began() -> None:
    key = talk("blah blub")
    CeConversationHistory.objects.update(created_at=timezone.now() - timedelta(days=3))
    count_all()
    take_turn(TurnRequest(key, "what are your opening hours"))
    count_all()
    counts = CeTurnCount.objects.filter(kind="OUTCOME", is_hour=False, turns__gt=0)
    assert [(each.value, each.turns) for each in counts] == [("RESOLVED", 1)]
    assert counts[0].hour < timezone.now() - timedelta(days=2)


def test_stored_turns_are_followed_after_an_upgrade_and_a_recount_changes_nothing() -> None:
    for messages in TALKS:
        talk(messages)
    count_all()
    before = read_totals(select_week()).values
    CeOutcome.objects.all().delete()
    CeTurnCount.objects.filter(kind="OUTCOME").delete()
    CeTurnCount.objects.filter(kind__startswith="FORM_IS_").delete()
    CeCountProgress.objects.filter(pk=CeCountProgress.OUTCOMES).delete()
    count_all()
    assert +read_totals(select_week()).values == +before
    list(count_again())
    assert +read_totals(select_week()).values == +before


def test_a_conversation_that_the_help_desk_took_is_handed_over() -> None:
    key = talk("what are your opening hours")
    answer_as_person(key, "default", "I am Mia. How can I help?", "mia")
    count_all()
    assert read_outcome(key) == "HANDED_OVER"


def test_a_form_whose_session_ended_without_a_turn_was_left() -> None:
    key = talk("rent a bicycle|2")
    CeConversation.objects.update(lifecycle="ABORTED")
    CeConversationHistory._base_manager.create(conversation_id=key, source="ADDITION", config_version=1, turn_id=None)
    count_all()
    assert read_outcome(key) == "GIVEN_UP"
    assert CeOutcome.objects.get(conversation_id=key, schema_id=2).outcome == "LEFT"


@pytest.mark.parametrize(("is_moved_on", "outcome"), [(False, "OPEN"), (True, "GIVEN_UP")])
def test_a_form_whose_task_failed_is_not_completed_and_its_conversation_not_resolved(
    is_moved_on: bool, outcome: str
) -> None:
    with change_set(reason="a task that fails when the reservation is confirmed"):
        rule = CeRule.objects.get(pk=5)
        if is_moved_on:
            rule.pk, rule.priority = None, rule.priority - 1
        rule.action, rule.action_value = "SET_TASK", "booking:book"
        rule.save()
    key = talk(f"{RENT}|yes")
    count_all()
    totals = read_totals(select_week())
    assert TASK_FAILED.count(totals) == 1
    assert read_outcome(key) == outcome
    assert not MEASURES["forms_completed"].count(totals)


@pytest.mark.parametrize(
    ("stage", "role", "number"),
    [
        ("PENDING_ACTION_FAILED", "", 1),
        ("TOOL_ORCHESTRATION_ERROR", "", 1),
        ("MCP_TOOL_ERROR", "", 1),
        ("RULE_ERROR", "SET_TASK", 1),
        ("RULE_ERROR", "", 0),
    ],
)
def test_turns_with_a_failed_task_or_tool_are_counted_and_listed(
    client: Client, stage: str, role: str, number: int
) -> None:
    client.force_login(User.objects.create_superuser("ada"))
    key = talk("what are your opening hours")
    turn = CeConversationHistory.objects.get(conversation_id=key)
    CeTurnIndex.objects.create(turn_id=turn.turn_id, kind="STAGE", value=stage, role=role)
    count_all()
    assert TASK_FAILED.count(read_totals(select_week())) == number
    assert count_lists(client, [TASK_FAILED]) == {"task_failed": number}
    assert read_outcome(key) == ("OPEN" if number else "RESOLVED")
