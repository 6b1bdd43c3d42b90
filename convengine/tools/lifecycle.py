"""What the context and the params tell of the planner, cleared and written anew each turn (pipeline-2 4.1, 4.5)."""

from convengine.domain.params import PARAMS
from convengine.domain.session import Session
from convengine.domain.stages import Stage
from convengine.domain.turn import Turn
from convengine.tools.gate import Skip
from convengine.tools.outcome import BY_GUARDRAIL, mcp_branch

_PARAMS = tuple(key for key in PARAMS if key.startswith("mcp_"))


def cleared(session: Session, turn: Turn) -> Session:
    """The session without what earlier turns left of tools, but for a digest of how the last run ended.

    A direct call of this turn stays: rules look at it. So does one that `run_once` found still good.
    """
    branch = mcp_branch(session)
    kept = {"toolExecution"} if session.input_params.get("tool_status") not in (None, BY_GUARDRAIL) else set()
    old = {key: value for key, value in branch.items() if key not in kept}
    stale = [key for key in _PARAMS if key in session.input_params]
    if not old and not stale:
        return session
    lifecycle = old.get("lifecycle")
    left = {key: branch[key] for key in kept & branch.keys()}
    if isinstance(lifecycle, dict):
        left["previous"] = {key: lifecycle.get(key) for key in ("status", "outcome", "error", "lastToolCode", "turnId")}
    session = session.without_params(*stale).without_context("mcp")
    session = session.with_context({"mcp": left}) if left else session
    turn.audit(session, Stage.MCP_CONTEXT_CLEARED)
    return session


def skipped(session: Session, turn: Turn, skip: Skip) -> Session:
    """The session saying that no planner was asked, and why. A turn that only resets leaves the context empty."""
    if skip.status is not None:
        session = session.with_params({"mcp_status": skip.status})
    if not session.reset_only:
        state = lifecycle(turn, skip.status, skip.outcome)
        session = session.with_context({"mcp": {**mcp_branch(session), "lifecycle": state}})
    where = {"intent": session.intent, "state": session.state}
    if skip.stage:
        turn.audit(session, skip.stage, **where, **skip.about)
    turn.audit(session, Stage.MCP_SKIPPED, status=skip.status, reason=skip.reason, **where)
    return session


def lifecycle(
    turn: Turn,
    status: object,
    outcome: str,
    *,
    finished: bool = True,
    error: str | None = None,
    blocked: bool = False,
) -> dict[str, object]:
    """`context.mcp.lifecycle`, without what is known of the last step."""
    return {
        "phase": "POST_AGENT_MCP",
        "status": status,
        "outcome": outcome,
        "finished": finished,
        "blocked": blocked,
        "error": error is not None,
        **({"errorMessage": error} if error is not None else {}),
        "toolExecuted": False,
        "turnId": turn.turn_id,
    }
