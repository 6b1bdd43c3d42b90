"""A release is blamed for messages only that come out differently because of it."""

import pytest

from audit.reports import cause
from audit.reports.cause import FEWEST_KNOWN, Evidence, find_bad_turns, find_moved_turns
from audit.reports.effect import ReleaseGroup, judge_effect
from audit.reports.measures import NOT_UNDERSTOOD_TURNS
from audit.reports.report import Totals
from config_admin.models import CeIntentClassifier, CeResponse
from config_admin.releases.change_set import change_set
from convengine.engine.turn.turn import TurnRequest
from convengine.server.interfaces.configuration import configuration
from convengine.server.interfaces.turn_reports import Verdict
from convengine.server.sessions.models import CeConversation, CeConversationHistory
from convengine.server.turns.take_turn import take_turn
from tests.worlds import create_help_desk

pytestmark = [pytest.mark.django_db, pytest.mark.dialects]


@pytest.fixture(autouse=True)
def help_desk() -> None:
    create_help_desk()
    # Tests use the numbers of turns and releases again.
    cause._run_again.cache_clear()


def talk(text: str, times: int = 10) -> None:
    for _ in range(times):
        take_turn(TurnRequest(str(CeConversation().conversation_id), text))


def drop_phrase() -> int:
    """A release without the phrase of FEES; the number of the release before it."""
    before = configuration().current().config_version
    with change_set(reason="fewer phrases"):
        CeIntentClassifier.objects.get(intent_code="FEES").delete()
    return before


def change_answer() -> int:
    """A release with another answer; the number of the release before it."""
    before = configuration().current().config_version
    with change_set(reason="softer words"):
        answer = CeResponse.objects.get(intent_code="HOURS", state_code="IDLE")
        answer.exact_text = "From nine to five."
        answer.save()
    return before


def judge(before: int) -> tuple[Verdict, str]:
    """Three of 40 messages were not understood before, and ten of 40 on the release."""
    groups = []
    for number, missed in ((before, 3), (before + 1, 20)):
        totals = Totals()
        totals.add("TURN", "OK", 40)
        totals.add("STAGE", "NOT_UNDERSTOOD", missed)
        groups.append(ReleaseGroup(number, number, totals))
    return judge_effect(NOT_UNDERSTOOD_TURNS, groups[1], groups[0])


def test_a_release_that_took_a_phrase_away_is_to_blame() -> None:
    before = drop_phrase()
    talk("fees")
    talk("gift vouchers", 4)
    verdict, reason = judge(before)
    assert verdict is Verdict.WORSE
    assert reason == f"Of 14 such messages, 10 come out differently on release {before + 1} than before it."


def test_a_release_after_which_users_ask_something_else_is_not() -> None:
    before = change_answer()
    talk("gift vouchers")
    verdict, reason = judge(before)
    assert verdict is Verdict.NOT_CAUSED
    assert reason == f"Of 10 such messages, none come out differently on release {before + 1} than before it."


@pytest.mark.parametrize("turns", [0, FEWEST_KNOWN - 1, 10])
def test_nobody_is_blamed_where_nothing_can_be_known(turns: int) -> None:
    before = drop_phrase()
    talk("fees", turns)
    if turns == 10:
        CeConversationHistory.objects.update(replayable=False)
    verdict, reason = judge(before)
    assert verdict is Verdict.CAUSE_UNKNOWN
    assert "cannot be known" in reason


def test_a_release_before_the_first_one_is_not_known() -> None:
    talk("gift vouchers")
    first = configuration().current().config_version
    assert find_bad_turns(NOT_UNDERSTOOD_TURNS, -5, first) == Evidence(10)


def test_messages_that_have_another_intent_moved() -> None:
    before = configuration().current().config_version
    with change_set(reason="other phrases"):
        CeIntentClassifier.objects.filter(intent_code="FEES").update(pattern="what does it cost")
        CeIntentClassifier.objects.filter(intent_code="HOURS").update(pattern="fees")
    talk("fees")
    assert find_moved_turns(["HOURS"], before + 1, before + 1) == Evidence(10, 10, 10)
