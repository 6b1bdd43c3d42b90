"""Talking to the demonstration: a line is what is said, a part of the answer, and where the dialogue stands then."""

from collections.abc import Mapping, Set
from typing import Any

from audit.record.events import expand_events
from audit.replay.replay import find_replay_difference
from convengine.json_value import Json
from convengine.server.sessions.models import CeConversationHistory
from tests import record
from tests.accounts import list_unfounded
from tests.api import Caller
from tests.conversations import make_bot, play_conversation

#: What must not happen in a conversation that the demonstration was made for.
UNWELCOME = {
    "CONFIG_ROW_INVALID", "CONFIG_VALUE_INVALID", "RULE_ERROR", "RULE_PASS_CAP_REACHED", "STEP_HOOK_ERROR",
    "STEP_ERROR", "CONTAINER_DATA_FAILED", "RESPONSE_TRANSFORM_FAILED", "TOOL_ORCHESTRATION_ERROR",
    "EXACT_RESPONSE_RENDERING", "PENDING_ACTION_FAILED", "INPUT_PARAM_RESERVED",
}  # fmt: skip
Line = tuple[str, str, str]


def talk(customer: Caller, lines: list[Line], **more: Any) -> None:
    """Say the lines; every answer is as expected, told truly, and replays equal."""
    turns = set()
    for said, part, state in lines:
        answer = customer.say(said, **more)
        turns.add(answer["turnNo"])
        assert answer["success"], answer
        told = f"{said!r} was answered {answer['payload']['value']!r} in {answer['intent']}/{answer['state']}"
        assert part in answer["payload"]["value"], told
        assert answer["state"] == state, told
    check_record(customer.conversation_id, turns)


def check_record(conversation_id: str, turns: Set[int]) -> None:
    """Check that these turns replay equal, went as wanted, and that their explanations are true."""
    for turn in CeConversationHistory.objects.filter(conversation_id=conversation_id, turn_no__in=turns):
        assert find_replay_difference(turn) is None, f"turn {turn.turn_no}"
    events = list(expand_events(record.events(conversation_id=conversation_id)))
    own = [event for event in events if event.row.turn_no in turns]
    unwelcome = [f"turn {event.row.turn_no}: {event.name}" for event in own if event.name in UNWELCOME]
    assert not unwelcome, unwelcome
    unfounded = list(list_unfounded(events))
    assert not unfounded, unfounded


def tell(conversation: Mapping[str, Json]) -> None:
    """Play a conversation of a file with the demonstration, beside its flows.

    Its `books` say what those of the shop have at its end.
    """
    make_bot(conversation)
    seen_turns = play_conversation({**conversation, "extensions": "real"})
    for conversation_id in {seen.conversation["conversation_id"] for seen in seen_turns if seen.conversation}:
        check_record(conversation_id, {seen.body["turnNo"] for seen in seen_turns})
    assert {number: books(number) for number in conversation.get("books", {})} == conversation.get("books", {})


def books(number: str) -> str:
    """What the shop's own books say of an order."""
    from fixtures.demo import helpdesk

    with helpdesk.books() as shop:
        found = helpdesk.order(shop, number)
    return found["status"] if found else "none"
