from collections.abc import Mapping
from typing import Any

import pytest

from convengine.engine.llm.faults import LlmCallFailed
from convengine.engine.llm.scripted import ScriptedModel, ScriptLine
from convengine.engine.steps.tools.mcp_tool import McpToolStep
from convengine.engine.steps.tools.scripted import Stub
from convengine.engine.turn import rows
from convengine.engine.turn.codec import dumps
from convengine.engine.turn.ports import ToolAnswer
from convengine.engine.turn.session import Session
from tests.builders import make_config, make_intent, make_session, make_snapshot, make_tool, make_turn, payload, stages
from tests.convengine.engine.steps.tools.planning import A, Planned, answer, call, run
from tests.fakes.clock import FrozenClock
from tests.fakes.ports import BookOfExecutions

FOUND = Stub("a", result={"summary": "It is on its way."})


def test_P2_4_11_V1_without_tools_no_rules_run_after_the_planner() -> None:
    done = run([], tools=[])

    assert (done.status, done.lifecycle["outcome"]) == ("NO_TOOLS_FOR_SCOPE", "NO_TOOLS")
    assert not done.rules_ran


def test_P2_4_11_V2_a_call_and_then_an_answer() -> None:
    done = run([call("a", id=1), answer("x")], [FOUND])

    assert len(done.mcp["observations"]) == 1
    assert (done.mcp["finalAnswer"], done.mcp["finalAnswerDetermined"]) == ("x", True)
    assert done.lifecycle["outcome"] == "ANSWERED"
    assert (done.lifecycle["toolExecuted"], done.lifecycle["lastToolCode"]) == (True, "a")
    assert done.session.input_params["mcp_final_answer"] == "x"
    assert [stage for stage in stages(done.turn) if stage.startswith("RULE_APPLIED")] == ["RULE_APPLIED (McpToolStep)"]


def test_P2_4_11_V3_the_loop_has_a_bound() -> None:
    done = run([call("a", page=page) for page in range(9)], [Stub("a", result={"rows": []})])

    assert len(done.tools.calls) == 5
    assert (done.mcp["toolExecutionAbrupted"], done.mcp["toolExecutionAbruptionLimit"]) == (True, 5)
    assert (done.status, done.lifecycle["outcome"], done.lifecycle["finished"]) == ("MAX_LOOPS", "ABRUPTED", True)
    assert payload(done.turn, "MCP_LOOP_ABRUPTED") == {"reason": "MAX_LOOPS", "limit": 5, "tool_calls": 5}
    assert "finalAnswer" not in done.mcp
    assert done.rules_ran


def test_P2_4_11_V4_the_same_call_is_not_made_twice() -> None:
    again = {**call("a"), "args": {"y": {"c": 3, "d": 4}, "x": 1}}
    done = run([{**again, "args": {"x": 1, "y": {"d": 4, "c": 3}}}, again], [FOUND])

    assert len(done.tools.calls) == 1
    assert (done.status, done.mcp["finalAnswer"]) == ("ANSWER", "It is on its way.")
    event = payload(done.turn, "MCP_DUPLICATE_TOOL_CALL_SUPPRESSED")
    assert (event["tool_code"], event["answer"]) == ("a", "It is on its way.")


def test_the_same_call_without_a_summary_is_answered_with_the_safe_text() -> None:
    done = run([call("a"), call("a")], [Stub("a", result=[1])])

    assert done.mcp["finalAnswer"] == "I could not work out a safe next step for that."


def test_P2_4_11_V5_a_tool_that_fails_ends_the_loop_and_not_the_turn() -> None:
    done = run([call("a", id=7)], [Stub("a", error="connection lost")])

    assert (done.status, done.lifecycle["outcome"]) == ("TOOL_ERROR", "ERROR")
    assert (done.lifecycle["error"], done.lifecycle["errorMessage"]) == (True, "connection lost")
    assert payload(done.turn, "MCP_TOOL_ERROR")["error"] == "connection lost"
    error = done.mcp["toolExecutionError"]
    assert (error["toolCode"], error["toolGroup"], error["args"]) == ("a", "HTTP_API", {"id": 7})
    assert done.mcp["finalAnswer"] == "I could not get that information just now. Please try again later."
    assert done.rules_ran


