"""Coming back after a pause: the table of sessions 5."""

from typing import Any

import pytest

from convengine.sessions.models import CeConversation
from tests.convengine.sessions.test_threads import DAY, later
from tests.threads import Participant, row_of, setting, travel_desk

pytestmark = pytest.mark.django_db


@pytest.fixture
def guest() -> Participant:
    travel_desk()
    setting("RESUME_MODE", "offer_resume")
    return Participant()


def come_back(guest: Participant, settings: Any, said: str, text: str = "hello") -> Any:
    """Say something, and something else a day and a minute later; gives the later answer."""
    guest.say(said)
    later(settings, DAY + 60)
    return guest.say(text)


def test_AWAITING_USER_presents_the_question(guest: Participant, settings: Any) -> None:
    answer = come_back(guest, settings, "a visa")

    assert answer["reply"] == "Welcome back. We are not done yet. Which country?"
    assert answer["session"]["lifecycle"] == "AWAITING_USER"


def test_PENDING_COMPLETE_presents_the_summary(guest: Participant, settings: Any) -> None:
    first = guest.say("a trip")
    later(settings, DAY + 60)

    answer = guest.say("hello")

    summary = row_of(first).lifecycle_detail["resume"]["detail"]["summary"]
    assert answer["reply"] == f"Welcome back. This is where we stand: {summary} Does it look good?"


def test_RUNNING_presents_what_was_done_and_asks_whether_to_go_on(guest: Participant, settings: Any) -> None:
    first = guest.say("hours")
    later(settings, DAY + 60)

    answer = guest.say("hello")

    assert answer["reply"].startswith("Welcome back. So far: GOAL: Hours")
    assert answer["reply"].endswith("Shall we continue, or start fresh?")
    assert row_of(first).lifecycle == "AWAITING_USER"


def test_INTERRUPTED_presents_the_same(guest: Participant, settings: Any) -> None:
    guest.say("hours")
    CeConversation.objects.update(lifecycle="INTERRUPTED")
    later(settings, DAY + 60)

    assert guest.say("hello")["reply"].endswith("Shall we continue, or start fresh?")


def test_nothing_else_runs_in_that_turn(guest: Participant, settings: Any) -> None:
    answer = come_back(guest, settings, "a refund", "no")

    assert guest.stages(answer, "INTENT_RESOLVE_NO_CHANGE")
    assert not guest.stages(answer, "PENDING_ACTION_REJECTED")
    assert not guest.stages(answer, "MESSAGE_INTENT_CLASSIFIED")


def test_the_offer_names_two_ways_on(guest: Participant, settings: Any) -> None:
    answer = come_back(guest, settings, "a visa")

    assert answer["session"]["lifecycle_detail"]["options"] == ["continue", "start fresh"]
    assert guest.moves(answer) == ["AWAITING_USER>RUNNING", "RUNNING>AWAITING_USER"]


def test_continue_resumes_with_what_was_said_last(guest: Participant, settings: Any) -> None:
    come_back(guest, settings, "a visa")

    answer = guest.say("Continue!")

    assert (answer["reason"], answer["reply"]) == ("within_timeout", "Which country?")
    assert answer["session"]["lifecycle"] == "AWAITING_USER"
    assert answer["session"]["lifecycle_detail"]["question"] == "Which country?"


def test_start_fresh_aborts_and_opens_a_new_session(guest: Participant, settings: Any) -> None:
    offered = come_back(guest, settings, "a visa")

    answer = guest.say("start fresh")

    assert (answer["reason"], answer["session"]["previous_session_id"]) == ("explicit_reset", offered["session_id"])
    assert row_of(offered).lifecycle == "ABORTED"


def test_any_other_text_continues_and_is_processed(guest: Participant, settings: Any) -> None:
    come_back(guest, settings, "a trip")

    answer = guest.say("yes")

    assert (answer["message_intent"], answer["session"]["lifecycle"]) == ("CONFIRMATION", "COMPLETE")
    assert guest.moves(answer) == [
        "AWAITING_USER>RUNNING",
        "RUNNING>PENDING_COMPLETE",
        "PENDING_COMPLETE>COMPLETE",
    ]


def test_exactly_a_day_is_within_it(guest: Participant, settings: Any) -> None:
    guest.say("a visa")
    later(settings, DAY - 60)

    assert guest.say("Japan")["reason"] == "within_timeout"


def test_the_plain_turn_api_makes_no_offer(guest: Participant, settings: Any) -> None:
    from tests.api import Caller

    caller = Caller(guest.secret)
    caller.say("a visa")
    later(settings, DAY + 60)

    assert caller.say("hours")["payload"]["value"] == "Nine to five."
