"""The planner's reply and its meaning (pipeline-2 4.3)."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from convengine.engine.steps.tools.settings import MCP_FALLBACK_PLAN, MCP_FALLBACK_UNSAFE_STEP
from convengine.engine.text.compare import code
from convengine.engine.turn.codec import dumps
from convengine.engine.turn.live_settings import Setting

Json = Any

CALL_TOOL = "CALL_TOOL"
ANSWER = "ANSWER"
#: A step that the planner marks like this is not followed.
RESTRICTED = "POLICY_RESTRICTED_OPERATION"
SCHEMA: Mapping[str, Json] = {
    "type": "object",
    "properties": {
        "action": {"type": "string", "enum": [CALL_TOOL, ANSWER]},
        "tool_code": {"type": ["string", "null"]},
        "args": {"type": "object"},
        "answer": {"type": ["string", "null"]},
        "operation_tag": {"type": ["string", "null"]},
    },
    "required": ["action", "tool_code", "args", "answer", "operation_tag"],
    "additionalProperties": False,
}


@dataclass(frozen=True)
class Plan:
    """One step: call a tool, or answer. With a `fallback`, the text of that setting is the answer, and `reason` says
    why.
    """

    action: str
    tool_code: str | None = None
    args: Mapping[str, Json] = field(default_factory=dict)
    answer: str = ""
    operation_tag: str | None = None
    fallback: Setting[str] | None = None
    reason: str | None = None

    @property
    def call(self) -> tuple[str, str]:
        """Identifies equal calls: code and arguments in any order."""
        return code(self.tool_code), dumps(_sort_keys(self.args))


def read_plan(reply: Json) -> Plan:
    """The step of a parsed reply. Unknown keys are ignored."""
    if not isinstance(reply, Mapping):
        return build_unreadable_plan()
    tool, tag, args, answer = (reply.get(key) for key in ("tool_code", "operation_tag", "args", "answer"))
    if not _is_text_or_null(tool) or not _is_text_or_null(tag) or not (args is None or isinstance(args, Mapping)):
        return build_unreadable_plan()
    tool, tag = (tool or "").strip() or None, (tag or "").strip() or None
    action = code(str(reply.get("action") or "")) or (CALL_TOOL if tool else ANSWER)
    if action == CALL_TOOL and tool is None:
        return Plan(ANSWER, operation_tag=tag, fallback=MCP_FALLBACK_UNSAFE_STEP, reason="PLAN_WITHOUT_TOOL")
    if action == CALL_TOOL:
        return Plan(CALL_TOOL, tool, args or {}, operation_tag=tag)
    if action == ANSWER:
        return Plan(ANSWER, tool, {}, _answer_text(answer), tag)
    return Plan(ANSWER, operation_tag=tag, fallback=MCP_FALLBACK_PLAN, reason="PLAN_ACTION_UNKNOWN")


def build_unreadable_plan() -> Plan:
    """The step for a reply that is not a plan."""
    return Plan(ANSWER, fallback=MCP_FALLBACK_PLAN, reason="PLAN_UNREADABLE")


def _answer_text(answer: Json) -> str:
    if answer is None:
        return ""
    return answer if isinstance(answer, str) else dumps(answer)


def _is_text_or_null(value: Json) -> bool:
    return value is None or isinstance(value, str)


def _sort_keys(value: Json) -> Json:
    if isinstance(value, Mapping):
        return {name: _sort_keys(value[name]) for name in sorted(value)}
    return [_sort_keys(item) for item in value] if isinstance(value, (list, tuple)) else value
