"""A direct request for one tool, and its outcome; and the only way to call a tool.

A call validates the arguments, runs the executor, and writes what the executor reports.
"""

import hashlib
import uuid
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import cache, partial

from convengine.engine.prompts.render import has_expressions, render_lenient
from convengine.engine.prompts.variables import build_variables
from convengine.engine.rules.choice import choose_row
from convengine.engine.text.compare import blank
from convengine.engine.tools.arguments import INVALID_ARGS, check_arguments, find_argument_schema
from convengine.engine.turn import rows
from convengine.engine.turn.codec import loads
from convengine.engine.turn.enums import DecisionKind, ToolGroup, resolve_group
from convengine.engine.turn.ports import ExecutionClaim, ToolAnswer
from convengine.engine.turn.session import Session
from convengine.engine.turn.stage import find_stage
from convengine.engine.turn.turn import Turn
from convengine.json_value import Json

SUCCESS = "SUCCESS"
ERROR = "ERROR"
MISMATCH = "SKIPPED_SCOPE_MISMATCH"
BY_GUARDRAIL = "SKIPPED_BY_GUARDRAIL"
#: Every database tool accepts a limit, declared or not.
_LIMIT = frozenset({"limit"})
#: Faults after which it is unknown whether the tool did its work: its claim stays open, and a person decides.
_UNKNOWN_END = frozenset({"TOOL_TIMEOUT", "MCP_TIMEOUT", "MCP_CONNECTION_LOST"})


class InvalidToolRequest(ValueError):
    """A `tool_request` that names nothing runnable; the message says why."""


@dataclass(frozen=True)
class ToolRequest:
    """The tool to run. A code without a group takes the tool's group; a group without a code has no tool row."""

    tool_code: str | None = None
    tool_group: str | None = None
    args: Mapping[str, Json] = field(default_factory=dict)

    def to_json(self) -> dict[str, Json]:
        return {"tool_code": self.tool_code, "tool_group": self.tool_group, "args": dict(self.args)}


def read_request(value: Json) -> ToolRequest | None:
    """Read the request from a param, an object or a JSON text. A blank value is None.

    Arguments that are not an object are ignored. Raises InvalidToolRequest for any other value.
    """
    if value is None or blank(value):
        return None
    if isinstance(value, str):
        try:
            value = loads(value)
        except ValueError:
            raise InvalidToolRequest("tool_request is a text that is not JSON.") from None
    if not isinstance(value, Mapping):
        raise InvalidToolRequest("tool_request must be an object with tool_code, tool_group, args.")
    tool, group = (_read_name(value, key) for key in ("tool_code", "tool_group"))
    if tool is None and group is None:
        raise InvalidToolRequest("tool_request names neither a tool_code nor a tool_group.")
    args = value.get("args")
    return ToolRequest(tool, resolve_group(group) if group else None, args if isinstance(args, Mapping) else {})


def _read_name(request: Mapping[str, Json], key: str) -> str | None:
    """The name under a key. Returns None if it is missing or blank. Raises InvalidToolRequest for another value."""
    value = request.get(key)
    if value is None or blank(value):
        return None
    if not isinstance(value, str):
        raise InvalidToolRequest(f"{key} of tool_request must be a text.")
    return value.strip()


def choose_direct_row(session: Session, turn: Turn) -> rows.DirectTool | None:
    """The row that calls a tool here: the most specific, then by priority and id. Writes the decision."""
    if not turn.snapshot.rows(rows.DirectTool):
        return None
    choice = choose_row(turn.snapshot, rows.DirectTool, session.intent, session.state, lambda row: None)
    return choice.decide(session, turn, DecisionKind.TOOL, intent=session.intent, state=session.state)


def build_row_request(row: rows.DirectTool, session: Session, turn: Turn) -> ToolRequest:
    """The row's request with rendered arguments. Raises InvalidToolRequest for a template that does not render."""
    args = row.args_template if isinstance(row.args_template, Mapping) else {}
    group = None if row.tool_code else resolve_group(row.tool_group)
    variables = cache(partial(build_variables, session, turn))
    return ToolRequest((row.tool_code or "").strip() or None, group, _fill_templates(args, variables))


def _fill_templates(value: Json, variables: Callable[[], Mapping[str, Json]]) -> Json:
    """The arguments with each template in them rendered. Raises InvalidToolRequest for one that does not render."""
    if isinstance(value, Mapping):
        return {key: _fill_templates(item, variables) for key, item in value.items()}
    if isinstance(value, (list, tuple)):
        return [_fill_templates(item, variables) for item in value]
    if not isinstance(value, str) or not has_expressions(value):
        return value
    rendered = render_lenient(value, variables())
    if rendered.error is not None:
        raise InvalidToolRequest(f"The argument {value} cannot be filled in: {rendered.error}")
    return rendered.text


@dataclass(frozen=True)
class ToolOutcome:
    status: str
    tool_code: str | None = None
    tool_group: str | None = None
    args: Mapping[str, Json] = field(default_factory=dict)
    result: Json = None
    error: str | None = None
    #: The stable code of the error, from the executor or the argument check.
    error_type: str | None = None
    tool: rows.Tool | None = None

    def to_result(self, session: Session) -> dict[str, Json]:
        """`tool_result`, and the payload of the closing stage."""
        common = {"status": self.status, "tool_code": self.tool_code, "tool_group": self.tool_group}
        if self.status == SUCCESS:
            return {**common, "result": self.result, "_meta": describe_tool(self.tool)}
        if self.status == ERROR:
            typed = {"error_type": self.error_type} if self.error_type else {}
            return {**common, "error": self.error, **typed, "_meta": describe_tool(self.tool)}
        return {**common, "intent": session.intent, "state": session.state, "_meta": describe_tool(self.tool)}

    def to_execution(self) -> dict[str, Json]:
        """`context.mcp.toolExecution`. It keeps the arguments for `ce_tool.run_once`."""
        return {
            "phase": "POST_TOOL_EXECUTION",
            "finished": True,
            "status": self.status,
            "outcome": "SCOPE_MISMATCH" if self.status == MISMATCH else self.status,
            "error": self.status == ERROR,
            "scopeMismatch": self.status == MISMATCH,
            "toolExecuted": self.status == SUCCESS,
            "toolCode": self.tool_code,
            "toolGroup": self.tool_group,
            "args": dict(self.args),
            **({"errorMessage": self.error} if self.error is not None else {}),
            **({"errorType": self.error_type} if self.error_type else {}),
            **({"result": self.result} if self.status == SUCCESS else {}),
            "meta": describe_tool(self.tool),
        }


def describe_tool(tool: rows.Tool | None) -> dict[str, Json]:
    """Metadata of the tool's row; empty without one."""
    if tool is None:
        return {}
    names = ("tool_id", "tool_code", "tool_group", "intent_code", "state_code", "enabled", "description")
    return {name: getattr(tool, name) for name in names}


def get_mcp_branch(session: Session) -> Mapping[str, Json]:
    """The branch of the context for tools; empty if another value is there."""
    branch = session.context.get("mcp")
    return branch if isinstance(branch, Mapping) else {}


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
