"""Ask the planner for the next step, and read its reply."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from convengine.engine.errors import ConvEngineError, PromptRenderFailed, UnresolvedPromptVariable
from convengine.engine.forms.schema_validator import get_validator
from convengine.engine.llm.ask import ModelQuestion, Stages, ask
from convengine.engine.prompts.fill import FilledPrompts, fill_prompts
from convengine.engine.steps.tools.observations import Observation, compact_observations
from convengine.engine.steps.tools.settings import (
    MCP_FALLBACK_PLAN,
    MCP_FALLBACK_UNSAFE_STEP,
    MCP_PLANNER_MAX_OBS_CHARS,
    MCP_PLANNER_MAX_OBSERVATIONS_COUNT,
    MCP_TOOL_MAX_LOOPS,
    ON_PLANNER_ERROR,
    PLANNER_SYSTEM_PROMPT,
    PLANNER_USER_PROMPT,
)
from convengine.engine.steps.tools.stages import MCP_PLAN_LLM_ERROR, MCP_PLAN_LLM_INPUT, MCP_PLAN_LLM_OUTPUT
from convengine.engine.text.compare import code
from convengine.engine.tools.arguments import find_argument_schema
from convengine.engine.turn import rows
from convengine.engine.turn.codec import dumps, sort_keys
from convengine.engine.turn.enums import DecisionKind, ToolGroup, resolve_group
from convengine.engine.turn.live_settings import Setting
from convengine.engine.turn.session import Session
from convengine.engine.turn.snapshot import Snapshot
from convengine.engine.turn.turn import Turn
from convengine.json_value import Json

_STAGES = Stages(MCP_PLAN_LLM_INPUT, MCP_PLAN_LLM_OUTPUT, MCP_PLAN_LLM_ERROR)
_NAMED_TOOL = re.compile(r"`([A-Za-z0-9_-]+(?:\.[A-Za-z0-9_-]+)+)`")
CALL_TOOL = "CALL_TOOL"
ANSWER = "ANSWER"
#: Stands for the tool before the first one.
START = "__START__"
#: Reason why a plan is not followed: its action is neither of these.
ACTION_UNKNOWN = "PLAN_ACTION_UNKNOWN"
#: The answer for each reason.
FALLBACKS: Mapping[str, Setting[str]] = {
    ACTION_UNKNOWN: MCP_FALLBACK_UNSAFE_STEP,
    "PLAN_WITHOUT_TOOL": MCP_FALLBACK_UNSAFE_STEP,
    "PLAN_UNREADABLE": MCP_FALLBACK_PLAN,
}
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
#: The schema of what is read as a plan: an unknown action, or an answer that is no text, has a meaning.
_READABLE: Mapping[str, Json] = {
    "type": "object",
    "properties": {
        "tool_code": {"type": ["string", "null"]},
        "args": {"type": ["object", "null"]},
        "operation_tag": {"type": ["string", "null"]},
    },
}


@dataclass(frozen=True)
class ToolPlan:
    """One step: call a tool, or answer. A `reason` says why the answer is the text of a setting."""

    action: str
    tool_code: str | None = None
    args: Mapping[str, Json] = field(default_factory=dict)
    answer: str = ""
    operation_tag: str | None = None
    reason: str | None = None

    @property
    def call(self) -> tuple[str, str]:
        """Identifies equal calls: code and arguments in any order."""
        return code(self.tool_code), dumps(sort_keys(self.args))


#: The step for a reply that is not a plan.
_UNREADABLE = ToolPlan(ANSWER, reason="PLAN_UNREADABLE")


class PlannerFailed(Exception):
    """There is no plan: the model failed, or its prompt could not be rendered."""


@dataclass(frozen=True)
class Prompts:
    """The planner's prompts and their source: a row, settings, or the built-in texts."""

    system: str
    user: str
    row: rows.Planner | None = None

    @property
    def source(self) -> dict[str, Json]:
        return {"planner_id": self.row.planner_id} if self.row else {"ce_config": "McpPlanner"}


def choose_prompts(session: Session, turn: Turn) -> Prompts:
    """The most specific planner row, then the highest id; else the settings."""
    in_scope = turn.snapshot.in_scope(rows.Planner, session.intent, session.state, order=_order_newest_first)
    if in_scope:
        return Prompts(in_scope[0].system_prompt, in_scope[0].user_prompt, in_scope[0])
    return Prompts(turn.config(session, PLANNER_SYSTEM_PROMPT), turn.config(session, PLANNER_USER_PROMPT))


def _order_newest_first(row: rows.Planner) -> int:
    return -row.planner_id


def describe_tools(prompts: Prompts, tools: Sequence[rows.Tool], turn: Turn) -> list[Json]:
    """The tools in the prompt: those that it names in back-ticks, or all."""
    named = {code(name) for text in (prompts.system, prompts.user) for name in _NAMED_TOOL.findall(text)}
    narrowed = [tool for tool in tools if code(tool.tool_code) in named] or tools
    return [
        {
            "tool_code": tool.tool_code,
            "tool_group": tool.tool_group,
            "description": tool.description,
            "input_schema": find_shown_schema(turn.snapshot, tool),
        }
        for tool in narrowed
    ]


