"""What remains of the turn's model budget: calls, time, tokens, money (R85)."""

from convengine.engine.llm import settings as catalogue
from convengine.engine.llm.faults import ModelFault
from convengine.engine.turn.live_settings import Setting
from convengine.engine.turn.session import Session
from convengine.engine.turn.turn import Turn


def find_exceeded(session: Session, turn: Turn) -> ModelFault | None:
    """The exhausted budget, or null. Time comes from the calls themselves, so that a replay counts the same."""
    spent: tuple[tuple[Setting[int], int], ...] = (
        (catalogue.MAX_CALLS_PER_TURN, len(turn.model_calls)),
        (catalogue.MAX_MS_PER_TURN, count_used_ms(turn)),
        (catalogue.MAX_TOKENS_PER_TURN, _count_tokens(turn)),
    )
    for setting, used in spent:
        limit = turn.config(session, setting)
        # A token limit of 0 means no limit; the other two are at least 1.
        if limit and used >= limit:
            return _build_fault(setting.name, limit, used)
    return _find_money_fault(session, turn)


def count_calls_left(session: Session, turn: Turn) -> int:
    """How many attempts this turn may still make."""
    return turn.config(session, catalogue.MAX_CALLS_PER_TURN) - len(turn.model_calls)


def count_ms_left(session: Session, turn: Turn) -> int:
    """How many milliseconds the model calls of this turn may still take."""
    return turn.config(session, catalogue.MAX_MS_PER_TURN) - count_used_ms(turn)


def count_used_ms(turn: Turn) -> int:
    """How many milliseconds the model calls of this turn took."""
    return sum(call.answer.latency_ms for call in turn.model_calls)


def _count_tokens(turn: Turn) -> int:
    answers = [call.answer for call in turn.model_calls]
    return sum((answer.input_tokens or 0) + (answer.output_tokens or 0) for answer in answers)


def _find_money_fault(session: Session, turn: Turn) -> ModelFault | None:
    limit = turn.config(session, catalogue.MAX_COST_PER_CONVERSATION)
    if not limit:
        return None
    # Only with a limit, because it costs a database query.
    earlier = turn.ports.model.sum_cost(session.conversation_id)
    used = earlier + sum(call.answer.cost or 0.0 for call in turn.model_calls)
    return _build_fault(catalogue.MAX_COST_PER_CONVERSATION.name, limit, used) if used >= limit else None


def _build_fault(name: str, limit: float, used: float) -> ModelFault:
    return ModelFault("LLM_BUDGET_EXCEEDED", f"{name} is {limit:g}, and {used:g} is used. Raise it, or ask less often.")
