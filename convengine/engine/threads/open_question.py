"""What a session waits for: a question, a missing value, an action that needs a yes (R83)."""

from collections.abc import Mapping

from convengine.engine.forms.allowed_interactions import choose_interaction
from convengine.engine.pending_actions.record import LIVE, read_record
from convengine.engine.pending_actions.waiting import is_proposed_by_table
from convengine.engine.turn.enums import InteractionMode
from convengine.engine.turn.payload import to_spoken_text
from convengine.engine.turn.session import Session
from convengine.engine.turn.turn import Turn

#: Modes of a template that ask something, and those that propose the end.
ASKS: frozenset[str] = frozenset({"COLLECT", "CONFIRM", "DISAMBIGUATE", "PENDING_ACTION"})
PROPOSES_END: frozenset[str] = frozenset({"FINAL", "REVIEW"})


def has_open_action(session: Session, turn: Turn) -> bool:
    """True when an action waits for a yes: its record is open, or a row in scope is eligible."""
    record = read_record(session)
    return (record is not None and record.status in LIVE) or is_proposed_by_table(session, turn)


def find_open_question(session: Session, turn: Turn, mode: str | None) -> str | None:
    """The question at the end of the turn, or null. `mode` comes from `answered_in`."""
    if session.clarification:
        return session.clarification.question
    if session.missing_required_fields or mode in ASKS or has_open_action(session, turn):
        return get_last_answer(session)
    return None


def find_interaction_mode(session: Session, turn: Turn) -> str | None:
    """The interaction mode of the answer's template; null when a row did not answer, or there is no mode."""
    if session.reply_override is not None:
        return None
    row = choose_interaction(turn.snapshot, session.intent, session.state).winner
    mode = InteractionMode.read(row.interaction_mode) if row else None
    return mode.value if mode else None


def get_last_answer(session: Session) -> str:
    found = session.last_assistant
    return (to_spoken_text(found) if isinstance(found, Mapping) else None) or ""
