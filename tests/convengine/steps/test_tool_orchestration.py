from convengine.steps.tool_orchestration import ToolOrchestrationStep
from convengine.tools.scripted import ScriptedTools, Stub
from tests.builders import make_config, make_session, make_snapshot, make_tool, make_turn, stages

ASKED = make_session(input_params={"tool_request": {"tool_code": "a"}})


def test_the_tool_that_was_asked_for_has_run_when_the_step_is_done() -> None:
    turn = make_turn(make_snapshot(make_tool("a")), tools=ScriptedTools([Stub("a", result=7)]))

    session = ToolOrchestrationStep().execute(ASKED, turn).session

    assert session.input_params["tool_result"]["result"] == 7


def test_switched_off_it_does_nothing() -> None:
    off = make_config("ToolOrchestrationStep/ENABLED", "false")
    turn = make_turn(make_snapshot(make_tool("a"), off), tools=ScriptedTools([]))

    assert ToolOrchestrationStep().execute(ASKED, turn).session is ASKED
    assert stages(turn) == []
