"""The only way to call a tool: validate arguments, run the executor, write what the executor reports."""

import hashlib
import uuid
from collections.abc import Callable, Mapping

from convengine.engine.tools.arguments import INVALID_ARGS, check_arguments, find_argument_schema
from convengine.engine.turn import rows
from convengine.engine.turn.enums import ToolGroup
from convengine.engine.turn.ports import ExecutionClaim, ToolAnswer
from convengine.engine.turn.session import Session
from convengine.engine.turn.stage import find_stage
from convengine.engine.turn.turn import Turn
from convengine.json_value import Json

#: Every database tool accepts a limit, declared or not.
_LIMIT = frozenset({"limit"})
#: Faults after which it is unknown whether the tool did its work: its claim stays open, and a person decides.
_UNKNOWN_END = frozenset({"TOOL_TIMEOUT", "MCP_TIMEOUT", "MCP_CONNECTION_LOST"})


def call_tool(
    session: Session,
    turn: Turn,
    tool: rows.Tool | None,
    group: str,
    args: Mapping[str, Json],
    within_ms: int | None = None,
) -> ToolAnswer:
    """The tool's answer; `tool` is None for a group alone. Never raises for a fault of the tool or its arguments.

    Invalid arguments give INVALID_ARGS without a call.
    """
    schema = find_argument_schema(turn.snapshot, tool) if tool else None
    fitted, problems = check_arguments(schema, args, _LIMIT if group == ToolGroup.DB else frozenset())
    if problems:
        return ToolAnswer(error_type=INVALID_ARGS, error_message=" ".join(problems))
    started = turn.ports.clock.elapsed_ms()
    answer = turn.ports.tools.run(tool.tool_code if tool else "", group, fitted, session, within_ms)
    turn.tool_ms += turn.ports.clock.elapsed_ms() - started
    for stage, payload in answer.stage_payloads.items():
        turn.audit(session, find_stage(stage), **payload)
    return answer


def call_tool_once(
    session: Session, turn: Turn, tool_code: str | None, call: tuple[str, str], ask: Callable[[], ToolAnswer]
) -> ToolAnswer:
    """Call a tool that changes something. A call that a dead turn made before is not made again.

    `call` identifies equal calls; `ask` makes it. Raises ConversationPersistFailed: without a claim nothing may run.
    """
    code, args = call
    digest = hashlib.sha256(args.encode()).hexdigest()
    claim = ExecutionClaim(
        conversation_id=session.conversation_id,
        turn_id=turn.turn_id,
        nonce=str(uuid.uuid5(uuid.NAMESPACE_OID, f"{turn.turn_id}:{code}")),
        action_key=f"tool:{tool_code}",
        action_ref=f"{tool_code}#{digest[:16]}",
        request_hash=digest,
    )
    execution = turn.ports.executions.claim(claim)
    if execution.claimed:
        answer = ask()
        if answer.error_type not in _UNKNOWN_END:
            status = "FAILED" if answer.error_type else "EXECUTED"
            turn.ports.executions.finish(claim, status, {"result": answer.result, "errorType": answer.error_type})
        return answer
    if execution.status == "EXECUTED":
        return ToolAnswer(execution.result.get("result") if isinstance(execution.result, Mapping) else None)
    message = "An earlier call of this tool with these arguments may have done its work; a person decides."
    return ToolAnswer(error_type="ALREADY_CLAIMED", error_message=message)
