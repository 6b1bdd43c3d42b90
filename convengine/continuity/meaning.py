"""What a message means to its session: the table of sessions 3, first row wins (R39, R40, R41)."""

from collections.abc import Mapping
from typing import Any

from convengine.continuity import new_task
from convengine.continuity.lifecycle import AWAITING_USER, PENDING_COMPLETE
from convengine.continuity.open_matters import has_open_action
from convengine.continuity.phrases import is_one_of, splits
from convengine.dialogue.classify import affirms
from convengine.domain.catalogue import session as catalogue
from convengine.domain.enums import DialogueAct, MessageIntent
from convengine.domain.scope import resolved
from convengine.domain.session import Session
from convengine.domain.stages import Stage
from convengine.domain.text import code
from convengine.domain.turn import Turn
from convengine.llm.ask import Question, ask
from convengine.llm.confidence import confidence_of

Json = Any
PARAM = "message_intent"
#: What the model is asked when the table leaves a message unclear.
_ASKED = (
    "A task was finished and its result was shown to the user. Decide what the user's message means: MODIFICATION (it "
    "changes or extends this task), CONFIRMATION (it accepts the result), NEW_TASK (it begins something unrelated), "
    "ABANDON (it gives the task up), CONTINUATION (it goes on with this task) or UNCLEAR. "
    'Answer as JSON: {"messageIntent": "...", "confidence": 0.0}.'
)
_MODELS = [meaning.value for meaning in MessageIntent if meaning is not MessageIntent.RESPONSE]
_SCHEMA: Mapping[str, Json] = {
    "type": "object",
    "properties": {
        "messageIntent": {"enum": _MODELS},
        "confidence": {"type": "number"},
    },
    "required": ["messageIntent", "confidence"],
    "additionalProperties": False,
}


def understood(session: Session, turn: Turn) -> Session:
    """The session with `message_intent`, decided when the act is known. What stays unclear waits for `settled`."""
    if _says_nothing(session):
        return session
    meaning = _meant(session, turn)
    session = session.with_params({PARAM: meaning.value})
    return session if meaning is MessageIntent.UNCLEAR else _told(session, turn, meaning)


def settled(session: Session, turn: Turn) -> Session:
    """The same when it is known what the message is about: it may begin something new, or is unclear after all."""
    meaning = MessageIntent.read(session.input_params.get(PARAM))
    if meaning is None or _says_nothing(session):
        return session
    goes_on = meaning in (MessageIntent.RESPONSE, MessageIntent.CONTINUATION, MessageIntent.UNCLEAR)
    if goes_on and turn.request.resolved and _is_about_something_else(session):
        return _begun_anew(session, turn)
    if meaning is not MessageIntent.UNCLEAR:
        return session
    meaning = MessageIntent.CONTINUATION if session.intent_source else _by_model(session, turn)
    if meaning is MessageIntent.NEW_TASK:
        return _begun_anew(session, turn)
    return _told(session.with_params({PARAM: meaning.value}), turn, meaning)


def _says_nothing(session: Session) -> bool:
    """A wish to start over, and the answer to an offer to resume, are no message to the task."""
    return session.reset_only


def _meant(session: Session, turn: Turn) -> MessageIntent:
    act = session.input_params.get("dialogue_act")
    abandon = turn.config(session, catalogue.ABANDON_PHRASES)
    if is_one_of(session.user_text, abandon) and not has_open_action(session, turn):
        return MessageIntent.ABANDON
    if session.lifecycle == AWAITING_USER:
        return MessageIntent.CONTINUATION if act == DialogueAct.RESET else MessageIntent.RESPONSE
    if act == DialogueAct.EDIT:
        return MessageIntent.MODIFICATION
    if session.lifecycle == PENDING_COMPLETE:
        return _of_the_end(session, turn, act)
    return MessageIntent.CONTINUATION


def _of_the_end(session: Session, turn: Turn, act: Json) -> MessageIntent:
    """The answer to a proposed end: a yes, a yes and more, or neither."""

    closing = turn.config(session, catalogue.CLOSING_PHRASES)

    def accepts(text: str | None) -> bool:
        return is_one_of(text, closing) or affirms(text, session, turn)

    if accepts(session.user_text):
        return MessageIntent.CONFIRMATION
    for said, more in splits(session.user_text):
        if accepts(said):
            return MessageIntent.CONFIRMATION if accepts(more) else MessageIntent.MODIFICATION
    return MessageIntent.CONFIRMATION if act == DialogueAct.AFFIRM else MessageIntent.UNCLEAR


def _is_about_something_else(session: Session) -> bool:
    """A new request led to another resolved intent, and no lock held (R40)."""
    before, now = session.turn_start_intent, session.intent
    return (
        session.input_params.get("dialogue_act") == DialogueAct.NEW_REQUEST
        and session.intent_source is not None
        and not session.intent_locked
        and session.clarification is None
        and resolved(before)
        and resolved(now)
        and code(before) != code(now)
    )


def _begun_anew(session: Session, turn: Turn) -> Session:
    session = _told(session.with_params({PARAM: MessageIntent.NEW_TASK.value}), turn, MessageIntent.NEW_TASK)
    return new_task.begun(session, turn)


def _by_model(session: Session, turn: Turn) -> MessageIntent:
    """What a model makes of it, where it may be asked and is sure enough."""
    if not turn.config(session, catalogue.CLASSIFY_WITH_LLM) or not turn.ports.model.configured:
        return MessageIntent.UNCLEAR
    told = f"Task so far:\n{session.context_summary}\n\nMessage:\n{session.user_text}"
    reply = ask(session, turn, Question("DIALOGUE_ACT", _ASKED, told, json_schema=_SCHEMA, strict=True))
    value = reply.value if isinstance(reply.value, Mapping) else {}
    wanted = turn.config(session, catalogue.DRIFT_MIN_CONFIDENCE)
    sure = (confidence_of(value.get("confidence")) or 0.0) >= wanted
    return (MessageIntent.read(value.get("messageIntent")) if sure else None) or MessageIntent.UNCLEAR


def _told(session: Session, turn: Turn, meaning: MessageIntent) -> Session:
    turn.audit(
        session,
        Stage.MESSAGE_INTENT_CLASSIFIED,
        messageIntent=meaning.value,
        lifecycle=session.lifecycle,
        dialogueAct=session.input_params.get("dialogue_act"),
    )
    return session
