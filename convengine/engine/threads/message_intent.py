"""What a message means to its session. The first matching row wins."""

from collections.abc import Iterable, Iterator, Mapping
from functools import lru_cache
from itertools import pairwise

from convengine.engine.dialogue.classify import affirms
from convengine.engine.forms.leaving import decide_leaving
from convengine.engine.forms.message import understand_message
from convengine.engine.llm.ask import ModelQuestion, ask
from convengine.engine.llm.reply import read_confidence
from convengine.engine.pending_actions.disambiguation import has_open_action
from convengine.engine.text.compare import code
from convengine.engine.threads import settings as catalogue
from convengine.engine.threads.lifecycle import AWAITING_USER, PENDING_COMPLETE, begin_new_task
from convengine.engine.threads.stages import MESSAGE_INTENT_CLASSIFIED
from convengine.engine.turn.dialogue_state import DialogueState
from convengine.engine.turn.enums import DialogueAct, MessageIntent
from convengine.engine.turn.owned_params import DialogueParams
from convengine.engine.turn.scope import is_resolved
from convengine.engine.turn.session import Session
from convengine.engine.turn.turn import Turn
from convengine.engine.understanding.form import fold_label
from convengine.engine.understanding.understand import Understanding
from convengine.json_value import Json

#: The prompt for a model when the table leaves a message unclear.
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


def set_message_intent(session: Session, turn: Turn) -> Session:
    """Set `message_intent` as soon as the act is known. An unclear message waits for `settle_message_intent`."""
    if session.reset_only:
        return session  # A reset, and the answer to an offer to resume, are no message to the task.
    meaning = _find_message_intent(session, turn)
    session = session.with_values(DialogueParams(message_intent=meaning.value))
    return session if meaning is MessageIntent.UNCLEAR else _audit_message_intent(session, turn, meaning)


def settle_message_intent(session: Session, turn: Turn) -> Session:
    """Decide again once the intent is known: the message may begin a new task, or remain unclear."""
    meaning = MessageIntent.read(session.dialogue.message_intent)
    if meaning is None or session.reset_only:
        return session
    goes_on = meaning in (MessageIntent.RESPONSE, MessageIntent.CONTINUATION, MessageIntent.UNCLEAR)
    if goes_on and turn.request.resolved and _changes_topic(session):
        return _begin_new_task(session, turn)
    if meaning is not MessageIntent.UNCLEAR:
        return session
    meaning = MessageIntent.CONTINUATION if session.intent_source else _ask_model(session, turn)
    if meaning is MessageIntent.NEW_TASK:
        return _begin_new_task(session, turn)
    return _audit_message_intent(session.with_values(DialogueParams(message_intent=meaning.value)), turn, meaning)


def _find_message_intent(session: Session, turn: Turn) -> MessageIntent:
    """What the message means, by its phrases, its act and the lifecycle.

    UNCLEAR only for a reply to a proposed end.
    """
    act = session.dialogue.dialogue_act
    abandon = turn.config(session, catalogue.ABANDON_PHRASES)
    gives_up = is_one_of(session.user_text, abandon)
    # An action, or a form that may be left, decides itself what such a phrase does.
    if gives_up and not has_open_action(session, turn) and decide_leaving(session, turn) is None:
        return MessageIntent.ABANDON
    if session.lifecycle == AWAITING_USER:
        return MessageIntent.CONTINUATION if act == DialogueAct.RESET else MessageIntent.RESPONSE
    if act == DialogueAct.EDIT:
        return MessageIntent.MODIFICATION
    if session.lifecycle == PENDING_COMPLETE:
        return _read_end_reply(session, turn, act)
    return MessageIntent.CONTINUATION


def _read_end_reply(session: Session, turn: Turn, act: Json) -> MessageIntent:
    """The answer to a proposed end: a yes, a yes and more, or neither."""

    closing = turn.config(session, catalogue.CLOSING_PHRASES)

    def accepts(text: str | None) -> bool:
        return is_one_of(text, closing) or affirms(text, session, turn)

    if accepts(session.user_text):
        return MessageIntent.CONFIRMATION
    for head, more in list_splits(understand_message(session, turn)):
        if accepts(head):
            return MessageIntent.CONFIRMATION if accepts(more) else MessageIntent.MODIFICATION
    return MessageIntent.CONFIRMATION if act == DialogueAct.AFFIRM else MessageIntent.UNCLEAR


def _changes_topic(session: Session) -> bool:
    """Whether a new request led to another intent, without a lock and without an interrupted form that waits."""
    before, now = session.turn_start_intent, session.intent
    return (
        session.dialogue.dialogue_act == DialogueAct.NEW_REQUEST
        and session.intent_source is not None
        and not session.intent_locked
        and session.clarification is None
        and not DialogueState.of(session).interrupted
        and is_resolved(before)
        and is_resolved(now)
        and code(before) != code(now)
    )


def _begin_new_task(session: Session, turn: Turn) -> Session:
    """Write what the message means, and go on in the session of the new task."""
    session = _audit_message_intent(
        session.with_values(DialogueParams(message_intent=MessageIntent.NEW_TASK.value)), turn, MessageIntent.NEW_TASK
    )
    return begin_new_task(session, turn)


def _ask_model(session: Session, turn: Turn) -> MessageIntent:
    """The meaning that a model finds, if it may be called and is sure enough."""
    if not turn.config(session, catalogue.CLASSIFY_WITH_LLM) or not turn.ports.model.configured:
        return MessageIntent.UNCLEAR
    user_prompt = f"Task so far:\n{session.context_summary}\n\nMessage:\n{session.user_text}"
    reply = ask(session, turn, ModelQuestion("DIALOGUE_ACT", _ASKED, user_prompt, json_schema=_SCHEMA, strict=True))
    value = reply.value if isinstance(reply.value, Mapping) else {}
    least = turn.config(session, catalogue.DRIFT_MIN_CONFIDENCE)
    is_sure = (read_confidence(value.get("confidence")) or 0.0) >= least
    return (MessageIntent.read(value.get("messageIntent")) if is_sure else None) or MessageIntent.UNCLEAR


def _audit_message_intent(session: Session, turn: Turn, meaning: MessageIntent) -> Session:
    """Write MESSAGE_INTENT_CLASSIFIED. Returns the session unchanged."""
    turn.audit(
        session,
        MESSAGE_INTENT_CLASSIFIED,
        messageIntent=meaning.value,
        lifecycle=session.lifecycle,
        dialogueAct=session.dialogue.dialogue_act,
    )
    return session


def is_one_of(text: str | None, phrases: Iterable[str]) -> bool:
    """True when the whole text is one of the phrases. Signs and case do not count."""
    words = fold_label(text or "")
    return bool(words) and any(words == _fold_phrase(phrase) for phrase in phrases)


#: The phrases of the settings are the same in every turn.
_fold_phrase = lru_cache(maxsize=1_000)(fold_label)


def list_splits(understanding: Understanding) -> Iterator[tuple[str, str]]:
    """Each split of a message between two clauses: what is said before, and what more behind a joint."""
    end = len(understanding.words)
    for before, clause in pairwise(understanding.clauses):
        start = next(
            (cue.end for cue in clause.cues if cue.start == clause.start and cue.name == "joint"), clause.start
        )
        if any(not word.is_sign for word in understanding.words[start:end]):
            yield understanding.quote(0, before.end), understanding.quote(start, end)