def ask_next_step(session: Session, turn: Turn, tools: Sequence[rows.Tool], seen: Sequence[Observation]) -> ToolPlan:
    """Ask for the planner's next step. A reply that is no plan gives an answer with the reason.

    Raises PlannerFailed, or with ON_PLANNER_ERROR = FAIL the error of the turn.
    """
    prompts = choose_prompts(session, turn)
    if prompts.row:
        turn.record_deciding_row(prompts.row, DecisionKind.TEMPLATE)
    count = turn.config(session, MCP_PLANNER_MAX_OBSERVATIONS_COUNT) or turn.config(session, MCP_TOOL_MAX_LOOPS)
    shown = compact_observations(seen, count, turn.config(session, MCP_PLANNER_MAX_OBS_CHARS))
    try:
        texts = fill_prompts(
            session,
            turn,
            system=prompts.system,
            user=prompts.user,
            selected=prompts.source,
            mcp_tools=describe_tools(prompts, tools, turn),
            mcp_observations=shown,
        )
    except (PromptRenderFailed, UnresolvedPromptVariable) as error:
        details = {"errorCode": error.code, "message": error.message, "exception": type(error).__name__}
        turn.audit(session, MCP_PLAN_LLM_ERROR, **details, missing=error.meta.get("missingPromptVars", []))
        raise _build_failure(session, turn, error) from error
    reply = ask(session, turn, _build_question(prompts, texts, seen, shown))
    if reply.error is None:
        return read_plan(reply.value)
    if reply.error.is_unreadable:
        return _UNREADABLE
    raise _build_failure(session, turn, reply.error.error())


def _build_failure(session: Session, turn: Turn, error: ConvEngineError) -> Exception:
    """The exception for a planner without a reply, as ON_PLANNER_ERROR says."""
    if turn.config(session, ON_PLANNER_ERROR) == "FAIL":
        return error
    return PlannerFailed(f"{error.code}: {error.message}")


def _build_question(
    prompts: Prompts, texts: FilledPrompts, seen: Sequence[Observation], shown: Sequence[Json]
) -> ModelQuestion:
    """The question to the model. `shown` is what the prompt has of the observations `seen`."""
    audit_payload = {
        "templateFromCeConfig (McpPlanner)": f"{prompts.system}\n\n{prompts.user}",
        **prompts.source,
        "system_prompt": texts.system,
        "user_prompt": texts.user,
        "schema": SCHEMA,
        "mcp_observations_compacted": list(shown),
        "mcp_observations_raw_chars": len(dumps(list(seen))),
        "mcp_observations_final_chars": len(dumps(list(shown))),
    }
    return ModelQuestion(
        "MCP_PLAN",
        texts.system,
        texts.user,
        json_schema=SCHEMA,
        stages=_STAGES,
        audit_payload=audit_payload,
        answered="json",
    )


def find_shown_schema(snapshot: Snapshot, tool: rows.Tool) -> Json:
    """The schema for the planner: the tool's own, else its group's. Returns None if neither has one."""
    return find_argument_schema(snapshot, tool) or GROUP_SCHEMAS.get(resolve_group(tool.tool_group))


def _describe_text(description: str) -> dict[str, Json]:
    return {"type": "string", "description": description}


def _describe_object(required: list[str], **properties: Json) -> dict[str, Json]:
    return {"type": "object", "properties": properties, "required": required}


GROUP_SCHEMAS: Mapping[str, Json] = {
    ToolGroup.DOCUMENT_RETRIEVAL: _describe_object(
        ["query"],
        query=_describe_text("What is sought, in words."),
        limit={"type": "integer", "minimum": 1, "maximum": 20, "description": "How many documents; 5 by default."},
    ),
    ToolGroup.CALCULATOR_TRANSFORM: {
        **_describe_object(
            ["expression"],
            expression=_describe_text("Such as round(price * quantity, 2); the other arguments are its names."),
        ),
        "additionalProperties": True,
    },
    ToolGroup.NOTIFICATION: _describe_object(
        ["to"],
        channel={"type": "string", "enum": ["email", "webhook"], "description": "email by default."},
        to=_describe_text("An address; for a webhook, the name of its connection."),
        subject=_describe_text("Of an e-mail."),
        text=_describe_text("Of an e-mail."),
        data={"type": "object", "description": "What a webhook is given."},
    ),
    ToolGroup.FILES: _describe_object([], path=_describe_text("A file or folder below the root; blank for the root.")),
}


def read_plan(reply: Json) -> ToolPlan:
    """The step of a parsed reply. Unknown keys are ignored."""
    if not get_validator(_READABLE).is_valid(reply):
        return _UNREADABLE
    tool, tag = ((reply.get(key) or "").strip() or None for key in ("tool_code", "operation_tag"))
    action = code(str(reply.get("action") or "")) or (CALL_TOOL if tool else ANSWER)
    if action == ANSWER:
        answer = reply.get("answer")
        text = "" if answer is None else answer if isinstance(answer, str) else dumps(answer)
        return ToolPlan(ANSWER, tool, {}, text, tag)
    if action != CALL_TOOL:
        return ToolPlan(ANSWER, operation_tag=tag, reason=ACTION_UNKNOWN)
    if tool is None:
        return ToolPlan(ANSWER, operation_tag=tag, reason="PLAN_WITHOUT_TOOL")
    return ToolPlan(CALL_TOOL, tool, reply.get("args") or {}, operation_tag=tag)
