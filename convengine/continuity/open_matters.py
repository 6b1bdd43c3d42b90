"""What is open between a session and its user: a question, a missing value, an action that waits for a yes (R83)."""

from collections.abc import Mapping

from convengine.actions.record import LIVE, read
from convengine.actions.waiting import proposed_by_table
from convengine.correction.interaction import choose_interaction
from convengine.domain.enums import InteractionMode
from convengine.domain.payload import spoken
from convengine.domain.session import Session
from convengine.domain.turn import Turn

#: Modes of a template that ask something, and those that propose the end.
ASKS: frozenset[str] = frozenset({"COLLECT", "CONFIRM", "DISAMBIGUATE", "PENDING_ACTION"})
PROPOSES_END: frozenset[str] = frozenset({"FINAL", "REVIEW"})


def has_open_action(session: Session, turn: Turn) -> bool:
    """True when an action waits for a yes: its record is open, or an eligible row fits where the dialogue stands."""
    record = read(session)
    return (record is not None and record.status in LIVE) or proposed_by_table(session, turn)


def open_question(session: Session, turn: Turn, mode: str | None) -> str | None:
    """What the user is being asked as the turn ends, null when nothing is open. `mode` is `answered_in`'s."""
    if session.clarification:
        return session.clarification.question
    if session.missing_required_fields or mode in ASKS or has_open_action(session, turn):
        return said(session)
    return None


def answered_in(session: Session, turn: Turn) -> str | None:
    """The interaction mode of the template of the answer; null when a row did not answer, or none has a mode."""
    if session.reply_override is not None:
        return None
    row = choose_interaction(turn.snapshot, session.intent, session.state).winner
    mode = InteractionMode.read(row.interaction_mode) if row else None
    return mode.value if mode else None


def said(session: Session) -> str:
    """The words of the last answer."""
    found = session.last_assistant
    return (spoken(found) if isinstance(found, Mapping) else None) or ""
