from typing import Any

import pytest
from jsonschema import Draft202012Validator

from convengine.engine.steps.tools.plan import (
    ANSWER,
    CALL_TOOL,
    FALLBACKS,
    GROUP_SCHEMAS,
    ToolPlan,
    choose_prompts,
    find_shown_schema,
    read_plan,
)
from convengine.engine.steps.tools.scripted import Stub
from convengine.engine.turn import rows
from convengine.engine.turn.codec import loads
from convengine.engine.turn.session import Exchange
from tests.builders import make_config, make_intent, make_session, make_snapshot, make_tool, make_turn, payload
from tests.convengine.engine.steps.tools.planning import answer, call, run


def planner(planner_id: int, intent: str, state: str, user: str = "{{ mcp_tools }}") -> rows.Planner:
    return rows.Planner(
        planner_id=planner_id, intent_code=intent, state_code=state, system_prompt=f"P{planner_id}", user_prompt=user
    )


def test_the_most_specific_row_is_the_planner_and_of_these_the_newest() -> None:
    planner_rows = [
        planner(1, "ANY", "ANY"),
        planner(2, "LOAN", "ANY"),
        planner(3, "LOAN", "READY"),
        planner(4, "LOAN", "READY"),
        planner(9, "OTHER", "READY"),
    ]
    turn = make_turn(make_snapshot(make_intent("LOAN"), make_intent("OTHER"), *planner_rows))

    assert choose_prompts(make_session(intent="LOAN", state="READY"), turn).system == "P4"
    assert choose_prompts(make_session(intent="LOAN", state="X"), turn).system == "P2"
    assert choose_prompts(make_session(intent="UNKNOWN", state="X"), turn).system == "P1"


def test_without_a_row_the_settings_are_the_prompts_and_below_them_built_in_texts() -> None:
    own = make_turn(make_snapshot(make_config("McpPlanner/SYSTEM_PROMPT", "Mine.")))

    assert choose_prompts(make_session(), own).system == "Mine."
    assert "{{ mcp_tools }}" in choose_prompts(make_session(), make_turn()).system


def test_R119_the_built_in_prompt_has_the_summary_and_the_last_turns_when_there_are_any() -> None:
    known = {"context_summary": "Wants a chair.", "history": (Exchange("hello", "What can I do?"),)}
    prompt = payload(run([answer("x")], turn_no=9, **known).turn, "MCP_PLAN_LLM_INPUT")["user_prompt"]
    second = payload(run([answer("x")], turn_no=2, **known).turn, "MCP_PLAN_LLM_INPUT")["user_prompt"]
    new = payload(run([answer("x")]).turn, "MCP_PLAN_LLM_INPUT")["user_prompt"]

    assert "Summary so far:\nWants a chair." in prompt
    assert "What can I do?" in prompt
    # The summary says what is not in the turns.
    assert "Summary so far" not in second
    assert "Summary so far" not in new
    assert "so far, oldest" not in new


def test_the_planner_is_told_what_each_tool_takes() -> None:
    schema = {"type": "object", "properties": {"id": {"type": "string"}}}
    tools = [make_tool("b.two", tool_group="DB"), make_tool("a.one", description="First.", input_schema=schema)]
    done = run([answer("x")], [], planner(1, "ANY", "ANY"), tools=tools)

    assert loads(payload(done.turn, "MCP_PLAN_LLM_INPUT")["user_prompt"]) == [
        {"tool_code": "b.two", "tool_group": "DB", "description": None, "input_schema": None},
        {"tool_code": "a.one", "tool_group": "HTTP_API", "description": "First.", "input_schema": schema},
    ]


def test_codes_in_back_ticks_narrow_the_list_unless_none_is_there() -> None:
    tools = [make_tool("a.one"), make_tool("b.two")]
    narrow = run([answer("x")], [], planner(1, "ANY", "ANY", "Use `a.one`. {{ mcp_tools }}"), tools=tools)
    none = run([answer("x")], [], planner(1, "ANY", "ANY", "Use `c.three`. {{ mcp_tools }}"), tools=tools)

    assert "b.two" not in payload(narrow.turn, "MCP_PLAN_LLM_INPUT")["user_prompt"]
    assert "b.two" in payload(none.turn, "MCP_PLAN_LLM_INPUT")["user_prompt"]


