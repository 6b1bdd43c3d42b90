"""A release is blamed only for messages that go wrong on it and did not before."""

from unittest.mock import Mock

import pytest
from django.db import OperationalError, connection

from audit.record.milestones import has_stage
from audit.reports import cause
from audit.reports.cause import (
    FEWEST_KNOWN,
    CauseEvidence,
    PlayedResult,
    find_bad_turns,
    find_moved_turns,
    select_turns,
)
from audit.reports.effect import ReleaseComparison, ReleaseGroup
from audit.reports.measures import FAILED, FORMS_COMPLETED, HANDED_OVER, NOT_UNDERSTOOD_TURNS, TASK_FAILED, Measure
from audit.reports.report import Totals
from config_admin.models import CeIntentClassifier, CeResponse
from config_admin.releases.change_set import change_set
from convengine.engine.turn.turn import TurnRequest
from convengine.server.interfaces.configuration import configuration
from convengine.server.interfaces.turn_reports import RateVerdict
from convengine.server.sessions.models import CeConversation, CeConversationHistory
from convengine.server.turns.take_turn import take_turn
from tests.worlds import create_help_desk

pytestmark = [pytest.mark.django_db, pytest.mark.dialects, pytest.mark.usefixtures("changeable_turns")]


@pytest.fixture(autouse=True)
def help_desk() -> None:
    create_help_desk()


def talk(text: str, times: int = 10) -> None:
    for _ in range(times):
        take_turn(TurnRequest(str(CeConversation().conversation_id), text))


def drop_phrase() -> int:
    """A release without the phrase of FEES; the number of the release before it."""
    before = configuration().current().config_version
    with change_set(reason="fewer phrases"):
        CeIntentClassifier.objects.get(intent_code="FEES").delete()
    return before


def change_answer(intent: str) -> int:
    """A release with another answer; the number of the release before it."""
    before = configuration().current().config_version
    with change_set(reason="softer words"):
        answer = CeResponse.objects.exclude(state_code="VIP").get(intent_code=intent)
        answer.exact_text = "Softer words."
        answer.save()
    return before


def judge(before: int) -> tuple[RateVerdict, str]:
    """Three of 40 messages were not understood before, and ten of 40 on the release."""
    groups = []
    for number, missed in ((before, 3), (before + 1, 20)):
        totals = Totals()
        totals.add("TURN", "OK", 40)
        totals.add("STAGE", "NOT_UNDERSTOOD", missed)
        groups.append(ReleaseGroup(number, number, totals))
    rate = ReleaseComparison(groups[1], groups[0]).judge(NOT_UNDERSTOOD_TURNS)
    return rate.verdict, rate.cause


def test_a_release_that_took_a_phrase_away_is_to_blame() -> None:
    before = drop_phrase()
    talk("fees")
    talk("gift vouchers", 4)
    verdict, reason = judge(before)
    assert verdict is RateVerdict.WORSE
    assert reason == f"Of 14 such messages, 10 go wrong on release {before + 1} but not before it."


@pytest.mark.parametrize("intent", ["HOURS", "UNKNOWN"])
def test_a_release_after_which_users_ask_something_else_is_not(intent: str) -> None:
    """Not even one that says in other words that it does not understand."""
    before = change_answer(intent)
    talk("gift vouchers")
    verdict, reason = judge(before)
    assert verdict is RateVerdict.NOT_CAUSED
    assert reason == f"Of 10 such messages, none go wrong on release {before + 1} but not before it."


@pytest.mark.parametrize("turns", [0, FEWEST_KNOWN - 1, 10])
def test_nobody_is_blamed_where_nothing_can_be_known(turns: int) -> None:
    before = drop_phrase()
    talk("fees", turns)
    if turns == 10:
        CeConversationHistory.objects.update(replayable=False)
    verdict, reason = judge(before)
    assert verdict is RateVerdict.CAUSE_UNKNOWN
    assert "cannot be known" in reason


def test_a_release_before_the_first_one_is_not_known() -> None:
    talk("gift vouchers")
    first = configuration().current().config_version
    assert find_bad_turns(NOT_UNDERSTOOD_TURNS, -5, first) == CauseEvidence(10)


