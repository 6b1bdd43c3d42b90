"""The planner's values in context and params, cleared and written in each turn (pipeline-2 4.1, 4.5)."""

from convengine.engine.steps.tools.gate import Skip
from convengine.engine.steps.tools.outcome import BY_GUARDRAIL, get_mcp_branch
from convengine.engine.steps.tools.stages import MCP_CONTEXT_CLEARED, MCP_SKIPPED
from convengine.engine.turn.params import PARAMS
from convengine.engine.turn.session import Session
from convengine.engine.turn.turn import Turn

_PARAMS = tuple(key for key in PARAMS if key.startswith("mcp_"))


def clear_planner_state(session: Session, turn: Turn) -> Session:
    """Remove what earlier turns left of tools, except a digest of the last run.

    A direct call of this turn stays for rules, and so does a result that `run_once` reuses.
    """
    branch = get_mcp_branch(session)
    kept_keys = {"toolExecution"} if session.input_params.get("tool_status") not in (None, BY_GUARDRAIL) else set()
    dropped = {key: value for key, value in branch.items() if key not in kept_keys}
    stale = [key for key in _PARAMS if key in session.input_params]
    if not dropped and not stale:
        return session
    lifecycle = dropped.get("lifecycle")
    remaining = {key: branch[key] for key in kept_keys & branch.keys()}
    if isinstance(lifecycle, dict):
        remaining["previous"] = {
            key: lifecycle.get(key) for key in ("status", "outcome", "error", "lastToolCode", "turnId")
        }
    session = session.without_params(*stale).without_context("mcp")
    session = session.with_context({"mcp": remaining}) if remaining else session
    turn.audit(session, MCP_CONTEXT_CLEARED)
    return session


def skip_planner(session: Session, turn: Turn, skip: Skip) -> Session:
    """Record that the planner did not run, and why. A turn that only resets leaves the context empty."""
    if skip.status is not None:
        session = session.with_params({"mcp_status": skip.status})
    if not session.reset_only:
        state = build_lifecycle(turn, skip.status, skip.outcome)
        session = session.with_context({"mcp": {**get_mcp_branch(session), "lifecycle": state}})
    where = {"intent": session.intent, "state": session.state}
    if skip.stage:
        turn.audit(session, skip.stage, **where, **skip.about)
    turn.audit(session, MCP_SKIPPED, status=skip.status, reason=skip.reason, **where)
    return session


def build_lifecycle(
    turn: Turn,
    status: object,
    outcome: str,
    *,
    finished: bool = True,
    error: str | None = None,
    blocked: bool = False,
) -> dict[str, object]:
    """`context.mcp.lifecycle`, without the last step."""
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
