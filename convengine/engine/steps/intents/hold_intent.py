"""What keeps the intent of a conversation, and the signals that break the lock."""

from convengine.engine.clarification import collision
from convengine.engine.forms.session_form import find_schema, get_usable_form
from convengine.engine.steps.intents.settings import FORCE_PARAM_KEYS, STICKY_INTENT, SWITCH_PHRASES
from convengine.engine.steps.intents.stages import (
    INTENT_RESOLVE_SKIPPED_POLICY,
    INTENT_RESOLVE_SKIPPED_SCHEMA_COLLECTION,
    INTENT_RESOLVE_SKIPPED_STICKY_INTENT,
)
from convengine.engine.text.compare import norm, truthy
from convengine.engine.threads.settings import TEXT_COMMANDS
from convengine.engine.turn.scope import is_resolved, is_state_resolved
from convengine.engine.turn.session import Session
from convengine.engine.turn.stage import Stage
from convengine.engine.turn.turn import Turn

_DECIDED = ("EXECUTE_PENDING_ACTION", "REJECT_PENDING_ACTION")


def find_keeping_stage(session: Session, turn: Turn) -> Stage | None:
    """The stage of the first reason to keep the intent. Returns None if there is none."""
    if session.intent_locked:
        return INTENT_RESOLVE_SKIPPED_SCHEMA_COLLECTION
    if not (is_resolved(session.intent) and is_state_resolved(session.state)):
        return None
    if turn.config(session, STICKY_INTENT) and not collision.is_pending(session) and _is_collecting(session, turn):
        return INTENT_RESOLVE_SKIPPED_STICKY_INTENT
    return INTENT_RESOLVE_SKIPPED_POLICY if truthy(session.routing.skip_intent_resolution) else None


def _is_collecting(session: Session, turn: Turn) -> bool:
    """True while the current form is incomplete. An unusable schema holds no intent."""
    form = get_usable_form(session, turn, find_schema(turn.snapshot, session.intent, session.state))
    return form is not None and not form.status(session.context).complete


def find_forcing_signal(session: Session, turn: Turn) -> str | None:
    """The signal that asks for another intent: a reset word, a switch phrase, or a param.

    Returns None without one, and for an answer to a pending action.
    """
    if session.routing.policy_decision in _DECIDED:
        return None
    text = norm(session.user_text)
    if text and text in {command.lower() for command in turn.config(session, TEXT_COMMANDS)}:
        return f"TEXT:{text}"
    for phrase in turn.config(session, SWITCH_PHRASES):
        wanted = phrase.lower()
        if wanted.startswith("^"):
            # The list drops blanks at the ends; "switch to" must be a whole word at the start.
            if f"{text} ".startswith(wanted[1:].strip() + " "):
                return f"PHRASE:{phrase}"
        elif wanted in text:
            return f"PHRASE:{phrase}"
    for key in turn.config(session, FORCE_PARAM_KEYS):
        if truthy(session.input_params.get(key)):
            return f"INPUT_PARAM:{key}"
    return None