def test_messages_that_have_another_intent_moved() -> None:
    before = configuration().current().config_version
    with change_set(reason="other phrases"):
        CeIntentClassifier.objects.filter(intent_code="FEES").update(pattern="what does it cost")
        CeIntentClassifier.objects.filter(intent_code="HOURS").update(pattern="fees")
    talk("fees")
    assert find_moved_turns(["HOURS"], before + 1, before + 1) == CauseEvidence(10, 10, 10)


GOOD = PlayedResult("FEES", "IDLE", is_failed=False, stages=frozenset({"USER_INPUT"}))


@pytest.mark.parametrize(
    ("measure", "bad"),
    [
        (NOT_UNDERSTOOD_TURNS, GOOD._replace(stages=frozenset({"NOT_UNDERSTOOD"}))),
        (HANDED_OVER, GOOD._replace(state="HAND_OVER")),
        (TASK_FAILED, GOOD._replace(stages=frozenset({"PENDING_ACTION_FAILED"}))),
        (TASK_FAILED, GOOD._replace(stages=frozenset({"MCP_TOOL_ERROR"}))),
        (FORMS_COMPLETED, GOOD._replace(stages=frozenset({"FORM_LEFT"}))),
        (FAILED, GOOD._replace(is_failed=True)),
    ],
)
def test_what_goes_wrong_on_both_releases_or_only_before_is_not_caused(
    measure: Measure, bad: PlayedResult, monkeypatch: pytest.MonkeyPatch
) -> None:
    results: dict[int, list[PlayedResult | None]] = {
        0: [GOOD, bad, GOOD, bad, None, GOOD],
        1: [bad, bad, GOOD, GOOD, bad, bad],
    }
    monkeypatch.setattr(cause, "select_turns", lambda *about: range(6))
    monkeypatch.setattr(cause, "_run_again", lambda key, release: results[release][key])
    assert find_bad_turns(measure, 1, 1) == CauseEvidence(6, 5, 2)


def test_a_new_turn_is_the_only_one_that_runs_again(monkeypatch: pytest.MonkeyPatch) -> None:
    before = drop_phrase()
    ran = Mock(wraps=cause._play)
    monkeypatch.setattr(cause, "_play", ran)
    talk("fees", 6)
    assert find_bad_turns(NOT_UNDERSTOOD_TURNS, before + 1, before + 1) == CauseEvidence(6, 6, 6)
    assert ran.call_count == 12
    talk("fees", 1)
    assert find_bad_turns(NOT_UNDERSTOOD_TURNS, before + 1, before + 1) == CauseEvidence(7, 7, 7)
    assert ran.call_count == 14


def test_a_turn_that_cannot_run_for_any_reason_is_unknown(monkeypatch: pytest.MonkeyPatch) -> None:
    before = drop_phrase()
    talk("fees", 6)

    def fail(*about: object) -> None:
        raise ZeroDivisionError("a fault of an extension")

    monkeypatch.setattr(cause, "play_elsewhere", fail)
    assert find_bad_turns(NOT_UNDERSTOOD_TURNS, before + 1, before + 1) == CauseEvidence(6)


@pytest.mark.parametrize("is_open", [True, False])
def test_the_first_turns_on_a_release_are_read_in_the_order_of_an_index(is_open: bool) -> None:
    turns = select_turns(has_stage(["NOT_UNDERSTOOD"]), 2, None if is_open else 2)
    if connection.vendor == "postgresql":
        with connection.cursor() as cursor:
            # Of a small table, all rows are cheaper.
            cursor.execute(
                "SET LOCAL enable_seqscan = off; SET LOCAL enable_sort = off; SET LOCAL enable_bitmapscan = off"
            )
    plan = turns.explain()
    assert "ce_history_release" in plan
    assert "Sort" not in plan
    assert "TEMP B-TREE" not in plan


def test_a_fault_of_the_database_is_not_remembered_as_an_unknown_result(monkeypatch: pytest.MonkeyPatch) -> None:
    talk("fees", 1)
    turn_id, release = CeConversationHistory.objects.get().turn_id, configuration().current().config_version
    with monkeypatch.context() as patched:
        patched.setattr(cause, "_play", Mock(side_effect=OperationalError("the connection is closed")))
        with pytest.raises(OperationalError):
            cause._run_again(turn_id, release)

    played = cause._run_again(turn_id, release)

    assert played is not None
    assert played.intent == "FEES"
