"""FallbackIntentStateStep: rules and answers always have an intent and a state (pipeline-1 16)."""

from typing import Any

from convengine.engine.pipeline.step import Continue, Step
from convengine.engine.steps.intents.stages import INTENT_MISSING, INTENT_UNRESOLVED, STATE_MISSING
from convengine.engine.text.compare import blank, code
from convengine.engine.turn.scope import UNKNOWN
from convengine.engine.turn.session import Session
from convengine.engine.turn.turn import Turn


class FallbackIntentStateStep(Step):
    """Set a missing intent or state to UNKNOWN, and record it."""

    after = ("ResetResolvedIntentStep",)
    rank = 1500
    requires_persisted = True
    writes = frozenset({"intent", "state"})

    def execute(self, session: Session, turn: Turn) -> Continue:
        """The events have the values before that."""
        before: dict[str, Any] = {
            "intent": session.intent,
            "state": session.state,
            "context": session.context,
            "userText": session.user_text,
        }
        filled = session
        if blank(session.intent):
            turn.audit(session, INTENT_MISSING, **before, fallbackIntent=UNKNOWN)
            filled = filled.evolve(intent=UNKNOWN)
        if blank(session.state):
            turn.audit(session, STATE_MISSING, **before, fallbackState=UNKNOWN)
            filled = filled.evolve(state=UNKNOWN)
        if code(filled.intent) == UNKNOWN and not filled.reset_only:
            turn.audit(filled, INTENT_UNRESOLVED, userText=filled.user_text, reason="NO_INTENT_MATCHED")
        return Continue(filled)
