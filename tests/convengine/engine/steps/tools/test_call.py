from typing import Any

from convengine.engine.steps.tools.call import call_tool
from convengine.engine.steps.tools.scripted import ScriptedTools, Stub
from convengine.engine.turn.ports import ToolAnswer
from tests.builders import make_session, make_snapshot, make_tool, make_turn, payload, stages

COUNTED = make_tool(
    "count", input_schema={"type": "object", "properties": {"n": {"type": "integer"}}, "required": ["n"]}
)


class Telling:
    """Tools that tell the audit of what they did."""

    def run(self, *request: Any) -> ToolAnswer:
        return ToolAnswer(1, stage_payloads={"MCP_DB_SQL_EXECUTION": {"sql": "SELECT 1"}})


def test_a_tool_gets_arguments_that_fit_its_schema() -> None:
    tools = ScriptedTools([Stub("count", result=7)])
    turn = make_turn(make_snapshot(COUNTED), tools=tools)

    assert call_tool(make_session(), turn, COUNTED, "HTTP_API", {"n": "12"}) == ToolAnswer(7)
    assert tools.calls[0].args == {"n": 12}


def test_a_tool_is_not_called_with_arguments_that_do_not_fit() -> None:
    tools = ScriptedTools([Stub("count", result=7)])

    answer = call_tool(make_session(), make_turn(make_snapshot(COUNTED), tools=tools), COUNTED, "HTTP_API", {})

    assert (answer.error_type, answer.error_message) == ("INVALID_ARGS", "'n' is a required property")
    assert tools.calls == []


def test_what_an_executor_tells_is_audited() -> None:
    turn = make_turn(make_snapshot(COUNTED), tools=Telling())

    call_tool(make_session(), turn, COUNTED, "DB", {"n": 1})

    assert stages(turn) == ["MCP_DB_SQL_EXECUTION"]
    assert payload(turn, "MCP_DB_SQL_EXECUTION")["sql"] == "SELECT 1"
