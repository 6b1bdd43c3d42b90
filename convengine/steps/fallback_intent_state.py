"""FallbackIntentStateStep: rules and responses always find an intent and a state (pipeline-1 16)."""

from typing import Any

from convengine.domain.outcome import Continue
from convengine.domain.scope import UNKNOWN
from convengine.domain.session import Session
from convengine.domain.stages import Stage
from convengine.domain.text import blank, code
from convengine.domain.turn import Turn
from convengine.pipeline.step import Step


class FallbackIntentStateStep(Step):
    """Fill a missing intent or state with UNKNOWN, and say so; say too when nothing was understood."""

    after = ("ResetResolvedIntentStep",)
    rank = 1500
    requires_persisted = True
    writes = frozenset({"intent", "state"})

    def execute(self, session: Session, turn: Turn) -> Continue:
        """Values before the fill-in go into the events."""
        before: dict[str, Any] = {
            "intent": session.intent,
            "state": session.state,
            "context": session.context,
            "userText": session.user_text,
        }
        filled = session
        if blank(session.intent):
            turn.audit(session, Stage.INTENT_MISSING, **before, fallbackIntent=UNKNOWN)
            filled = filled.evolve(intent=UNKNOWN)
        if blank(session.state):
            turn.audit(session, Stage.STATE_MISSING, **before, fallbackState=UNKNOWN)
            filled = filled.evolve(state=UNKNOWN)
        if code(filled.intent) == UNKNOWN and not filled.reset_only:
            turn.audit(filled, Stage.INTENT_UNRESOLVED, userText=filled.user_text, reason="NO_INTENT_MATCHED")
        return Continue(filled)
