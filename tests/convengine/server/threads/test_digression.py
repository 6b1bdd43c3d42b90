"""A question in between on every channel: the session waits on, and its question is the open one."""

from typing import Any

import pytest

from config_admin.models import CeIntent, CePendingAction
from config_admin.releases.change_set import change_set
from convengine.server.mcp_server.server import EngineServer
from convengine.server.sessions.models import CeConversation
from tests.api import Caller, make_key
from tests.dialogues.rows.worlds import CHECK, DENTIST, TABLE, make_flows
from tests.threads import Participant, row_of, travel_desk

FOLLOWS = "Nine to five.\n\nLet us go on. Which country?"


def make_desk() -> None:
    """A travel desk whose HOURS is answered in between."""
    travel_desk()
    with change_set(reason="in between"):
        CeIntent.objects.filter(pk="HOURS").update(returns=True)
        CePendingAction.objects.all().delete()


def stand(conversation_id: str) -> tuple[str, str, str]:
    row = CeConversation.objects.get(pk=conversation_id)
    return row.intent_code, row.lifecycle, row.lifecycle_detail["question"]


@pytest.mark.django_db
def test_a_session_waits_on_with_its_question() -> None:
    make_desk()
    guest = Participant()
    first = guest.say("a visa")

    for _ in range(2):
        answer = guest.say("what are your hours?")
        assert answer["session_id"] == first["session_id"]
        assert answer["turn"]["payload"]["value"] == FOLLOWS
        assert guest.moves(answer) == []
        assert stand(first["session_id"]) == ("VISA", "AWAITING_USER", "Which country?")
        assert guest.stages(answer, "DIGRESSION_ANSWERED")[0]["intent"] == "HOURS"
        assert row_of(answer).state_code == "IDLE"


@pytest.mark.django_db
def test_the_turn_api_does_the_same() -> None:
    make_desk()
    caller = Caller()
    caller.say("a visa")

    answer = caller.say("hours")

    assert (answer["intent"], answer["state"], answer["payload"]["value"]) == ("VISA", "IDLE", FOLLOWS)
    assert stand(caller.conversation_id) == ("VISA", "AWAITING_USER", "Which country?")


@pytest.mark.django_db
def test_an_interrupted_form_goes_on_in_its_session() -> None:
    make_flows({**DENTIST, "resume": True}, TABLE)
    guest = Participant()
    first = guest.say("book an appointment")
    for text in ("Ann Bell", "2", "I want to book a table", "4"):
        guest.say(text)

    answer = guest.say("yes")

    reply = f"See you.\n\nLet us go on with “Dentist appointment”. {CHECK}"
    assert (answer["session_id"], answer["reply"]) == (first["session_id"], reply)
    assert stand(first["session_id"]) == ("DENTIST", "AWAITING_USER", reply)


@pytest.mark.django_db(transaction=True)
def test_an_mcp_client_gets_the_same() -> None:
    make_desk()
    secret = make_key(scopes=["turns", "audit"])
    server = EngineServer(lambda _: secret)

    def take_turn(**args: Any) -> Any:
        return server._answer(secret, "take_turn", args).structured_content

    first = take_turn(message="a visa")
    answer = take_turn(message="hours", conversationId=first["conversationId"])

    assert (answer["intent"], answer["payload"]["value"]) == ("VISA", FOLLOWS)
    assert stand(first["conversationId"]) == ("VISA", "AWAITING_USER", "Which country?")
