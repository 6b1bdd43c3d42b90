"""Conversations that a person has."""

from convengine.engine.text.compare import truthy
from convengine.engine.turn import live_settings
from convengine.engine.turn.live_settings import boolean, declare, text
from convengine.engine.turn.session import Session
from convengine.engine.turn.snapshot import Snapshot
from convengine.engine.turn.turn import Turn

FAMILY = "HandOverStep"
#: The field of the context that says that a person takes over, as the rule of a hand-over flow sets it.
HANDED_OVER = "handover"

HAS_DESK = declare(
    FAMILY,
    "HAS_DESK",
    boolean(),
    False,
    "After a hand-over a person has the conversation: the bot only stores messages, until the help desk gives the "
    "conversation back (docs/webhooks.md). If off, the bot goes on answering.",
    label="A help desk takes over",
)
WITH_PERSON_TEXT = declare(
    FAMILY,
    "WITH_PERSON_TEXT",
    text(),
    "Your message was passed on. A person will answer you here.",
    "The answer to a message while a person has the conversation.",
    label="Answer while a person has the conversation",
)


def is_with_person(session: Session, turn: Turn) -> bool:
    """Whether a person has the conversation, and the bot decides nothing."""
    return truthy(session.context.get(HANDED_OVER)) and turn.config(session, HAS_DESK)


def is_kept_for_person(snapshot: Snapshot, handed_over: object) -> bool:
    """Whether a person has a stored conversation, whose context has this value. Such a session has no time-out."""
    return truthy(handed_over) and live_settings.read(snapshot, HAS_DESK).value
