"""Whether nobody understood the message (R111)."""

from collections.abc import Mapping
from dataclasses import replace

from convengine.engine.forms.asking import is_small_talk
from convengine.engine.forms.settings import MAX_MISSES
from convengine.engine.steps.responses.stages import HAND_OVER_OFFERED, NOT_UNDERSTOOD
from convengine.engine.text.compare import blank, code
from convengine.engine.turn.dialogue_state import DialogueState
from convengine.engine.turn.enums import PolicyDecision, ResponseType, RoutingDecision
from convengine.engine.turn.rows import Response
from convengine.engine.turn.session import Session
from convengine.engine.turn.turn import Turn

#: Params of this turn that say that an action, a tool or a planner dealt with the message.
_ANSWERED_BY = ("pending_action_result", "mcp_action", "form_leave")
#: Routes and decisions that leave the message to be understood.
_OPEN_ROUTES = (None, RoutingDecision.HANDLE_AS_ANSWER, RoutingDecision.CONTINUE_STANDARD_FLOW)
_OPEN_DECISIONS = (None, PolicyDecision.RECLASSIFY_INTENT, PolicyDecision.FILL_PENDING_SLOT)


def is_not_understood(session: Session, answer: Response | None) -> bool:
    """True when nothing in this turn took the message up. `answer` is the row that would answer."""
    read = session.fields_read
    params = session.input_params
    return not (
        blank(session.user_text)
        or session.intent_source
        or session.digression
        or (read and (read.read or read.refused))
        or session.transitions
        or any(params.get(key) is not None for key in _ANSWERED_BY)
        or _has_new_tool_result(session)
        or params.get("routing_decision") not in _OPEN_ROUTES
        or session.interaction_decision not in _OPEN_DECISIONS
        or session.reset_reason
        or session.clarification
        or session.reply_override
        or is_small_talk(session)
        or (answer is not None and code(answer.response_type) == ResponseType.DERIVED)
    )


def _has_new_tool_result(session: Session) -> bool:
    """True when a tool was called for this message; a stored result of an earlier call (`run_once`) answers nothing."""
    result = session.input_params.get("tool_result")
    reused = isinstance(result, Mapping) and result.get("reused") is True
    return session.input_params.get("tool_status") is not None and not reused


def count_not_understood(session: Session, turn: Turn, not_understood: bool) -> Session:
    """The session with the number of such messages in a row, and with the facts; writes NOT_UNDERSTOOD."""
    state = DialogueState.of(session)
    if not not_understood:
        return replace(state, not_understood_count=0).store(session)
    count = state.not_understood_count + 1
    turn.audit(session, NOT_UNDERSTOOD, count=count, asked_field=state.asked_field)
    session = replace(state, not_understood_count=count).store(session)
    return session.with_params({"not_understood": True, "not_understood_count": count})


def offers_hand_over(session: Session, turn: Turn) -> bool:
    """True outside of forms when too many messages in a row were not understood."""
    return DialogueState.of(session).not_understood_count >= turn.config(session, MAX_MISSES)


def offer_hand_over(session: Session, turn: Turn) -> Session:
    """The session after the offer, which begins to count again; writes HAND_OVER_OFFERED."""
    state = DialogueState.of(session)
    turn.audit(session, HAND_OVER_OFFERED, count=state.not_understood_count)
    return replace(state, not_understood_count=0).store(session)