def test_with_observe_the_planner_sees_the_error_and_goes_on() -> None:
    done = run(
        [call("a"), answer("It is down.")],
        [Stub("a", error="connection lost")],
        make_config("McpToolStep/ON_TOOL_ERROR", "OBSERVE"),
    )

    assert (done.status, done.mcp["finalAnswer"]) == ("ANSWER", "It is down.")
    assert "connection lost" in done.mcp["observations"][0]["json"]


@pytest.mark.parametrize(
    ("reply", "reason"),
    [
        ({"action": "CALL_TOOL", "tool_code": ["a"]}, "PLAN_UNREADABLE"),
        ({"action": "CALL_TOOL", "tool_code": "a", "args": "x"}, "PLAN_UNREADABLE"),
        ([1], "PLAN_UNREADABLE"),
    ],
)
def test_P2_4_11_V6_a_plan_that_is_none_is_answered_with_the_text_for_it(reply: Any, reason: str) -> None:
    done = run([reply])

    assert (done.status, done.mcp["finalAnswer"]) == (
        "ANSWER",
        "I could not decide how to find that out. Could you put it another way?",
    )
    assert payload(done.turn, "MCP_FINAL_ANSWER")["reason"] == reason


@pytest.mark.amended("R118")
def test_R118_an_unknown_action_is_a_fallback() -> None:
    done = run([{"action": "clarify"}])

    assert done.status == done.lifecycle["outcome"] == "FALLBACK"
    assert done.mcp["finalAnswer"] == done.session.input_params["mcp_final_answer"] != ""
    assert payload(done.turn, "MCP_FINAL_ANSWER") == {
        "answer": done.mcp["finalAnswer"],
        "reason": "PLAN_ACTION_UNKNOWN",
        "tool_code": None,
    }


def test_a_reply_that_is_no_json_is_given_back_once() -> None:
    good, bad = run(["I would call a.", answer("x")]), run(["I would call a.", "Really."])

    assert (good.mcp["finalAnswer"], len(good.model.calls)) == ("x", 2)
    assert payload(bad.turn, "MCP_FINAL_ANSWER")["reason"] == "PLAN_UNREADABLE"
    assert len(bad.model.calls) == 2


def test_P2_4_11_V7_an_unknown_tool_is_shown_to_the_planner() -> None:
    done = run([call("zzz"), answer("x")])

    assert '"error":"UNKNOWN_TOOL"' in done.mcp["observations"][0]["json"]
    assert payload(done.turn, "MCP_TOOL_ERROR")["error"] == "UNKNOWN_TOOL"
    assert (done.status, done.mcp["finalAnswer"]) == ("ANSWER", "x")
    assert done.lifecycle["toolExecuted"] is False
    assert done.tools.calls == []


def test_P2_4_11_V8_a_tool_that_may_not_come_next_is_not_called() -> None:
    done = run(
        [call("b")],
        [],
        make_config("McpToolStep/GUARDRAIL_ENABLED", "true"),
        make_config("McpToolStep/ALLOWED_NEXT", '{"__START__": ["a"]}'),
    )

    assert (done.status, done.lifecycle["outcome"]) == ("GUARDRAIL_BLOCKED_NEXT_TOOL", "BLOCKED")
    assert done.lifecycle["blocked"] is True
    assert payload(done.turn, "MCP_TOOL_ERROR")["current_observation_tool"] == "__START__"
    assert done.mcp["finalAnswer"] == "That step is not allowed here."
    assert done.rules_ran


def test_P2_4_11_V9_V11_a_shut_gate_asks_no_planner_and_leaves_nothing_of_the_last_answer() -> None:
    context = {"mcp": {"finalAnswer": "old", "lifecycle": {"status": "ANSWER", "outcome": "ANSWERED", "turnId": "t"}}}
    done = run([answer("x")], context=context, input_params={"dialogue_act": "NEGATE", "mcp_final_answer": "old"})

    assert done.status == "SKIPPED_DIALOGUE_ACT"
    assert "finalAnswer" not in done.mcp
    assert done.mcp["previous"]["status"] == "ANSWER"
    assert done.model.calls == []
    assert not done.rules_ran


