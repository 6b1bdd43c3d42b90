"""What models may still be asked in a turn (R85): calls, time, tokens, money."""

from convengine.domain.catalogue import llm as catalogue
from convengine.domain.session import Session
from convengine.domain.settings import Setting
from convengine.domain.turn import Turn
from convengine.llm.faults import ModelFault


def exceeded(session: Session, turn: Turn) -> ModelFault | None:
    """The budget that is spent, or null. Time is what the calls took, as they told it: a replay counts the same."""
    spent: tuple[tuple[Setting[int], int], ...] = (
        (catalogue.MAX_CALLS_PER_TURN, len(turn.model_calls)),
        (catalogue.MAX_MS_PER_TURN, used_ms(turn)),
        (catalogue.MAX_TOKENS_PER_TURN, _tokens(turn)),
    )
    for setting, used in spent:
        limit = turn.config(session, setting)
        # No limit on tokens is 0; the other two are at least 1.
        if limit and used >= limit:
            return _fault(setting.name, limit, used)
    return _money(session, turn)


def calls_left(session: Session, turn: Turn) -> int:
    """How many tries this turn may still make."""
    return turn.config(session, catalogue.MAX_CALLS_PER_TURN) - len(turn.model_calls)


def ms_left(session: Session, turn: Turn) -> int:
    """How long the calls of this turn may still take."""
    return turn.config(session, catalogue.MAX_MS_PER_TURN) - used_ms(turn)


def used_ms(turn: Turn) -> int:
    """How long the calls of this turn took."""
    return sum(call.answer.latency_ms for call in turn.model_calls)


def _tokens(turn: Turn) -> int:
    answers = [call.answer for call in turn.model_calls]
    return sum((answer.input_tokens or 0) + (answer.output_tokens or 0) for answer in answers)


def _money(session: Session, turn: Turn) -> ModelFault | None:
    limit = turn.config(session, catalogue.MAX_COST_PER_CONVERSATION)
    if not limit:
        return None
    # Asked only where there is a limit: it is a question to the database.
    earlier = turn.ports.model.spent(session.conversation_id)
    used = earlier + sum(call.answer.cost or 0.0 for call in turn.model_calls)
    return _fault(catalogue.MAX_COST_PER_CONVERSATION.name, limit, used) if used >= limit else None


def _fault(name: str, limit: float, used: float) -> ModelFault:
    return ModelFault("LLM_BUDGET_EXCEEDED", f"{name} is {limit:g}, and {used:g} is used. Raise it, or ask less often.")
