"""How a session is met again: after a pause, after an interruption, after its end (sessions 5 and 6; R39, R80)."""

from collections.abc import Mapping
from typing import Any

from convengine.continuity.lifecycle import (
    AWAITING_USER,
    CLOSED,
    INTERRUPTED,
    PENDING_COMPLETE,
    RUNNING,
    moved,
    stepped,
    way,
)
from convengine.continuity.open_matters import said
from convengine.continuity.phrases import is_one_of
from convengine.domain.catalogue import session as catalogue
from convengine.domain.enums import Lifecycle
from convengine.domain.session import ReplyOverride, Session
from convengine.domain.settings import Setting
from convengine.domain.turn import Turn
from convengine.prompts.render import render_lenient
from convengine.prompts.variables import template_variables

Json = Any
OFFERED = "resume_offered"
EXPLICIT_RESET = "explicit_reset"
STALE = "stale"
#: Source of the answers given here.
SOURCE = "RESUME"
#: The two ways on that an offer names; any other text counts as the first, and is then processed.
OPTIONS = ("continue", "start fresh")
_CONTINUE = ("continue", "go on", "continue please", "please continue")
#: The text that presents where things stood, by what was found.
_TEXTS: dict[str, Setting[str]] = {
    AWAITING_USER: catalogue.RESUME_TEXT_AWAITING_USER,
    PENDING_COMPLETE: catalogue.RESUME_TEXT_PENDING_COMPLETE,
    RUNNING: catalogue.RESUME_TEXT_RUNNING,
    INTERRUPTED: catalogue.RESUME_TEXT_RUNNING,
}
#: Session fields that `met` may change.
RETURNING_FIELDS = frozenset({"lifecycle", "lifecycle_detail", "input_params", "reply_override", "reset_only"})


def met(session: Session, turn: Turn) -> Session:
    """The session as the message finds it, when it is not simply going on."""
    if session.lifecycle in CLOSED:
        return stepped(session, turn, RUNNING, "reopened")
    if session.lifecycle == INTERRUPTED and (text := session.lifecycle_detail.get("interrupted_user_message")):
        session = session.with_params({"interrupted_user_message": text})
    if turn.request.resolved == OFFERED:
        return _answered(session, _presented(session, turn))
    if "resume" in session.lifecycle_detail and turn.request.resolved != EXPLICIT_RESET:
        return _resumed(session, turn)
    return session


def offered(session: Session, turn: Turn) -> Session:
    """The session at the end of a turn that made the offer: it waits for the user, and knows where it stood."""
    return waiting(session, turn, said(session), OFFERED, resume=_stood(session, turn), options=list(OPTIONS))


def waiting(session: Session, turn: Turn, question: str, reason: str, **more: Json) -> Session:
    """The session AWAITING_USER with what it asks, by way of RUNNING where it has to."""
    for step in way(session.lifecycle, AWAITING_USER)[:-1] or ([RUNNING] if session.lifecycle == AWAITING_USER else []):
        session = moved(session, turn, step, reason)
    asked_at = turn.ports.clock.now().isoformat()
    return moved(session, turn, AWAITING_USER, reason, {"question": question, "asked_at": asked_at, **more})


def _stood(session: Session, turn: Turn) -> Mapping[str, Json]:
    """Where the session stood before it was offered to go on; an offer that nobody answered is no place to stand."""
    if earlier := session.lifecycle_detail.get("resume"):
        return earlier  # type: ignore[no-any-return]
    last_said = said(Session("", last_assistant=turn.ports.conversations.load().conversation.last_assistant_json))
    return {"lifecycle": session.lifecycle, "detail": dict(session.lifecycle_detail), "said": last_said}


def _presented(session: Session, turn: Turn) -> str:
    stood = _stood(session, turn)
    text, detail = turn.config(session, _TEXTS[stood["lifecycle"]]), stood["detail"]
    summary = detail.get("summary") or session.context_summary
    about = {"question": detail.get("question") or stood["said"], "summary": summary}
    return render_lenient(text, template_variables(session, turn, **about)).text


def _resumed(session: Session, turn: Turn) -> Session:
    """Where the session stood before the offer; a bare "continue" is answered with what was said last."""
    stood = session.lifecycle_detail["resume"]
    end, detail = Lifecycle(stood["lifecycle"]), stood["detail"]
    for step in (RUNNING, *way(RUNNING, Lifecycle.RUNNING if end == INTERRUPTED else end)):
        session = moved(session, turn, step, "resumed", detail if step == end else {})
    bare = is_one_of(session.user_text, _CONTINUE) and stood["said"]
    return _answered(session, stood["said"]) if bare else session


def _answered(session: Session, text: str) -> Session:
    """Nothing of the message is interpreted in this turn."""
    return session.evolve(reply_override=ReplyOverride(text, SOURCE), reset_only=True)
