"""Coming back after a pause. For the table of sessions 5 see sessions/rows."""

from typing import Any

import pytest

from tests.threads import DAY, Participant, later, setting, travel_desk

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


def test_nothing_else_runs_in_that_turn(guest: Participant, settings: Any) -> None:
    answer = come_back(guest, settings, "a refund", "no")

    assert guest.stages(answer, "INTENT_RESOLVE_NO_CHANGE")
    assert not guest.stages(answer, "PENDING_ACTION_REJECTED")
    assert not guest.stages(answer, "MESSAGE_INTENT_CLASSIFIED")


def test_the_plain_turn_api_makes_no_offer(guest: Participant, settings: Any) -> None:
    from tests.api import Caller

    caller = Caller(guest.secret)
    caller.say("a visa")
    later(settings, DAY + 60)

    assert caller.say("hours")["payload"]["value"] == "Nine to five."
