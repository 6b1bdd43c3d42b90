"""The one way to call a tool: arguments checked, executor asked, what it tells audited (pipeline-2 3.3, 4.2)."""

from collections.abc import Mapping
from typing import Any

from convengine.domain import rows
from convengine.domain.enums import ToolGroup
from convengine.domain.ports import ToolAnswer
from convengine.domain.session import Session
from convengine.domain.stages import Stage
from convengine.domain.turn import Turn
from convengine.tools.arguments import INVALID_ARGS, checked, schema_of

Json = Any
#: Every database tool takes a limit, declared or not (tables 4.4).
_LIMIT = frozenset({"limit"})


def call_tool(
    session: Session,
    turn: Turn,
    tool: rows.Tool | None,
    group: str,
    args: Mapping[str, Json],
    within_ms: int | None = None,
) -> ToolAnswer:
    """The tool's answer; `tool` is null for a group alone. Never raises for a fault of the tool or its arguments.

    Arguments that do not fit the tool's schema are INVALID_ARGS, and nothing is called.
    """
    schema = schema_of(turn.snapshot, tool) if tool else None
    fitted, problems = checked(schema, args, _LIMIT if group == ToolGroup.DB else frozenset())
    if problems:
        return ToolAnswer(error_type=INVALID_ARGS, error_message=" ".join(problems))
    started = turn.ports.clock.elapsed_ms()
    answer = turn.ports.tools.run(tool.tool_code if tool else "", group, fitted, session, within_ms)
    turn.tool_ms += turn.ports.clock.elapsed_ms() - started
    for stage, payload in answer.told.items():
        turn.audit(session, Stage(stage), **payload)
    return answer
