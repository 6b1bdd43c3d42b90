from dataclasses import replace
from typing import Any

import pytest

from convengine.engine.llm.scripted import ScriptedModel, ScriptLine
from convengine.engine.steps.tools.mcp_tool import (
    McpToolStep,
    Skip,
    clear_planner_state,
    find_shut_gate,
    skip_planner,
)
from convengine.engine.steps.tools.stages import MCP_NO_TOOLS_AVAILABLE
from convengine.engine.turn import rows
from convengine.engine.turn.codec import dumps
from convengine.engine.turn.session import FIELDS, Clarification, ReplyOverride, Session
from convengine.engine.turn.turn import Turn
from tests.builders import (
    TURN,
    make_intent,
    make_response,
    make_rule,
    make_schema,
    make_session,
    make_snapshot,
    make_tool,
    make_turn,
    payload,
    stages,
)
from tests.convengine.engine.steps.tools.planning import answer

LOAN = make_intent("LOAN")
OPENS = make_rule(phase="PRE_AGENT_MCP", intent_code="LOAN", state_code="READY", action_value="PROCESS")


def run(*all_rows: rows.Row, **fields: Any) -> tuple[Session, Turn]:
    turn = make_turn(make_snapshot(LOAN, *all_rows))
    session = make_session(**{"intent": "LOAN", "state": "READY", "user_text": "process", **fields})
    return McpToolStep().execute(session, turn).session, turn


def test_an_ordinary_turn_has_no_tools_and_says_so() -> None:
    session, turn = run()

    assert session.input_params["mcp_status"] == "NO_TOOLS_FOR_SCOPE"
    assert stages(turn)[-2:] == ["MCP_NO_TOOLS_AVAILABLE", "MCP_SKIPPED"]


def test_a_rule_before_the_planner_decides_which_tools_are_in_scope() -> None:
    session, turn = run(OPENS, make_tool("loan.check", intent_code="LOAN", state_code="PROCESS"))

    assert session.state == "PROCESS"
    assert session.input_params["mcp_status"] == "NO_MODEL"
    assert payload(turn, "MCP_SKIPPED")["reason"] == "LLM_NOT_CONFIGURED"
    assert "RULE_APPLIED (McpToolStep PreMcp)" in stages(turn)
    assert "MCP_NO_TOOLS_AVAILABLE" not in stages(turn)


def test_no_rule_runs_when_the_answer_is_already_decided() -> None:
    session, turn = run(
        OPENS, reply_override=ReplyOverride("No.", "GUARDRAIL"), input_params={"guardrail_blocked": True}
    )

    assert session.state == "READY"
    assert stages(turn) == ["MCP_SKIPPED"]
    assert session.input_params["mcp_status"] == "SKIPPED_BY_GUARDRAIL"


def test_rules_after_the_planner_do_not_run_when_no_planner_ran() -> None:
    after = make_rule(phase="POST_AGENT_MCP", action="SET_INPUT_PARAM", action_value="planned")

    assert "planned" not in run(after)[0].input_params


def test_rules_see_nothing_of_the_last_answer() -> None:
    stale = make_rule(
        phase="PRE_AGENT_MCP", rule_type="JSON_PATH", match_pattern="$.context.mcp.finalAnswer", action_value="STALE"
    )

    session, _ = run(stale, context={"mcp": {"finalAnswer": "old"}})

    assert session.state == "READY"


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


TOOL = make_tool("loan.check", intent_code="LOAN")
ACTS = ["NEGATE", "RESET", "EDIT", "AFFIRM"]


def check_gate(*all_rows: rows.Row, model: bool = True, **fields: Any) -> Skip | None:
    """The gate for LOAN/IDLE with a model and a tool; what is not a field of the session is an input param."""
    turn = make_turn(make_snapshot(LOAN, *(all_rows or (TOOL,))), model=ScriptedModel([]) if model else None)
    own = {key: fields.pop(key) for key in list(fields) if key in FIELDS}
    return find_shut_gate(make_session(**{"intent": "LOAN", "state": "IDLE", "input_params": fields, **own}), turn)


def status(*all_rows: rows.Row, **fields: Any) -> str | None:
    skip = check_gate(*all_rows, **fields)
    assert skip is not None
    return skip.status


def test_nothing_is_shut_without_a_reason() -> None:
    assert check_gate() is None
    assert check_gate(dialogue_act="QUESTION") is None


@pytest.mark.parametrize("flag", ["skip_tool_execution", "guardrail_blocked"])
def test_a_guardrail_shuts_before_everything_else(flag: str) -> None:
    assert status(clarification=Clarification("Q?", "AGENT"), **{flag: "true"}) == "SKIPPED_BY_GUARDRAIL"


def test_P2_4_11_V9_an_incomplete_form_shuts() -> None:
    schema = make_schema("LOAN", {"amount": {}})

    skip = check_gate(resolved_schema=schema, schema_complete=False, missing_required_fields=("amount",))

    assert skip is not None
    assert (skip.status, skip.about["missing_fields"]) == ("SKIPPED_SCHEMA_INCOMPLETE", ["amount"])
    assert check_gate(resolved_schema=schema, schema_complete=True) is None


