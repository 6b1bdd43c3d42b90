"""How a session continues after a pause, an interruption, or its end."""

from collections.abc import Mapping

from convengine.engine.forms.asking import read_text_setting
from convengine.engine.forms.user_answer import says_only
from convengine.engine.prompts.chosen_text import choose_text
from convengine.engine.prompts.render import render_lenient
from convengine.engine.prompts.variables import build_variables
from convengine.engine.threads import settings as catalogue
from convengine.engine.threads.lifecycle import (
    AWAITING_USER,
    CLOSED,
    INTERRUPTED,
    PENDING_COMPLETE,
    RUNNING,
    find_moves,
    move_lifecycle,
    step_lifecycle,
)
from convengine.engine.threads.message_intent import is_one_of
from convengine.engine.turn.enums import Lifecycle
from convengine.engine.turn.live_settings import Setting
from convengine.engine.turn.owned_params import DialogueParams
from convengine.engine.turn.payload import to_spoken_text
from convengine.engine.turn.session import ReplyOverride, Session
from convengine.engine.turn.turn import Turn
from convengine.engine.understanding.moves import MoveKind
from convengine.json_value import Json

OFFERED = "resume_offered"
EXPLICIT_RESET = "explicit_reset"
STALE = "stale"
#: Source of these answers.
SOURCE = "RESUME"
#: The two replies that an offer names; any other text counts as the first, and is then processed.
OPTIONS = ("continue", "start fresh")
#: The text of the offer, by lifecycle.
_TEXTS: dict[str, Setting[str]] = {
    AWAITING_USER: catalogue.RESUME_TEXT_AWAITING_USER,
    PENDING_COMPLETE: catalogue.RESUME_TEXT_PENDING_COMPLETE,
    RUNNING: catalogue.RESUME_TEXT_RUNNING,
    INTERRUPTED: catalogue.RESUME_TEXT_RUNNING,
}
#: Session fields that `resume_session` may change.
RETURNING_FIELDS = frozenset({"lifecycle", "lifecycle_detail", "dialogue", "reply_override", "reset_only"})


def resume_session(session: Session, turn: Turn) -> Session:
    """The session at the start of a turn that does not simply continue."""
    if session.lifecycle in CLOSED:
        return step_lifecycle(session, turn, RUNNING, "reopened")
    if session.lifecycle == INTERRUPTED and (text := session.lifecycle_detail.get("interrupted_user_message")):
        session = session.with_values(DialogueParams(interrupted_user_message=text))
    if turn.request.resolved == OFFERED:
        return _override_reply(session, _build_offer(session, turn))
    if "resume" in session.lifecycle_detail and turn.request.resolved != EXPLICIT_RESET:
        return _restore_lifecycle(session, turn)
    return session


def await_offer(session: Session, turn: Turn) -> Session:
    """The session at the end of a turn with the offer: it waits for the user, and remembers its earlier lifecycle."""
    return await_user(
        session,
        turn,
        to_spoken_text(session.last_assistant),
        OFFERED,
        resume=_read_offered_state(session, turn),
        options=list(OPTIONS),
    )


def await_user(session: Session, turn: Turn, question: str, reason: str, **more: Json) -> Session:
    """The session in AWAITING_USER with its question, through RUNNING if necessary."""
    for step in find_moves(session.lifecycle, AWAITING_USER)[:-1] or (
        [RUNNING] if session.lifecycle == AWAITING_USER else []
    ):
        session = move_lifecycle(session, turn, step, reason)
    asked_at = turn.ports.clock.now().isoformat()
    return move_lifecycle(session, turn, AWAITING_USER, reason, {"question": question, "asked_at": asked_at, **more})


def _read_offered_state(session: Session, turn: Turn) -> Mapping[str, Json]:
    """The lifecycle before the offer; an unanswered offer does not count."""
    if earlier := session.lifecycle_detail.get("resume"):
        return earlier  # type: ignore[no-any-return]
    last_said = to_spoken_text(turn.ports.conversations.load().conversation.last_assistant_json)
    return {"lifecycle": session.lifecycle, "detail": dict(session.lifecycle_detail), "said": last_said}


def _build_offer(session: Session, turn: Turn) -> str:
    """The text that offers to resume, by the lifecycle before it."""
    stood = _read_offered_state(session, turn)
    text, detail = read_text_setting(session, turn, _TEXTS[stood["lifecycle"]]), stood["detail"]
    summary = detail.get("summary") or session.context_summary
    about = {"question": detail.get("question") or stood["said"], "summary": summary}
    return render_lenient(choose_text(session, turn, text), build_variables(session, turn, **about)).text


def _restore_lifecycle(session: Session, turn: Turn) -> Session:
    """The lifecycle before the offer; a bare "continue" gets the last answer again."""
    stood = session.lifecycle_detail["resume"]
    end, detail = Lifecycle(stood["lifecycle"]), stood["detail"]
    for step in (RUNNING, *find_moves(RUNNING, Lifecycle.RUNNING if end == INTERRUPTED else end)):
        session = move_lifecycle(session, turn, step, "resumed", detail if step == end else {})
    if stood["said"] and (is_one_of(session.user_text, OPTIONS[:1]) or says_only(session, turn, MoveKind.STAY)):
        return _override_reply(session, stood["said"])
    return session


def _override_reply(session: Session, text: str) -> Session:
    """Nothing of the message is interpreted in this turn."""
    return session.evolve(reply_override=ReplyOverride(text, SOURCE), reset_only=True)
