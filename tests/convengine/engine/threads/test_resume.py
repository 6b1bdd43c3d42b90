"""Coming back after a pause. For the table of sessions 5 see sessions/rows."""

import re
from typing import Any

import pytest

from tests.threads import DAY, Participant, later, setting, travel_desk

pytestmark = pytest.mark.django_db


@pytest.fixture
def guest() -> Participant:
    travel_desk()
    setting("RESUME_MODE", "offer_resume")
    return Participant()


def come_back(guest: Participant, settings: Any, message: str, text: str = "hello") -> Any:
    """Say something, and something else a day and a minute later; gives the later answer."""
    guest.say(message)
    later(settings, DAY + 60)
    return guest.say(text)


def test_nothing_else_runs_in_that_turn(guest: Participant, settings: Any) -> None:
    answer = come_back(guest, settings, "a refund", "no")

    assert guest.stages(answer, "INTENT_RESOLVE_NO_CHANGE")
    assert not guest.stages(answer, "PENDING_ACTION_REJECTED")
    assert not guest.stages(answer, "MESSAGE_INTENT_CLASSIFIED")


@pytest.mark.parametrize("message", ["a visa", "a trip", "hours"])
def test_an_offer_that_nobody_answered_is_made_again_and_leads_back_to_the_same_place(
    guest: Participant, settings: Any, message: str
) -> None:
    first = guest.say(message)
    offers = []
    for days in (1, 2, 3):
        later(settings, days * (DAY + 60))
        offers.append(guest.say("hello"))

    resumed = guest.say("continue")

    assert {offer["reason"] for offer in offers} == {"resume_offered"}
    # But for the number of turns in the summary.
    assert len({re.sub(r"\d", "", offer["reply"]) for offer in offers}) == 1
    assert (resumed["reply"], resumed["session"]["lifecycle"]) == (first["reply"], first["session"]["lifecycle"])
    assert "resume" not in resumed["session"]["lifecycle_detail"]


def test_the_way_out_that_the_offer_names_is_there_whatever_the_reset_phrases_are(
    guest: Participant, settings: Any
) -> None:
    setting("RESET_PHRASES", '["from the top"]')
    come_back(guest, settings, "a visa")

    assert guest.say("Start fresh!")["reason"] == "explicit_reset"
    guest.say("a visa")
    assert guest.say("Start fresh!")["decision"] == "continue"


def test_the_plain_turn_api_makes_no_offer(guest: Participant, settings: Any) -> None:
    from tests.api import Caller

    caller = Caller(guest.secret)
    caller.say("a visa")
    later(settings, DAY + 60)

    assert caller.say("hours")["payload"]["value"] == "Nine to five."
