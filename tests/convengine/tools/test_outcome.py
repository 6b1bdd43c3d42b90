from convengine.tools.outcome import ERROR, MISMATCH, SUCCESS, Outcome, capped, mcp_branch, meta
from tests.builders import make_session, make_tool

SESSION = make_session(intent="LOAN", state="IDLE")


def test_a_success_tells_its_result() -> None:
    outcome = Outcome(SUCCESS, "a", "DB", {"x": 1}, {"rows": 2}, tool=make_tool("a", tool_id=3))

    assert outcome.told(SESSION)["result"] == {"rows": 2}
    execution = outcome.execution()
    assert (execution["outcome"], execution["toolExecuted"], execution["error"]) == ("SUCCESS", True, False)
    assert (execution["args"], execution["meta"]["tool_id"]) == ({"x": 1}, 3)


def test_an_error_tells_what_went_wrong() -> None:
    outcome = Outcome(ERROR, "a", error="down")

    assert outcome.told(SESSION) == {
        "status": "ERROR", "tool_code": "a", "tool_group": None, "error": "down", "_meta": {},
    }  # fmt: skip
    assert (outcome.execution()["errorMessage"], outcome.execution()["error"]) == ("down", True)


def test_a_mismatch_tells_where_the_session_stood() -> None:
    outcome = Outcome(MISMATCH, "a", "DB")

    assert (outcome.told(SESSION)["intent"], outcome.told(SESSION)["state"]) == ("LOAN", "IDLE")
    execution = outcome.execution()
    assert (execution["outcome"], execution["scopeMismatch"], execution["toolExecuted"]) == (
        "SCOPE_MISMATCH",
        True,
        False,
    )
    assert "result" not in execution


def test_a_result_within_the_limit_is_kept_as_it_is() -> None:
    assert capped({"a": "é"}, 10) == {"a": "é"}
    assert capped({"a": "éé"}, 10) == {"truncated": True, "bytes": 12, "preview": '{"a":"éé"}'}


def test_a_branch_that_is_no_object_reads_as_empty() -> None:
    assert mcp_branch(make_session(context={"mcp": "text"})) == {}


def test_without_a_row_there_is_nothing_to_tell_of_it() -> None:
    assert meta(None) == {}
