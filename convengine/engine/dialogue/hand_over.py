"""How a conversation goes to a person, and whether a person has it."""

from convengine.engine.forms.life import is_in_form
from convengine.engine.text.compare import code, truthy
from convengine.engine.turn import live_settings
from convengine.engine.turn.live_settings import boolean, declare, text
from convengine.engine.turn.rows import Response
from convengine.engine.turn.scope import ANY, HAND_OVER
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


def find_hand_over_intent(snapshot: Snapshot) -> str | None:
    """The only intent whose phrases ask for a person and that has an answer. Returns None if there are several."""
    intents = [
        intent
        for intent in snapshot.hand_over_intents
        if any(snapshot.has_scope(Response, intent, state) for state in (HAND_OVER, ANY))
    ]
    return intents[0] if len(intents) == 1 else None


def find_handing_flow(session: Session, turn: Turn) -> str | None:
    """The intent whose form was left in this turn for one that hands over, if it says itself what follows."""
    intent, state = session.turn_start_intent, session.turn_start_state
    if not session.intent_source or code(session.state) != HAND_OVER or code(intent) == code(session.intent):
        return None
    is_own = turn.snapshot.has_scope(Response, code(intent), HAND_OVER)
    return intent if is_own and is_in_form(turn.snapshot, intent, state) else None


def find_hand_over_answer(snapshot: Snapshot) -> str | None:
    """An intent with an answer for HAND_OVER, if all of them say the same: whom to call is the same for all."""
    listed = (row for row in snapshot.enabled_rows(Response) if code(row.state_code) == HAND_OVER)
    answers = [row for row in listed if snapshot.is_active(row.intent_code)]
    return code(answers[0].intent_code) if len({row.exact_text for row in answers}) == 1 else None


def move_to_hand_over(session: Session, intent: str) -> Session:
    """The session in the intent that hands over, marked for the deployment."""
    return session.with_context({HANDED_OVER: True}).move_to(intent=intent, state=HAND_OVER, cause="HAND_OVER")


def pass_to_person(session: Session, turn: Turn) -> Session:
    """The session, which a person has after a hand-over if there is a help desk."""
    is_passed_on = code(session.state) == HAND_OVER and turn.config(session, HAS_DESK)
    return session.with_context({HANDED_OVER: True}) if is_passed_on else session
