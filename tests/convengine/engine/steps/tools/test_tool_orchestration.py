from typing import Any

from convengine.engine.steps.tools.scripted import ScriptedTools, Stub
from convengine.engine.steps.tools.tool_orchestration import ToolOrchestrationStep, run_requested_tool
from convengine.engine.turn import rows
from convengine.engine.turn.ports import ToolAnswer
from convengine.engine.turn.session import ReplyOverride, Session
from convengine.engine.turn.turn import Turn
from tests.builders import (
    make_config,
    make_direct_tool,
    make_intent,
    make_rule,
    make_session,
    make_snapshot,
    make_tool,
    make_turn,
    payload,
    run_step,
    stages,
)

ASKED = make_session(input_params={"tool_request": {"tool_code": "a"}})


LOAN = make_intent("LOAN")
STATUS = make_tool("order.status", tool_id=5)
AFTER = make_rule(phase="POST_TOOL_EXECUTION", action="SET_INPUT_PARAM", action_value="after_tool")
REQUEST = {"tool_code": "order.status", "args": {"id": 1}}
DIRECT = make_direct_tool("order.status", ce_tool_id=8, args_template={"id": "{{ inputParams.order }}"})


def test_the_tool_that_was_asked_for_has_run_when_the_step_is_done() -> None:
    turn = make_turn(make_snapshot(make_tool("a")), tools=ScriptedTools([Stub("a", result=7)]))

    session = ToolOrchestrationStep().execute(ASKED, turn).session

    assert session.input_params["tool_result"]["result"] == 7


def test_switched_off_it_does_nothing() -> None:
    off = make_config("ToolOrchestrationStep/ENABLED", "false")
    turn = make_turn(make_snapshot(make_tool("a"), off), tools=ScriptedTools([]))

    assert run_step(ToolOrchestrationStep(), ASKED, turn) is ASKED
    assert stages(turn) == []


def run(
    *all_rows: rows.Row, request: Any = None, stubs: Any = None, context: Any = None, **fields: Any
) -> tuple[Session, Turn, ScriptedTools]:
    """Orchestrate for LOAN/IDLE; `order.status` answers unless said otherwise. `fields`: params, or the session's."""
    tools = ScriptedTools(stubs or [Stub("order.status", result={"s": "X"}), Stub(tool_group="RAG", result=[1])])
    turn = make_turn(make_snapshot(LOAN, *all_rows), tools=tools)
    own = {key: fields.pop(key) for key in ("reply_override", "reset_only") if key in fields}
    params = {**({"tool_request": request} if request is not None else {}), **fields}
    session = make_session(
        intent="LOAN", state="IDLE", user_text="go", input_params=params, context=context or {}, **own
    )
    return run_requested_tool(session, turn), turn, tools


def test_P2_3_4_V1_without_a_request_nothing_happens() -> None:
    session, turn, tools = run(STATUS, AFTER)

    assert stages(turn) == []
    assert (session.input_params, session.context, tools.calls) == ({}, {}, [])


def test_P2_3_4_V2_the_requested_tool_runs_and_its_rules_after_it() -> None:
    session, turn, tools = run(STATUS, AFTER, request=REQUEST)

    assert [call.args for call in tools.calls] == [{"id": 1}]
    params = session.input_params
    assert (params["tool_status"], params["tool_result"]["result"], params["after_tool"]) == (
        "SUCCESS",
        {"s": "X"},
        True,
    )
    assert params["tool_result"]["tool_group"] == "HTTP_API"
    assert session.context["mcp"]["toolExecution"]["result"] == {"s": "X"}
    assert payload(turn, "TOOL_ORCHESTRATION_REQUEST")["args"] == {"id": 1}
    assert payload(turn, "TOOL_ORCHESTRATION_RESULT")["status"] == "SUCCESS"
    assert "RULE_APPLIED (ToolOrchestrationStep PostTool)" in stages(turn)


def test_P2_3_4_V3_a_tool_of_another_place_is_skipped() -> None:
    elsewhere = make_tool("order.status", intent_code="BILLING")

    session, turn, tools = run(elsewhere, AFTER, request=REQUEST)

    assert tools.calls == []
    assert session.input_params["tool_status"] == "SKIPPED_SCOPE_MISMATCH"
    assert session.context["mcp"]["toolExecution"]["scopeMismatch"] is True
    assert payload(turn, "TOOL_ORCHESTRATION_RESULT")["status"] == "SKIPPED_SCOPE_MISMATCH"
    assert "TOOL_ORCHESTRATION_ERROR" not in stages(turn)
    assert session.input_params["after_tool"] is True


def test_P2_3_4_V4_a_tool_that_fails_is_an_outcome() -> None:
    session, turn, _ = run(STATUS, AFTER, request=REQUEST, stubs=[Stub("order.status", error="upstream said 503")])

    assert session.input_params["tool_result"]["error"] == "upstream said 503"
    assert payload(turn, "TOOL_ORCHESTRATION_ERROR")["status"] == "ERROR"
    assert session.context["mcp"]["toolExecution"]["errorMessage"] == "upstream said 503"
    assert session.input_params["after_tool"] is True


def test_P2_3_4_V7_a_group_alone_is_refused_unless_that_is_wanted() -> None:
    allowed = make_config("ToolOrchestrationStep/ALLOW_GROUP_ONLY", "true")

    refused, _, tools = run(request={"tool_group": "rag"})
    ran, _, _ = run(allowed, request={"tool_group": "rag"})

    assert (refused.input_params["tool_status"], tools.calls) == ("ERROR", [])
    assert refused.input_params["tool_result"]["error"].startswith("GROUP_ONLY_NOT_ALLOWED")
    assert ran.input_params["tool_result"]["tool_group"] == "DOCUMENT_RETRIEVAL"
    assert ran.input_params["tool_result"]["result"] == [1]


