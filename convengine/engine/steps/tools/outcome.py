"""The outcome of a direct tool call in params, context and audit (pipeline-2 3.3)."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from convengine.engine.turn import rows
from convengine.engine.turn.codec import dumps
from convengine.engine.turn.session import Session

Json = Any

SUCCESS = "SUCCESS"
ERROR = "ERROR"
MISMATCH = "SKIPPED_SCOPE_MISMATCH"
BY_GUARDRAIL = "SKIPPED_BY_GUARDRAIL"
_PREVIEW = 1000


@dataclass(frozen=True)
class ToolOutcome:
    """The outcome of one request."""

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


def cap_result(result: Json, limit: int) -> Json:
    """The result, or a preview if it is larger than `limit` bytes."""
    text = dumps(result)
    size = len(text.encode())
    return result if size <= limit else {"truncated": True, "bytes": size, "preview": text[:_PREVIEW]}


def get_mcp_branch(session: Session) -> Mapping[str, Json]:
    """The branch of the context for tools; empty if another value is there."""
    branch = session.context.get("mcp")
    return branch if isinstance(branch, Mapping) else {}
