from convengine.engine.steps.tools.outcome import (
    ERROR,
    MISMATCH,
    SUCCESS,
    ToolOutcome,
    cap_result,
    describe_tool,
    get_mcp_branch,
)
from tests.builders import make_session, make_tool

SESSION = make_session(intent="LOAN", state="IDLE")


def test_a_success_tells_its_result() -> None:
    outcome = ToolOutcome(SUCCESS, "a", "DB", {"x": 1}, {"rows": 2}, tool=make_tool("a", tool_id=3))

    assert outcome.to_result(SESSION)["result"] == {"rows": 2}
    execution = outcome.to_execution()
    assert (execution["outcome"], execution["toolExecuted"], execution["error"]) == ("SUCCESS", True, False)
    assert (execution["args"], execution["meta"]["tool_id"]) == ({"x": 1}, 3)


def test_an_error_tells_what_went_wrong() -> None:
    outcome = ToolOutcome(ERROR, "a", error="down")

    assert outcome.to_result(SESSION) == {
        "status": "ERROR", "tool_code": "a", "tool_group": None, "error": "down", "_meta": {},
    }  # fmt: skip
    assert (outcome.to_execution()["errorMessage"], outcome.to_execution()["error"]) == ("down", True)


def test_a_mismatch_tells_where_the_session_stood() -> None:
    outcome = ToolOutcome(MISMATCH, "a", "DB")

    assert (outcome.to_result(SESSION)["intent"], outcome.to_result(SESSION)["state"]) == ("LOAN", "IDLE")
    execution = outcome.to_execution()
    assert (execution["outcome"], execution["scopeMismatch"], execution["toolExecuted"]) == (
        "SCOPE_MISMATCH",
        True,
        False,
    )
    assert "result" not in execution


def test_a_result_within_the_limit_is_kept_as_it_is() -> None:
    assert cap_result({"a": "é"}, 10) == {"a": "é"}
    assert cap_result({"a": "éé"}, 10) == {"truncated": True, "bytes": 12, "preview": '{"a":"éé"}'}


def test_a_branch_that_is_no_object_reads_as_empty() -> None:
    assert get_mcp_branch(make_session(context={"mcp": "text"})) == {}


def test_without_a_row_there_is_nothing_to_tell_of_it() -> None:
    assert describe_tool(None) == {}
