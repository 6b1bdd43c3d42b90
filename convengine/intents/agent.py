"""The intent agent: a model that chooses among the allowed intents (pipeline-1 14.5).

Without a model it is skipped, and says why (law 6, R45).
"""

from convengine.domain.session import Session
from convengine.domain.stages import Stage
from convengine.domain.text import blank
from convengine.domain.turn import Turn


def skipped(session: Session, turn: Turn) -> None:
    """Tell why the agent is not asked: nothing to choose from, or nobody to ask (A1, R45)."""
    if blank(session.user_text):
        return
    reason = "LLM_NOT_CONFIGURED" if turn.snapshot.allowed_intents else "no allowed intents"
    turn.audit(session, Stage.INTENT_AGENT_SKIPPED, reason=reason)