def test_P2_4_11_V10_a_confirmed_yes_is_planned_for() -> None:
    done = run([answer("x")], input_params={"dialogue_act": "AFFIRM", "routing_decision": "PROCEED_CONFIRMED"})

    assert done.status == "ANSWER"


def test_a_restricted_operation_is_not_done() -> None:
    done = run([{**call("a"), "operation_tag": "POLICY_RESTRICTED_OPERATION"}], [FOUND])

    assert (done.status, done.lifecycle["outcome"]) == ("GUARDRAIL_BLOCKED_NEXT_TOOL", "BLOCKED")
    assert done.session.input_params["mcp_operation_tag"] == "POLICY_RESTRICTED_OPERATION"
    assert done.mcp["finalAnswer"] == "I am not allowed to do that."
    assert done.tools.calls == []


def test_arguments_that_do_not_fit_are_shown_to_the_planner_and_nothing_is_called() -> None:
    schema = {"type": "object", "properties": {"id": {"type": "integer"}}, "required": ["id"]}
    tool = make_tool("a", input_schema=schema)
    done = run([call("a", order="x"), call("a", id="7"), answer("x")], [FOUND], tools=[tool])

    assert '"error":"INVALID_ARGS"' in done.mcp["observations"][0]["json"]
    assert "order is not an argument" in payload(done.turn, "MCP_TOOL_ERROR")["error_message"]
    assert [call.args for call in done.tools.calls] == [{"id": 7}]


def planner_fails(*more: rows.Row) -> Planned:
    model = ScriptedModel([ScriptLine({"MCP_PLAN"}, error="no answer")])
    turn = make_turn(make_snapshot(make_intent("LOAN"), A, *more), model=model)
    session = McpToolStep().execute(make_session(intent="LOAN", user_text="x"), turn).session
    return Planned(session, turn, model, None)  # type: ignore[arg-type]


def test_a_model_that_fails_is_answered_with_the_text_for_it_unless_it_shall_fail_the_turn() -> None:
    done = planner_fails()

    assert (done.status, done.lifecycle["outcome"]) == ("PLANNER_ERROR", "ERROR")
    assert done.mcp["finalAnswer"].startswith("I could not decide")
    assert payload(done.turn, "MCP_PLAN_LLM_ERROR")["errorCode"] == "LLM_CALL_FAILED"
    with pytest.raises(LlmCallFailed):
        planner_fails(make_config("McpToolStep/ON_PLANNER_ERROR", "FAIL"))


def test_a_prompt_that_cannot_be_made_is_a_failing_planner() -> None:
    planner = rows.Planner(
        planner_id=1, intent_code="ANY", state_code="ANY", system_prompt="Plan.", user_prompt="{{ nothing_such }}"
    )
    done = run([answer("x")], [], planner)

    assert done.status == "PLANNER_ERROR"
    assert payload(done.turn, "MCP_PLAN_LLM_ERROR")["missing"] == ["nothing_such"]


class SlowTools:
    """Executors that take their time, on a clock that tests move."""

    def __init__(self, clock: FrozenClock, each_ms: float) -> None:
        self.clock, self.each_ms = clock, each_ms

    def run(self, tool_code: str, tool_group: str, args: Mapping[str, Any], session: Session) -> ToolAnswer:
        self.clock.elapsed += self.each_ms
        return ToolAnswer({"page": args["page"]})


def test_the_loop_ends_when_its_time_is_over() -> None:
    clock = FrozenClock()
    model = ScriptedModel([ScriptLine({"MCP_PLAN"}, dumps(call("a", page=page)), times=1) for page in range(9)])
    turn = make_turn(make_snapshot(make_intent("LOAN"), A), model=model, tools=SlowTools(clock, 9000), clock=clock)
    session = McpToolStep().execute(make_session(intent="LOAN", user_text="x"), turn).session

    assert session.context["mcp"]["lifecycle"]["reason"] == "TIME_BUDGET"
    assert session.input_params["mcp_status"] == "MAX_LOOPS"
    assert len(model.calls) == 3


