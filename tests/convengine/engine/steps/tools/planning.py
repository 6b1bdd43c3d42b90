"""A turn whose planner and tools are scripted."""

from collections.abc import Mapping, Sequence
from typing import Any

from convengine.engine.llm.scripted import ScriptedModel, ScriptLine
from convengine.engine.steps.tools.mcp_tool import McpToolStep
from convengine.engine.steps.tools.scripted import ScriptedServers, ScriptedTools, Stub
from convengine.engine.turn import rows
from convengine.engine.turn.codec import dumps
from convengine.engine.turn.session import Session
from convengine.engine.turn.turn import Turn
from tests.builders import make_intent, make_rule, make_session, make_snapshot, make_tool, make_turn

#: Each run of the phase after the planner adds to it.
AFTER = make_rule(phase="POST_AGENT_MCP", action="SET_INPUT_PARAM", action_value="after_planner:1")
A, B = make_tool("a"), make_tool("b")


def call(tool_code: str | None, **args: Any) -> dict[str, Any]:
    """The reply that calls a tool."""
    return {"action": "CALL_TOOL", "tool_code": tool_code, "args": args, "answer": None, "operation_tag": None}


def answer(text: str) -> dict[str, Any]:
    """The reply that answers."""
    return {"action": "ANSWER", "tool_code": None, "args": {}, "answer": text, "operation_tag": None}


class Planned:
    """What came of a run of the step."""

    def __init__(self, session: Session, turn: Turn, model: ScriptedModel, tools: ScriptedTools) -> None:
        self.session, self.turn, self.model, self.tools = session, turn, model, tools

    @property
    def mcp(self) -> Mapping[str, Any]:
        return self.session.context["mcp"]

    @property
    def status(self) -> str:
        return str(self.session.input_params["mcp_status"])

    @property
    def lifecycle(self) -> Mapping[str, Any]:
        return self.mcp["lifecycle"]

    @property
    def rules_ran(self) -> bool:
        return "after_planner" in self.session.input_params


def run(
    replies: Sequence[Any],
    stubs: Sequence[Stub] = (),
    *more: rows.Row,
    tools: Sequence[rows.Row] = (A, B),
    text: str = "where is it?",
    turn: Mapping[str, Any] | None = None,
    **fields: Any,
) -> Planned:
    """The step with a planner that replies so, one after the other, and tools that answer from stubs."""
    lines = [ScriptLine({"MCP_PLAN"}, reply if isinstance(reply, str) else dumps(reply), times=1) for reply in replies]
    model, executors = ScriptedModel(lines), ScriptedTools(stubs)
    made = make_turn(
        make_snapshot(make_intent("LOAN"), AFTER, *tools, *more),
        model=model,
        tools=executors,
        **{"servers": ScriptedServers(executors), **(turn or {})},
    )
    session = make_session(**{"intent": "LOAN", "state": "READY", "user_text": text, **fields})
    return Planned(McpToolStep().execute(session, made).session, made, model, executors)
