"""Tools that change something: only when confirmed, once per turn, and claimed before they run (pipeline-2 4.2)."""

import hashlib
import uuid
from collections.abc import Mapping
from typing import Any

from convengine.engine.steps.tools.plan import Plan
from convengine.engine.text.compare import code, truthy
from convengine.engine.turn.ports import ExecutionClaim, ToolAnswer
from convengine.engine.turn.session import Session
from convengine.engine.turn.turn import Turn

Json = Any
#: Faults after which it is unknown whether the tool did its work: its claim stays open, and a person decides.
_UNKNOWN_END = frozenset({"TOOL_TIMEOUT", "MCP_TIMEOUT", "MCP_CONNECTION_LOST"})


def is_confirmed(session: Session) -> bool:
    """True when the user confirmed, or the caller approved, this turn's action (R107)."""
    params = session.input_params
    approved = any(truthy(params.get(name)) for name in ("approval_granted", "approvalGranted"))
    return approved or code(params.get("routing_decision")) == "PROCEED_CONFIRMED"


def build_claim(session: Session, turn: Turn, plan: Plan) -> ExecutionClaim:
    """The right to this call; a repeated call after a dead turn gets the same (R81)."""
    tool, args = plan.call
    digest = hashlib.sha256(args.encode()).hexdigest()
    return ExecutionClaim(
        conversation_id=session.conversation_id,
        turn_id=turn.turn_id,
        nonce=str(uuid.uuid5(uuid.NAMESPACE_OID, f"{turn.turn_id}:{tool}")),
        action_key=f"tool:{plan.tool_code}",
        action_ref=f"{plan.tool_code}#{digest[:16]}",
        request_hash=digest,
    )


def claim_call(turn: Turn, claim: ExecutionClaim) -> ToolAnswer | None:
    """Null when the tool may run now; else the outcome of the earlier run.

    Raises ConversationPersistFailed: without a claim nothing may run.
    """
    execution = turn.ports.executions.claim(claim)
    if execution.claimed:
        return None
    stored = execution.result if isinstance(execution.result, Mapping) else {}
    if execution.status == "EXECUTED":
        return ToolAnswer(stored.get("result"))
    message = "An earlier call of this tool with these arguments may have done its work; a person decides."
    return ToolAnswer(error_type="ALREADY_CLAIMED", error_message=message)


def finish_claim(turn: Turn, claim: ExecutionClaim, answer: ToolAnswer) -> None:
    """Store the outcome of the call, unless it is unknown."""
    if answer.error_type in _UNKNOWN_END:
        return
    status = "FAILED" if answer.error_type else "EXECUTED"
    turn.ports.executions.finish(claim, status, {"result": answer.result, "errorType": answer.error_type})
