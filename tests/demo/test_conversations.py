"""The help desk as customers talk to it over HTTP."""

from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from convengine.json_value import Json
from convengine.server.extensions.registry import Registry
from convengine.server.extensions.tasks import TaskCall
from tests.api import Caller
from tests.conversations import list_conversations
from tests.demo.talking import talk, tell

pytestmark = pytest.mark.usefixtures("shared_helpdesk")


@pytest.mark.parametrize("conversation", list_conversations(Path(__file__).with_name("conversations.yaml")))
def test_a_conversation_goes_as_it_is_told(conversation: dict[str, Json]) -> None:
    tell(conversation)


def test_an_action_that_fails_says_that_nothing_was_changed(customer: Caller) -> None:
    confirm = ("cancel order 51007", "Shall I cancel it", "CONFIRM")
    talk(customer, [confirm])
    talk(Caller(), [confirm, ("yes", "order 51007 is cancelled", "DONE")])

    answer = customer.say("yes")

    assert (answer["intent"], answer["state"]) == ("CANCEL_ORDER", "FAILED")
    assert "that did not work, and nothing was changed" in answer["payload"]["value"]
    assert "PENDING_ACTION_FAILED" in customer.stages(2)
    talk(customer, [("cancel order 51007", "is cancelled already", "REFUSED")])


@pytest.mark.parametrize(
    ("asked", "part"),
    [
        ("When do you open on Saturday?", "On Saturdays the shop is open from 9 am to 2 pm."),
        ("are you open on sun", "We are closed on Sundays"),
        ("and on monday?", "On Mondays the shop is open from 9 am to 6 pm."),
        ("Are you open at Christmas?", "We are closed on Sundays and public holidays."),
        ("WHAT ARE YOUR OPENING HOURS", "On Wednesdays the shop is open from 9 am to 6 pm."),
        ("are you open tomorrow?", "On Thursdays the shop is open from 9 am to 6 pm."),
    ],
)
def test_the_opening_hours_come_from_the_shop(customer: Caller, settings: Any, asked: str, part: str) -> None:
    settings.CONVENGINE = {**settings.CONVENGINE, "CLOCK_AT": datetime(2026, 11, 18, 12, tzinfo=UTC)}

    talk(customer, [(asked, part, "IDLE")])


def test_a_task_under_the_same_key_acts_once(shared_helpdesk: Registry) -> None:
    cancel = shared_helpdesk.tasks["orders"].methods["cancel"]

    first = cancel(TaskCall({}, {"orderNumber": "48392"}, {}, idempotency_key="k"))
    again = cancel(TaskCall({}, {"orderNumber": "48392"}, {}, idempotency_key="k"))
    other = cancel(TaskCall({}, {"orderNumber": "48392"}, {}, idempotency_key="l"))

    assert first == again
    assert (first.ok, other.ok) == (True, False)
