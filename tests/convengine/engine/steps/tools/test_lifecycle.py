from typing import Any

from convengine.engine.steps.tools.gate import Skip
from convengine.engine.steps.tools.lifecycle import clear_planner_state, skip_planner
from convengine.engine.steps.tools.stages import MCP_NO_TOOLS_AVAILABLE
from convengine.engine.turn.session import Session
from convengine.engine.turn.turn import Turn
from tests.builders import TURN, make_session, make_turn, payload, stages

OLD = {
    "finalAnswer": "stale",
    "toolExecution": {"status": "SUCCESS"},
    "lifecycle": {"status": "ANSWER", "outcome": "ANSWERED", "error": False, "lastToolCode": "a", "turnId": "t-1"},
}


def clear(**fields: Any) -> tuple[Session, Turn]:
    turn = make_turn()
    return clear_planner_state(make_session(**fields), turn), turn


def test_P2_4_11_V11_nothing_of_the_last_run_is_left_but_how_it_ended() -> None:
    session, turn = clear(context={"mcp": OLD, "kept": 1})

    assert session.context == {
        "kept": 1,
        "mcp": {
            "previous": {
                "status": "ANSWER", "outcome": "ANSWERED", "error": False, "lastToolCode": "a", "turnId": "t-1",
            }
        },
    }  # fmt: skip
    assert stages(turn) == ["MCP_CONTEXT_CLEARED"]
    assert payload(turn, "MCP_CONTEXT_CLEARED") == {}


def test_a_direct_call_of_this_turn_stays() -> None:
    session, _ = clear(context={"mcp": OLD}, input_params={"tool_status": "SUCCESS"})

    assert session.context["mcp"]["toolExecution"] == {"status": "SUCCESS"}


def test_a_call_that_the_guardrail_refused_was_none() -> None:
    session, _ = clear(context={"mcp": OLD}, input_params={"tool_status": "SKIPPED_BY_GUARDRAIL"})

    assert "toolExecution" not in session.context["mcp"]


def test_a_branch_without_a_lifecycle_goes_as_a_whole() -> None:
    assert clear(context={"mcp": {"finalAnswer": "x"}})[0].context == {}


def test_params_that_somebody_wrote_are_removed() -> None:
    session, _ = clear(input_params={"mcp_final_answer": "x", "mcp_status": "ANSWER", "own": 1})

    assert session.input_params == {"own": 1}


def test_where_nothing_is_left_nothing_is_told() -> None:
    before = make_session(context={"a": 1})
    turn = make_turn()

    assert clear_planner_state(before, turn) is before
    assert stages(turn) == []


def skip(rule: Skip, **fields: Any) -> tuple[Session, Turn]:
    turn = make_turn()
    return skip_planner(make_session(intent="LOAN", state="IDLE", **fields), turn, rule), turn


def test_a_shut_gate_is_told_by_its_own_stage_and_by_the_common_one() -> None:
    session, turn = skip(Skip("NO_TOOLS_FOR_SCOPE", "NO_TOOLS", "NO_TOOLS", MCP_NO_TOOLS_AVAILABLE))

    where = {"intent": "LOAN", "state": "IDLE"}
    assert stages(turn) == ["MCP_NO_TOOLS_AVAILABLE", "MCP_SKIPPED"]
    assert payload(turn, "MCP_NO_TOOLS_AVAILABLE") == where
    assert payload(turn, "MCP_SKIPPED") == {"status": "NO_TOOLS_FOR_SCOPE", "reason": "NO_TOOLS", **where}
    assert session.input_params["mcp_status"] == "NO_TOOLS_FOR_SCOPE"
    lifecycle = session.context["mcp"]["lifecycle"]
    assert (lifecycle["outcome"], lifecycle["finished"], lifecycle["turnId"]) == ("NO_TOOLS", True, TURN)


def test_a_gate_without_a_status_leaves_the_status() -> None:
    assert "mcp_status" not in skip(Skip(None, "PENDING_CLARIFICATION"))[0].input_params


def test_what_else_is_in_the_branch_stays() -> None:
    session, _ = skip(Skip("NO_MODEL", "LLM_NOT_CONFIGURED"), context={"mcp": {"previous": {"status": "ANSWER"}}})

    assert session.context["mcp"]["previous"] == {"status": "ANSWER"}


def test_a_reset_leaves_the_context_empty() -> None:
    session, turn = skip(Skip("NO_TOOLS_FOR_SCOPE", "NO_TOOLS"), reset_only=True)

    assert session.context == {}
    assert stages(turn) == ["MCP_SKIPPED"]