def test_P2_3_4_V8_a_skip_flag_is_kept_in_silence() -> None:
    session, turn, tools = run(STATUS, request=REQUEST, skip_tool_execution=True)

    assert (stages(turn), tools.calls) == ([], [])
    assert "tool_status" not in session.input_params


def test_P2_3_4_V9_what_an_earlier_turn_asked_for_is_not_asked_again() -> None:
    first, _, _ = run(STATUS, request=REQUEST)

    _, turn, tools = run(STATUS, context=first.context)

    assert (stages(turn), tools.calls) == ([], [])


def test_P2_3_4_V10_a_large_result_is_kept_as_a_preview() -> None:
    session, turn, _ = run(STATUS, request=REQUEST, stubs=[Stub("order.status", result="x" * 100_000)])

    result = session.context["mcp"]["toolExecution"]["result"]
    assert (result["truncated"], result["bytes"]) == (True, 100_002)
    assert len(result["preview"]) == 1000
    assert payload(turn, "TOOL_ORCHESTRATION_RESULT")["result"] == result


def test_no_executor_is_an_error_of_the_tool_step() -> None:
    turn = make_turn(make_snapshot(LOAN, STATUS))

    session = run_requested_tool(
        make_session(intent="LOAN", state="IDLE", input_params={"tool_request": REQUEST}), turn
    )

    error = payload(turn, "TOOL_ORCHESTRATION_ERROR")["error"]
    assert error == "No executor is installed for tool order.status of group HTTP_API. Registered: none."
    assert session.input_params["tool_status"] == "ERROR"


def test_a_request_that_names_no_tool_is_told() -> None:
    session, turn, _ = run(AFTER, request={"args": {}})

    assert payload(turn, "TOOL_ORCHESTRATION_ERROR")["error"].startswith("INVALID_TOOL_REQUEST")
    assert "TOOL_ORCHESTRATION_REQUEST" not in stages(turn)
    assert session.input_params["tool_status"] == "ERROR"


def test_a_request_for_another_group_than_the_tools_is_refused() -> None:
    session, _, tools = run(STATUS, request={**REQUEST, "tool_group": "DB"})

    assert session.input_params["tool_result"]["error"].startswith("TOOL_GROUP_MISMATCH")
    assert tools.calls == []


def test_a_guardrail_refuses_what_was_asked_for_and_says_so() -> None:
    session, turn, tools = run(STATUS, request=REQUEST, guardrail_blocked=True, skip_tool_execution=True)

    assert (session.input_params["tool_status"], tools.calls) == ("SKIPPED_BY_GUARDRAIL", [])
    assert payload(turn, "TOOL_ORCHESTRATION_RESULT")["status"] == "SKIPPED_BY_GUARDRAIL"
    assert stages(run(STATUS, guardrail_blocked=True)[1]) == []


def test_nothing_runs_when_the_answer_is_already_decided_or_the_turn_only_resets() -> None:
    override = ReplyOverride("No.", "SESSION")

    for fields in ({"reply_override": override}, {"reset_only": True}):
        assert stages(run(STATUS, request=REQUEST, **fields)[1]) == []


def test_a_row_calls_its_tool_without_being_asked() -> None:
    session, turn, tools = run(STATUS, DIRECT, order="A-7")

    assert [call.args for call in tools.calls] == [{"id": "A-7"}]
    assert session.input_params["tool_request"]["args"] == {"id": "A-7"}
    assert payload(turn, "TOOL_ORCHESTRATION_REQUEST")["ceToolId"] == 8
    assert stages(turn)[0] == "DECISION"


def test_a_request_comes_before_a_row() -> None:
    _, turn, tools = run(STATUS, DIRECT, request=REQUEST)

    assert [call.args for call in tools.calls] == [{"id": 1}]
    assert "DECISION" not in stages(turn)


def test_a_row_runs_once_while_its_success_is_held() -> None:
    first, _, _ = run(STATUS, DIRECT, order="A-7")

    same, turn, tools = run(STATUS, DIRECT, context=first.context, order="A-7")
    _, _, others = run(STATUS, DIRECT, context=first.context, order="A-8")

    assert tools.calls == []
    assert (same.input_params["tool_status"], same.input_params["tool_result"]["result"]) == ("SUCCESS", {"s": "X"})
    assert payload(turn, "TOOL_ORCHESTRATION_RESULT")["reused"] is True
    assert len(others.calls) == 1


def test_a_row_may_run_every_time() -> None:
    again = make_direct_tool("order.status", run_once=False)
    first, _, _ = run(STATUS, again)

    assert len(run(STATUS, again, context=first.context)[2].calls) == 1


def test_a_held_failure_is_tried_again() -> None:
    failed, _, _ = run(STATUS, DIRECT, order="A-7", stubs=[Stub("order.status", error="down")])

    assert len(run(STATUS, DIRECT, context=failed.context, order="A-7")[2].calls) == 1


class Broken:
    """An executor that gives a type and no text."""

    def run(self, *args: Any) -> ToolAnswer:
        return ToolAnswer(error_type="TIMEOUT")


def test_an_error_without_a_text_is_told_by_its_type() -> None:
    turn = make_turn(make_snapshot(LOAN, STATUS), tools=Broken())

    run_requested_tool(make_session(intent="LOAN", state="IDLE", input_params={"tool_request": REQUEST}), turn)

    assert payload(turn, "TOOL_ORCHESTRATION_ERROR")["error"] == "TIMEOUT"
