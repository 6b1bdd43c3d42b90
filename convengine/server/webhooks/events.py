"""Every event of webhooks, declared once: its name, its sentence, and what its data has.

`static/convengine/schemas/webhook.schema.json` is made from it.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from types import MappingProxyType

from convengine.engine.steps.actions.stages import PENDING_ACTION_EXECUTED
from convengine.engine.steps.hand_over.step import MESSAGE_PASSED_ON
from convengine.engine.steps.responses.stages import FORM_GIVEN_UP
from convengine.engine.threads.stages import SESSION_LIFECYCLE
from convengine.engine.turn.enums import Lifecycle
from convengine.engine.turn.stage import Stage
from convengine.json_value import Json


@dataclass(frozen=True)
class Member:
    """A member of an event's data: its JSON Schema, and an example."""

    schema: Mapping[str, Json]
    example: Json
    #: The payload key of the event's stage that has the value; blank for a computed value.
    payload_key: str = ""
    is_required: bool = True


@dataclass(frozen=True)
class EventType:
    name: str
    sentence: str
    members: Mapping[str, Member]
    #: The stage of a turn that makes it. None for one with a condition of its own.
    stage: Stage | None = None
    #: The payload values without which the stage makes none.
    only: Mapping[str, frozenset[str]] = field(default_factory=lambda: MappingProxyType({}))


def _text(description: str, example: str, payload_key: str = "", **more: bool) -> Member:
    return Member({"type": "string", "description": description}, example, payload_key, **more)


def _number(description: str, example: int, payload_key: str = "", **more: bool) -> Member:
    return Member({"type": "integer", "description": description}, example, payload_key, **more)


_ID = "0d6f6f5e-7d1e-4f0e-9a53-3f0a5c2e9b11"
#: What the data of every event of a conversation has.
CONVERSATION: Mapping[str, Member] = {
    "conversationId": _text("The conversation, as in the API.", _ID),
    "workspace": _text("Its workspace.", "default"),
    "channel": _text("Its channel; `api` for the plain turn API.", "whatsapp"),
    "participant": _text("Who takes part, on a channel with participants.", "+4915112345678", is_required=False),
    "turnNo": _number("The number of the turn, or of the last one before an event outside of turns.", 4),
    "turnId": _text(
        "The turn; missing for an event outside of turns.", "8b1c7d52-94c1-4d4c-8f3d-1f6f2a6f5b20", is_required=False
    ),
    "intent": _text("The intent after the turn.", "BOOK_TABLE"),
    "state": _text("The state after the turn.", "HAND_OVER"),
    "configVersion": _number("The release that the turn ran on.", 12),
}
_MESSAGE = _text("What the user wrote, as it is recorded: with masks.", "I want to talk to somebody")

HANDED_OVER = EventType(
    "conversation.handed_over",
    "A conversation entered the state HAND_OVER: a person is needed.",
    {**CONVERSATION, "message": _MESSAGE, "reply": _text("What the bot answered.", "A colleague takes over.")},
)
CONVERSATION_ENDED = EventType(
    "conversation.ended",
    "A conversation ended: it was completed, given up, closed, or nobody wrote for too long.",
    {
        **CONVERSATION,
        "lifecycle": Member({"enum": ["COMPLETE", "ABORTED"], "description": "How it ended."}, "COMPLETE", "to"),
        "reason": _text("Why, such as `timeout` or `closed`.", "closed", "reason"),
    },
    SESSION_LIFECYCLE,
    {"to": frozenset({Lifecycle.COMPLETE, Lifecycle.ABORTED})},
)
ACTION_EXECUTED = EventType(
    "action.executed",
    "The user confirmed an action, and it ran.",
    {
        **CONVERSATION,
        "action": _text("The action.", "book:BookTask", "pendingActionRef"),
        "executionId": _number("The run of the action; the same when a run is reported again.", 31, "executionId"),
    },
    PENDING_ACTION_EXECUTED,
)
FORM_ABANDONED = EventType(
    "form.given_up",
    "The bot abandoned a form, because the answers for a field were refused or not understood too often.",
    {
        **CONVERSATION,
        "form": _number("The number of the form.", 3, "schemaId", is_required=False),
        "field": _text("The field that was asked for.", "phone", "field", is_required=False),
        "misses": _number("How many answers failed.", 3, "misses"),
    },
    FORM_GIVEN_UP,
)
RELEASE_PUBLISHED = EventType(
    "release.published",
    "A release of the configuration was published. Webhooks of every workspace get it.",
    {
        "configVersion": _number("The number of the release.", 13),
        "origin": _text("Where the change came from, such as ADMIN, DRAFT or IMPORT.", "DRAFT"),
        "author": _text("Who made it; empty for a script.", "ann"),
        "reason": _text("Why, as the author wrote it.", "New opening hours"),
    },
)
TURN_ANSWERED = EventType(
    "turn.answered",
    "A queued message was answered, or failed. Nobody waited for the answer.",
    {
        **CONVERSATION,
        "messageId": _text("The message, as in the answer to its call.", _ID),
        "success": Member({"type": "boolean", "description": "False if the message has no answer."}, True),
        "reply": _text("The answer as plain text; empty for a failure.", "Your table is booked."),
        "answer": Member({"type": "object", "description": "The answer, as the API gives it, without context."}, {}),
    },
)
UNDELIVERED = EventType(
    "message.undelivered",
    "A message to the user of a channel did not arrive, and is not tried again.",
    {
        **CONVERSATION,
        "text": _text("The message.", "Your table is booked."),
        "error": _text("Why, with the remedy if there is one.", "WhatsApp answered 400, 131026: undeliverable."),
    },
)
HANDOVER_MESSAGE = EventType(
    "handover.message",
    "A user wrote while a person was handling the conversation.",
    {**CONVERSATION, "message": _MESSAGE},
    MESSAGE_PASSED_ON,
)

EVENTS: Mapping[str, EventType] = {
    event.name: event
    for event in (
        HANDED_OVER,
        HANDOVER_MESSAGE,
        TURN_ANSWERED,
        UNDELIVERED,
        CONVERSATION_ENDED,
        ACTION_EXECUTED,
        FORM_ABANDONED,
        RELEASE_PUBLISHED,
    )
}
#: The kinds of events that a stage makes, by its name.
BY_STAGE: Mapping[str, EventType] = {str(event.stage): event for event in EVENTS.values() if event.stage}


def build_schema() -> dict[str, Json]:
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": "Webhook",
        "description": "What ConvEngine posts to the address of a webhook.",
        "type": "object",
        "required": ["type", "timestamp", "data"],
        "properties": {
            "type": {"enum": list(EVENTS), "description": "The name of the event."},
            "timestamp": {"type": "string", "format": "date-time", "description": "When it happened."},
            "data": {"type": "object"},
        },
        "oneOf": [{"properties": {"type": {"const": name}, "data": {"$ref": f"#/$defs/{name}"}}} for name in EVENTS],
        "$defs": {name: _describe_data(event) for name, event in EVENTS.items()},
    }


def _describe_data(event: EventType) -> Json:
    """The JSON Schema of the data of an event, with one example."""
    return {
        "type": "object",
        "description": event.sentence,
        "required": [name for name, member in event.members.items() if member.is_required],
        "properties": {name: dict(member.schema) for name, member in event.members.items()},
        "examples": [{name: member.example for name, member in event.members.items()}],
    }
