"""Whether nobody understood the message, and the offer of a person after too many of them."""

from collections.abc import Mapping

from convengine.engine.forms.settings import MAX_MISSES
from convengine.engine.forms.user_answer import says_only
from convengine.engine.llm.faults import ModelFault
from convengine.engine.steps.responses.stages import HAND_OVER_OFFERED, NOT_UNDERSTOOD
from convengine.engine.text.compare import blank, code
from convengine.engine.turn.dialogue_state import DialogueState, update_dialogue
from convengine.engine.turn.enums import PolicyDecision, ResponseType, RoutingDecision
from convengine.engine.turn.owned_params import DialogueParams
from convengine.engine.turn.rows import Response
from convengine.engine.turn.session import Session
from convengine.engine.turn.turn import Turn
from convengine.engine.understanding.moves import MoveKind

#: Routes and decisions that leave the message to be understood.
_OPEN_ROUTES = (None, RoutingDecision.HANDLE_AS_ANSWER, RoutingDecision.CONTINUE_STANDARD_FLOW)
_OPEN_DECISIONS = (None, PolicyDecision.RECLASSIFY_INTENT, PolicyDecision.FILL_PENDING_SLOT)


def is_not_understood(session: Session, turn: Turn, answer: Response | None) -> bool:
    """True when nothing in this turn took the message up. `answer` is the row that would answer."""
    if blank(session.user_text) or _is_taken_up(session):
        return False
    if says_only(session, turn, MoveKind.GREET, MoveKind.THANK, MoveKind.WAIT):
        return False
    return answer is None or code(answer.response_type) != ResponseType.DERIVED


def _is_taken_up(session: Session) -> bool:
    """True when an intent, a form, an action, a tool, a rule or a question took the message up."""
    read, result = session.fields_read, session.tools.tool_result
    # A stored result of an earlier call (`run_once`) answers nothing.
    is_reused = isinstance(result, Mapping) and result.get("reused") is True
    return any(
        (
            session.intent_source,
            session.digression,
            (*read.read, *read.refused, *read.offered, *read.said_again),
            session.transitions,
            session.action.pending_action_result is not None,
            session.tools.mcp_action is not None,
            session.form.form_leave is not None,
            session.tools.tool_status is not None and not is_reused,
            session.routing.routing_decision not in _OPEN_ROUTES,
            session.interaction_decision not in _OPEN_DECISIONS,
            session.reset_reason,
            session.clarification,
            session.reply_override,
        )
    )


def lacks_model(turn: Turn) -> bool:
    """True when the last model call of the turn failed with a fault that may pass."""
    fault = turn.model_calls[-1].answer.error_code if turn.model_calls else None
    return fault is not None and ModelFault(fault, "").recoverable


def count_not_understood(session: Session, turn: Turn, not_understood: bool) -> Session:
    """The session with the number of messages in a row that were not understood; 0 after one that was.

    One that was not also sets the facts for rules and writes NOT_UNDERSTOOD.
    """
    if not not_understood:
        return update_dialogue(session, not_understood_count=0)
    state = DialogueState.of(session)
    count = state.not_understood_count + 1
    turn.audit(session, NOT_UNDERSTOOD, count=count, asked_field=state.asked_field)
    session = update_dialogue(session, not_understood_count=count)
    return session.with_values(DialogueParams(not_understood=True, not_understood_count=count))


def offers_hand_over(session: Session, turn: Turn) -> bool:
    """True when too many messages in a row were not understood."""
    return DialogueState.of(session).not_understood_count >= turn.config(session, MAX_MISSES)


def offer_hand_over(session: Session, turn: Turn) -> Session:
    """The session after the offer, which begins to count again; writes HAND_OVER_OFFERED."""
    turn.audit(session, HAND_OVER_OFFERED, count=DialogueState.of(session).not_understood_count)
    return update_dialogue(session, not_understood_count=0)