@pytest.mark.parametrize("act", ACTS)
def test_acts_that_decide_something_shut(act: str) -> None:
    assert status(dialogue_act=act) == "SKIPPED_DIALOGUE_ACT"


def test_P2_4_11_V10_a_confirmed_yes_passes() -> None:
    assert check_gate(dialogue_act="AFFIRM", routing_decision="PROCEED_CONFIRMED") is None
    assert status(dialogue_act="NEGATE", routing_decision="PROCEED_CONFIRMED") == "SKIPPED_DIALOGUE_ACT"


def test_a_greeting_is_one_by_its_act_and_not_by_its_first_word() -> None:
    assert status(dialogue_act="GREETING") == "SKIPPED_GREETING"
    assert check_gate(dialogue_act="QUESTION", user_text="hello, where is order 7?") is None


def test_an_open_question_shuts_and_leaves_the_status() -> None:
    skip = check_gate(clarification=Clarification("Which?", "AGENT"))

    assert skip is not None
    assert (skip.status, skip.reason) == (None, "PENDING_CLARIFICATION")


@pytest.mark.parametrize(
    "tool",
    [
        make_tool("a", intent_code="FAQ"),
        make_tool("a", intent_code="LOAN", state_code="DONE"),
        make_tool("a", enabled=False),
    ],
)
def test_P2_4_11_V1_without_a_tool_in_scope_there_is_nothing_to_plan(tool: rows.Tool) -> None:
    skip = check_gate(tool)

    assert skip is not None
    assert (skip.status, skip.outcome) == ("NO_TOOLS_FOR_SCOPE", "NO_TOOLS")


def test_without_a_model_nobody_plans() -> None:
    skip = check_gate(model=False)

    assert skip is not None
    assert (skip.status, skip.reason) == ("NO_MODEL", "LLM_NOT_CONFIGURED")


def test_without_tools_and_model_it_is_the_tools_that_are_told() -> None:
    assert status(make_tool("a", enabled=False), model=False) == "NO_TOOLS_FOR_SCOPE"


def test_a_turn_whose_answer_is_decided_plans_nothing() -> None:
    override = check_gate(reply_override=ReplyOverride("No.", "SESSION"))
    reset = check_gate(reset_only=True)

    assert override is not None
    assert reset is not None
    assert (override.reason, reset.reason) == ("REPLY_OVERRIDE", "RESET_ONLY")


FIXED = make_response(intent_code="LOAN", state_code="READY", exact_text="Your loan is ready.")
EVERYWHERE = make_tool("sum", intent_code="ANY", state_code="ANY")
SERVER = rows.McpServer(server_id=1, name="shop", transport="HTTP", url="http://127.0.0.1:9/mcp", timeout_ms=100)


@pytest.mark.parametrize(
    ("more", "fields", "asks"),
    [
        pytest.param((FIXED,), {}, False, id="a fixed answer"),
        pytest.param((replace(FIXED, state_code="ANY"),), {}, False, id="a fixed answer of every state"),
        pytest.param((FIXED, SERVER), {}, False, id="a fixed answer beside a server of every intent"),
        pytest.param((replace(FIXED, exact_text="{{ context.name }}"),), {}, False, id="an answer with a value"),
        pytest.param((), {}, True, id="no answer"),
        pytest.param((replace(FIXED, response_type="DERIVED"),), {}, True, id="an answer of the model"),
        pytest.param((replace(FIXED, exact_text="{{ context.mcp.finalAnswer }}"),), {}, True, id="its own answer"),
        pytest.param((replace(FIXED, exact_text="{{ mcp_observations }}"),), {}, True, id="what tools returned"),
        pytest.param((FIXED, make_rule(phase="POST_AGENT_MCP")), {}, True, id="a rule after it"),
        pytest.param((FIXED, make_rule(match_pattern="mcp_status")), {}, True, id="a rule that reads it"),
        pytest.param((FIXED, make_tool("a", intent_code="LOAN")), {}, True, id="a tool of the intent"),
        pytest.param((FIXED, make_tool("a", state_code="READY")), {}, True, id="a tool of the state"),
        pytest.param((FIXED,), {"intent": "UNKNOWN"}, True, id="an unknown intent"),
        pytest.param((FIXED,), {"input_params": {"approval_granted": True}}, True, id="an approval"),
        pytest.param((FIXED,), {"input_params": {"routing_decision": "PROCEED_CONFIRMED"}}, True, id="a confirmation"),
    ],
)
def test_tools_of_every_intent_are_planned_only_where_something_needs_them(
    more: tuple[rows.Row, ...], fields: dict[str, Any], asks: bool
) -> None:
    model = ScriptedModel([ScriptLine({"MCP_PLAN"}, dumps(answer("")))])
    turn = make_turn(make_snapshot(LOAN, EVERYWHERE, *more), model=model)
    session = make_session(**{"intent": "LOAN", "state": "READY", "user_text": "is it ready", **fields})

    session = McpToolStep().execute(session, turn).session

    assert (session.input_params["mcp_status"] == "SKIPPED_ANSWERED") is not asks
    assert ("MCP_PLAN_LLM_INPUT" in stages(turn)) is asks