def test_the_trail_has_what_the_planner_saw_and_said() -> None:
    done = run([call("a"), answer("x")], [Stub("a", result={"n": 1})])

    event = payload(done.turn, "MCP_PLAN_LLM_INPUT", 1)
    assert event["mcp_observations_compacted"] == [{"toolCode": "a", "json": {"n": 1}}]
    assert event["mcp_observations_raw_chars"] > 0
    assert event["mcp_observations_final_chars"] > 0
    assert event["schema"]["additionalProperties"] is False
    assert "{{ mcp_tools }}" in event["templateFromCeConfig (McpPlanner)"]
    assert payload(done.turn, "MCP_PLAN_LLM_OUTPUT", 1)["json"]["answer"] == "x"


def test_so_many_results_are_shown_as_there_may_be_rounds_unless_set() -> None:
    calls = [*(call("a", page=page) for page in range(3)), answer("x")]
    stub = [Stub("a", when_args={"page": page}, result=page) for page in range(3)]
    every = run(calls, stub)
    two = run(calls, stub, make_config("McpPlanner/MCP_PLANNER_MAX_OBSERVATIONS_COUNT", "2"))

    assert len(payload(every.turn, "MCP_PLAN_LLM_INPUT", 3)["mcp_observations_compacted"]) == 3
    assert len(payload(two.turn, "MCP_PLAN_LLM_INPUT", 3)["mcp_observations_compacted"]) == 2


@pytest.mark.parametrize("group", GROUP_SCHEMAS)
def test_each_group_is_described_by_a_schema(group: str) -> None:
    Draft202012Validator.check_schema(GROUP_SCHEMAS[group])


def test_what_a_tool_says_itself_is_shown_before_what_its_group_takes() -> None:
    own, plain = make_tool("a", tool_group="FILE", input_schema={"type": "object"}), make_tool("b", tool_group="FILE")
    task = make_tool("c", tool_group="WORKFLOW_ACTION")
    snapshot = make_snapshot(own, plain, task)

    assert [find_shown_schema(snapshot, tool) for tool in (own, plain, task)] == [
        {"type": "object"},
        GROUP_SCHEMAS["FILES"],
        None,
    ]


@pytest.mark.parametrize(
    ("reply", "action", "tool", "args", "reason"),
    [
        ({"action": "call_tool", "tool_code": " a ", "args": {"x": 1}}, CALL_TOOL, "a", {"x": 1}, None),
        ({"tool_code": "a"}, CALL_TOOL, "a", {}, None),
        ({"answer": "yes"}, ANSWER, None, {}, None),
        ({}, ANSWER, None, {}, None),
        ({"action": "ANSWER", "args": {"x": 1}, "answer": "yes"}, ANSWER, None, {}, None),
        ({"action": "CALL_TOOL", "tool_code": " "}, ANSWER, None, {}, "PLAN_WITHOUT_TOOL"),
        ({"action": "think", "tool_code": "a"}, ANSWER, None, {}, "PLAN_ACTION_UNKNOWN"),
        ({"action": "ANSWER", "operation_tag": 1}, ANSWER, None, {}, "PLAN_UNREADABLE"),
        ("ANSWER", ANSWER, None, {}, "PLAN_UNREADABLE"),
        (None, ANSWER, None, {}, "PLAN_UNREADABLE"),
    ],
)
def test_every_reply_comes_down_to_a_plan(reply: Any, action: str, tool: Any, args: Any, reason: Any) -> None:
    plan = read_plan(reply)

    assert (plan.action, plan.tool_code, dict(plan.args), plan.reason) == (action, tool, args, reason)
    assert plan.reason is None or plan.reason in FALLBACKS


@pytest.mark.parametrize(("given", "text"), [("yes", "yes"), (None, ""), (7, "7"), ({"a": 1}, '{"a":1}')])
def test_an_answer_is_a_text(given: Any, text: str) -> None:
    assert read_plan({"action": "ANSWER", "answer": given}).answer == text


def test_two_calls_are_the_same_whatever_the_order_of_their_names() -> None:
    plan = ToolPlan(CALL_TOOL, "Order.Status", {"a": {"x": 1, "y": [{"k": 1, "l": 2}]}, "b": 2})
    other = ToolPlan(CALL_TOOL, "order.status", {"b": 2, "a": {"y": [{"l": 2, "k": 1}], "x": 1}})

    assert plan.call == other.call
    assert plan.call != ToolPlan(CALL_TOOL, "order.status", {"b": 3}).call
