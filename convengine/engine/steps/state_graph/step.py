"""StateGraphStep: check the moves of this turn."""

from typing import Any

from convengine.engine.pipeline.step import Continue, Step
from convengine.engine.state_graph.allowed_moves import (
    ON_VIOLATION,
    STATE_GRAPH_ENABLED,
    GraphVerdict,
    Hop,
    judge_moves,
)
from convengine.engine.text.compare import code
from convengine.engine.turn.owned_params import RoutingParams
from convengine.engine.turn.session import Session
from convengine.engine.turn.stage import Family, SentenceTemplate, Tone, declare_stage
from convengine.engine.turn.turn import Turn

STATE_GRAPH_VALID = declare_stage(
    "STATE_GRAPH_VALID",
    Family.RULE,
    "The state changed as the graph allows.",
    steps="StateGraphStep",
    keys="fromState toState intent path validateOnly allowed",
)
STATE_GRAPH_VIOLATION = declare_stage(
    "STATE_GRAPH_VIOLATION",
    Family.RULE,
    "The state changed in a way that the graph does not allow.",
    steps="StateGraphStep",
    keys="fromState toState intent path validateOnly allowed softBlock reason",
    sentences=(
        SentenceTemplate("The state graph does not allow the move from {fromState} to {toState}.", tone=Tone.WARNING),
    ),
)
STATE_GRAPH_REVERTED = declare_stage(
    "STATE_GRAPH_REVERTED",
    Family.RULE,
    "A move that the graph does not allow was taken back.",
    steps="StateGraphStep",
    keys="fromIntent toIntent fromState toState",
    sentences=(SentenceTemplate("Reverted the move from {fromState} to {toState}.", tone=Tone.WARNING),),
)


class StateGraphStep(Step):
    """Check the moves and report them; only ON_VIOLATION = REVERT undoes any."""

    after = ("RulesStep",)
    rank = 2300
    requires_persisted = True
    writes = frozenset({"intent", "state", "transitions", "routing"})

    def find_idle_reason(self, session: Session, turn: Turn) -> str | None:
        if session.reset_only:
            return "the message only starts over"
        if not turn.config(session, STATE_GRAPH_ENABLED):
            return "the state graph is switched off"
        is_unmoved = (session.intent, session.state) == (session.turn_start_intent, session.turn_start_state)
        return "intent and state did not change" if is_unmoved and not session.transitions else None

    def execute(self, session: Session, turn: Turn) -> Continue:
        """Write VALID or VIOLATION, and nothing if nothing moved within an intent."""
        verdict = judge_moves(session, turn.snapshot)
        if not verdict.checked:
            return Continue(session)
        if bad := verdict.first_violation:
            return Continue(_report_violation(session, turn, verdict, bad))
        session = session.with_values(RoutingParams(state_graph_valid=True))
        turn.audit(session, STATE_GRAPH_VALID, **_describe_path(session, verdict), validateOnly=True, allowed=True)
        return Continue(session)


def _report_violation(session: Session, turn: Turn, verdict: GraphVerdict, bad: Hop) -> Session:
    """Record the first move that the graph does not allow, and act on it as ON_VIOLATION says."""
    mode = turn.config(session, ON_VIOLATION)
    soft = mode == "SOFT_BLOCK"
    reason = f"NO_EDGE:{bad.from_state}->{bad.to_state}"
    session = session.with_values(RoutingParams(state_graph_valid=False, state_graph_reason=reason))
    if soft:
        session = session.with_values(RoutingParams(state_graph_soft_block=True))
    turn.audit(
        session,
        STATE_GRAPH_VIOLATION,
        **_describe_path(session, verdict),
        validateOnly=mode != "REVERT",
        allowed=False,
        softBlock=soft,
        reason=reason,
    )
    if mode != "REVERT":
        return session
    # The answer is that of the old state.
    reverted = session.move_to(intent=session.turn_start_intent, state=session.turn_start_state, cause="STATE_GRAPH")
    turn.audit(
        reverted,
        STATE_GRAPH_REVERTED,
        fromIntent=session.intent,
        toIntent=reverted.intent,
        fromState=session.state,
        toState=reverted.state,
    )
    return reverted


def _describe_path(session: Session, verdict: GraphVerdict) -> dict[str, Any]:
    return {
        "fromState": verdict.path[0].from_state,
        "toState": code(session.state),
        "intent": session.intent,
        "path": [hop.to_json() for hop in verdict.path],
    }
