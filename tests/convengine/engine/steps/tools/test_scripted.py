from typing import Any

from convengine.engine.steps.tools.scripted import ScriptedTools, Stub, StubbedCall
from convengine.engine.turn.ports import ToolAnswer
from tests.builders import make_session


def run(tools: ScriptedTools, tool_code: str = "stock", tool_group: str = "DB", **args: Any) -> ToolAnswer:
    return tools.run(tool_code, tool_group, args, make_session())


def test_the_first_stub_of_the_tool_answers() -> None:
    tools = ScriptedTools([Stub("other", result=1), Stub("stock", result=2), Stub("stock", result=3)])

    assert run(tools).result == 2


def test_a_stub_answers_requests_that_have_its_arguments_and_more() -> None:
    tools = ScriptedTools([Stub("stock", when_args={"at": {"house": "B"}}, result=2), Stub("stock", result=3)])

    assert run(tools, at={"house": "B", "row": 1}, limit=5).result == 2
    assert run(tools, at={"house": "C"}).result == 3


def test_a_stub_is_used_up_after_its_times() -> None:
    tools = ScriptedTools([Stub("stock", result=1, times=2), Stub("stock", result=2)])

    assert [run(tools).result for _ in range(3)] == [1, 1, 2]


def test_a_stub_of_a_group_answers_requests_without_a_tool() -> None:
    tools = ScriptedTools([Stub(tool_group="rag", result="found")])

    assert run(tools, "", "DOCUMENT_RETRIEVAL").result == "found"
    assert run(tools, "stock", "DOCUMENT_RETRIEVAL").error_type == "UNSCRIPTED"


def test_a_stub_of_a_tool_does_not_answer_a_request_of_a_group() -> None:
    assert run(ScriptedTools([Stub("stock", result=1)]), "", "DB").error_type == "UNSCRIPTED"


def test_an_error_is_a_failure_with_its_text_and_counts_as_a_call() -> None:
    tools = ScriptedTools([Stub("stock", error="upstream said 503")])

    assert run(tools, q=1).error_message == "upstream said 503"
    assert tools.calls == [StubbedCall("stock", "DB", {"q": 1})]


def test_a_request_without_a_stub_fails_and_does_not_count() -> None:
    tools = ScriptedTools([])

    assert run(tools, q=1).error_type == "UNSCRIPTED"
    assert tools.calls == []
