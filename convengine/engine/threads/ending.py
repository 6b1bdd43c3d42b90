"""The lifecycle at the end of a turn, and the text when a session ends."""

from convengine.engine.forms.asking import read_text_setting
from convengine.engine.prompts.chosen_text import choose_text
from convengine.engine.prompts.render import render_lenient
from convengine.engine.prompts.select import find_interaction
from convengine.engine.prompts.variables import build_variables
from convengine.engine.text.compare import truthy
from convengine.engine.threads import resume
from convengine.engine.threads import settings as catalogue
from convengine.engine.threads.lifecycle import (
    ABORTED,
    AWAITING_USER,
    COMPLETE,
    PENDING_COMPLETE,
    ensure_running,
    move_lifecycle,
)
from convengine.engine.threads.open_question import awaits_decision
from convengine.engine.turn.enums import InteractionMode, Lifecycle, MessageIntent
from convengine.engine.turn.live_settings import Setting
from convengine.engine.turn.payload import to_spoken_text
from convengine.engine.turn.session import ReplyOverride, Session
from convengine.engine.turn.turn import Turn

#: Modes of a template that ask something, and those that propose the end.
ASKS: frozenset[str] = frozenset({"COLLECT", "CONFIRM", "DISAMBIGUATE", "PENDING_ACTION"})
PROPOSES_END: frozenset[str] = frozenset({"FINAL", "REVIEW"})
#: Source of these answers.
SOURCE = "SESSION"
_TEXTS: dict[MessageIntent, Setting[str]] = {
    MessageIntent.CONFIRMATION: catalogue.CLOSING_TEXT,
    MessageIntent.ABANDON: catalogue.ABANDON_TEXT,
    MessageIntent.UNCLEAR: catalogue.UNCLEAR_TEXT,
}
#: Meanings that end the session: the lifecycle, and the reason.
_ENDS: dict[MessageIntent, tuple[Lifecycle, str]] = {
    MessageIntent.CONFIRMATION: (COMPLETE, "confirmed"),
    MessageIntent.ABANDON: (ABORTED, "abandoned"),
}
#: Causes of state changes that the configured answer must report.
_TELLING = frozenset({"RULE", "TASK"})


def choose_edge_reply(session: Session, turn: Turn) -> ReplyOverride | None:
    """The text instead of the configured answer when a session ends or a message is unclear; never on the plain turn
    API.

    Returns None when the configured answer must report something: an action ran, or a rule changed the state.
    """
    text = (
        _TEXTS.get(_read_message_intent(session)) if turn.request.resolved and session.reply_override is None else None
    )
    ran = session.action.pending_action_result in ("EXECUTED", "FAILED")
    if text is None or ran or any(hop.cause in _TELLING for hop in session.transitions):
        return None
    template = choose_text(session, turn, read_text_setting(session, turn, text))
    return ReplyOverride(render_lenient(template, build_variables(session, turn)).text, SOURCE)


def apply_end_of_turn(session: Session, turn: Turn) -> Session:
    """The session with its lifecycle at the end of the turn; every move is recorded."""
    override = session.reply_override
    if override and override.source == resume.SOURCE:
        return resume.await_offer(session, turn) if turn.request.resolved == resume.OFFERED else session
    meaning = _read_message_intent(session)
    now = turn.ports.clock.now().isoformat()
    mode = find_interaction_mode(session, turn)
    if end := _find_end(session, turn, meaning, mode):
        return move_lifecycle(session, turn, end[0], end[1], {"reason": end[1], "at": now})
    if session.only_digresses and session.lifecycle == AWAITING_USER and session.digression:
        # The question stays open: the message was no answer to it.
        question = session.digression.question or session.lifecycle_detail.get("question")
        return session.evolve(lifecycle_detail={**session.lifecycle_detail, "question": question})
    session = ensure_running(session, turn, "reset" if session.reset_reason else meaning.value.lower())
    if truthy(session.rules.session_complete_proposed):
        return _propose_end(session, turn, "proposed_by_rule", now)
    if override and override.source == SOURCE:
        return resume.await_user(session, turn, to_spoken_text(session.last_assistant), "unclear")
    if question := find_open_question(session, turn, mode):
        return resume.await_user(session, turn, question, "question")
    return _propose_end(session, turn, f"mode_{str(mode).lower()}", now) if mode in PROPOSES_END else session


def _propose_end(session: Session, turn: Turn, reason: str, now: str) -> Session:
    return move_lifecycle(session, turn, PENDING_COMPLETE, reason, {"summary": session.context_summary, "since": now})


def _find_end(session: Session, turn: Turn, meaning: MessageIntent, mode: str | None) -> tuple[Lifecycle, str] | None:
    """The lifecycle and the reason of a message that ends the session. What still asks something does not end."""
    override = session.reply_override
    is_told = override is not None and override.source == SOURCE
    return _ENDS.get(meaning) if is_told or not find_open_question(session, turn, mode) else None


def _read_message_intent(session: Session) -> MessageIntent:
    return MessageIntent.read(session.dialogue.message_intent) or MessageIntent.CONTINUATION


def find_open_question(session: Session, turn: Turn, mode: str | None) -> str | None:
    """The question at the end of the turn. Returns None if nothing is asked.

    `mode` comes from `find_interaction_mode`.
    """
    if session.clarification:
        return session.clarification.question
    if session.digression and session.digression.question:
        # The question that was open before the message; the mode of the state need not say so.
        return session.digression.question
    asks = session.form_question or session.missing_required_fields or mode in ASKS or awaits_decision(session, turn)
    if not asks:
        return None
    answer = to_spoken_text(session.last_assistant)
    # An answer may say more than the question of its form.
    return session.form_question if session.form_question and session.form_question in answer else answer


def find_interaction_mode(session: Session, turn: Turn) -> str | None:
    """The interaction mode of the answer's template. Returns None when a row did not answer, or there is no mode."""
    if session.reply_override is not None:
        return None
    row = find_interaction(turn.snapshot, session.intent, session.state)
    mode = InteractionMode.read(row.interaction_mode) if row else None
    return mode.value if mode else None