class Pauses:
    """A stopwatch that stands still, and pauses that are noted."""

    def __init__(self) -> None:
        self.waited: list[float] = []

    def elapsed_ms(self) -> float:
        return sum(self.waited)

    def wait(self, milliseconds: float) -> None:
        self.waited.append(milliseconds)


def test_calls_wait_as_long_as_is_set() -> None:
    pace = Pauses()
    run(
        [call("a", page=page) for page in range(5)],
        [Stub("a", result=1)],
        make_config("McpToolStep/MCP_TOOL_CALL_DELAY_MS", "10"),
        make_config("McpToolStep/MCP_TOOL_CALL_DELAY_AFTER_CALLS", "3"),
        make_config("McpToolStep/MCP_TOOL_CALL_DELAY_AFTER_MS", "500"),
        turn={"pace": pace},
    )

    assert pace.waited == [10, 10, 10, 510, 510]


def test_a_pause_is_not_longer_than_the_time_that_is_left() -> None:
    pace = Pauses()
    done = run(
        [call("a")],
        [FOUND],
        make_config("McpToolStep/MCP_TOOL_CALL_DELAY_MS", "5000"),
        make_config("McpToolStep/TURN_BUDGET_MS", "1000"),
        turn={"pace": pace},
    )

    assert (done.lifecycle["reason"], pace.waited) == ("TIME_BUDGET", [])


def test_the_current_tool_is_that_of_the_last_observation() -> None:
    done = run([call("a"), call("b"), answer("x")], [FOUND, Stub("b", result=1)])

    current = [payload(done.turn, "MCP_TOOL_CALL", nth)["current_observation_tool"] for nth in (0, 1)]
    assert current == ["__START__", "a"]


WRITES = make_tool("a", read_only=False)


def test_a_tool_that_changes_something_needs_a_confirmation() -> None:
    done = run([call("a"), answer("Shall I?")], [FOUND], tools=[WRITES])

    assert '"error":"CONFIRMATION_REQUIRED"' in done.mcp["observations"][0]["json"]
    assert done.tools.calls == []


@pytest.mark.parametrize("params", [{"routing_decision": "PROCEED_CONFIRMED"}, {"approval_granted": "yes"}])
def test_confirmed_it_runs_once_and_is_noted_before(params: dict[str, Any]) -> None:
    book = BookOfExecutions()
    done = run(
        [call("a", id=1), call("a", id=2), answer("Done.")],
        [FOUND],
        tools=[WRITES],
        input_params=params,
        turn={"executions": book},
    )

    assert [call.args for call in done.tools.calls] == [{"id": 1}]
    assert '"error":"ALREADY_RAN"' in done.mcp["observations"][1]["json"]
    assert [status for status, _, _ in book.claims.values()] == ["EXECUTED"]


def test_what_an_earlier_attempt_at_this_turn_did_is_not_done_again() -> None:
    book = BookOfExecutions()
    given: dict[str, Any] = {
        "tools": [WRITES],
        "input_params": {"approval_granted": True},
        "turn": {"executions": book},
    }
    run([call("a"), answer("x")], [FOUND], **given)
    again = run([call("a"), answer("x")], [], **given)

    assert again.status == "ANSWER"
    assert again.tools.calls == []
    assert "It is on its way." in again.mcp["observations"][0]["json"]


def test_who_decided_is_noted() -> None:
    planner = rows.Planner(planner_id=5, intent_code="ANY", state_code="ANY", system_prompt="P", user_prompt="Q")
    done = run([call("a"), answer("x")], [FOUND], planner)

    noted = {(row.table, row.row_pk) for row in done.turn.decided_rows}
    assert {("ce_mcp_planner", "5"), ("ce_mcp_tool", str(A.tool_id))} <= noted
