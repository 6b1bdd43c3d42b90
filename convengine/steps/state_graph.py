"""StateGraphStep: were the moves of this turn allowed? (pipeline-2 8)."""

from typing import Any

from convengine.domain.catalogue.response import ON_VIOLATION, STATE_GRAPH_ENABLED
from convengine.domain.outcome import Continue
from convengine.domain.session import Session
from convengine.domain.stages import Stage
from convengine.domain.text import code
from convengine.domain.turn import Turn
from convengine.pipeline.step import Step
from convengine.state_graph.moves import Hop, Verdict, judged


class StateGraphStep(Step):
    """Report; only ON_VIOLATION = REVERT takes anything back."""

    after = ("RulesStep",)
    rank = 2300
    requires_persisted = True
    writes = frozenset({"intent", "state", "transitions", "input_params"})

    def execute(self, session: Session, turn: Turn) -> Continue:
        """Say VALID or VIOLATION, and nothing when nothing moved within an intent."""
        if session.reset_only or not turn.config(session, STATE_GRAPH_ENABLED):
            return Continue(session)
        verdict = judged(session, turn.snapshot)
        if not verdict.checked:
            return Continue(session)
        if bad := verdict.bad:
            return Continue(_violated(session, turn, verdict, bad))
        session = session.with_params({"state_graph_valid": True})
        turn.audit(session, Stage.STATE_GRAPH_VALID, **_told(session, verdict), validateOnly=True, allowed=True)
        return Continue(session)


def _violated(session: Session, turn: Turn, verdict: Verdict, bad: Hop) -> Session:
    mode = turn.config(session, ON_VIOLATION)
    soft = mode == "SOFT_BLOCK"
    reason = f"NO_EDGE:{bad.from_state}->{bad.to_state}"
    session = session.with_params(
        {
            "state_graph_valid": False,
            "state_graph_reason": reason,
            **({"state_graph_soft_block": True} if soft else {}),
        }
    )
    turn.audit(
        session,
        Stage.STATE_GRAPH_VIOLATION,
        **_told(session, verdict),
        validateOnly=mode != "REVERT",
        allowed=False,
        softBlock=soft,
        reason=reason,
    )
    return _reverted(session, turn) if mode == "REVERT" else session


def _reverted(session: Session, turn: Turn) -> Session:
    """Intent and state as the turn found them, so that the answer is that of the old state."""
    back = session.moved(intent=session.turn_start_intent, state=session.turn_start_state, cause="STATE_GRAPH")
    turn.audit(
        back,
        Stage.STATE_GRAPH_REVERTED,
        fromIntent=session.intent,
        toIntent=back.intent,
        fromState=session.state,
        toState=back.state,
    )
    return back


def _told(session: Session, verdict: Verdict) -> dict[str, Any]:
    return {
        "fromState": verdict.path[0].from_state,
        "toState": code(session.state),
        "intent": session.intent,
        "path": [hop.stored() for hop in verdict.path],
    }
