from typing import Any

from convengine.engine.steps.tools.mcp_tool import McpToolStep
from convengine.engine.turn import rows
from convengine.engine.turn.session import ReplyOverride, Session
from convengine.engine.turn.turn import Turn
from tests.builders import make_intent, make_rule, make_session, make_snapshot, make_tool, make_turn, payload, stages

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
