"""Where a turn leaves its session, and what is said at that edge (sessions 2 and 3; R39, R41, R42)."""

from convengine.continuity import meaning, returning
from convengine.continuity.lifecycle import ABORTED, COMPLETE, PENDING_COMPLETE, moved, running
from convengine.continuity.open_matters import PROPOSES_END, answered_in, open_question, said
from convengine.domain.catalogue import session as catalogue
from convengine.domain.enums import Lifecycle, MessageIntent
from convengine.domain.session import ReplyOverride, Session
from convengine.domain.settings import Setting
from convengine.domain.text import truthy
from convengine.domain.turn import Turn
from convengine.prompts.render import render_lenient
from convengine.prompts.variables import template_variables

#: Source of the answers given here.
SOURCE = "SESSION"
_TEXTS: dict[MessageIntent, Setting[str]] = {
    MessageIntent.CONFIRMATION: catalogue.CLOSING_TEXT,
    MessageIntent.ABANDON: catalogue.ABANDON_TEXT,
    MessageIntent.UNCLEAR: catalogue.UNCLEAR_TEXT,
}
#: Meanings that end the session: where it goes, and why.
_ENDS: dict[MessageIntent, tuple[Lifecycle, str]] = {
    MessageIntent.CONFIRMATION: (COMPLETE, "confirmed"),
    MessageIntent.ABANDON: (ABORTED, "abandoned"),
}
#: What changes the state in a way that the response row must tell of.
_TELLING = frozenset({"RULE", "TASK"})


def answer_at_the_edge(session: Session, turn: Turn) -> ReplyOverride | None:
    """What is said instead of the response row as a session ends or is unclear; never on the plain turn API (R39).

    Null when something happened that the row must tell of: an action ran, or a rule changed the state (R41).
    """
    text = _TEXTS.get(_meaning(session)) if turn.request.resolved and session.reply_override is None else None
    ran = session.input_params.get("pending_action_result") in ("EXECUTED", "FAILED")
    if text is None or ran or any(hop.cause in _TELLING for hop in session.transitions):
        return None
    return ReplyOverride(render_lenient(turn.config(session, text), template_variables(session, turn)).text, SOURCE)


def settled(session: Session, turn: Turn) -> Session:
    """The session with the lifecycle in which the turn leaves it; every move is in the trail."""
    override = session.reply_override
    if override and override.source == returning.SOURCE:
        return returning.offered(session, turn) if turn.request.resolved == returning.OFFERED else session
    meant = _meaning(session)
    now = turn.ports.clock.now().isoformat()
    if end := _ENDS.get(meant):
        return moved(session, turn, end[0], end[1], {"reason": end[1], "at": now})
    session = running(session, turn, "reset" if session.reset_reason else meant.value.lower())
    mode = answered_in(session, turn)
    ends = truthy(session.input_params.get("session_complete_proposed"))
    if not ends:
        if override and override.source == SOURCE:
            return returning.waiting(session, turn, said(session), "unclear")
        if question := open_question(session, turn, mode):
            return returning.waiting(session, turn, question, "question")
    if ends or mode in PROPOSES_END:
        reason = "proposed_by_rule" if ends else f"mode_{str(mode).lower()}"
        return moved(session, turn, PENDING_COMPLETE, reason, {"summary": session.context_summary, "since": now})
    return session


def _meaning(session: Session) -> MessageIntent:
    return MessageIntent.read(session.input_params.get(meaning.PARAM)) or MessageIntent.CONTINUATION
