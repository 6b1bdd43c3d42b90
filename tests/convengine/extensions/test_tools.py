import threading
from collections.abc import Mapping
from typing import Any

import pytest

from convengine.domain.ports import ToolAnswer
from convengine.domain.recording import Playback, Recording
from convengine.domain.session import Session
from convengine.extensions import registry as registered
from convengine.extensions.registry import Registry, ToolEntry, tool
from convengine.extensions.tools import RegisteredTools
from convengine.tools.taped import TapedTools

SESSION = Session("c", intent="ORDER_STATUS", state="LOOKUP", context={"orderNumber": "48392"})


def stock(args: Mapping[str, Any], session: Mapping[str, Any]) -> Any:
    return {"left": 3, "of": args["what"], "order": session["context"]["orderNumber"]}


def run(entry: ToolEntry, group: str = "WORKFLOW_ACTION", code: str = "stock.left") -> ToolAnswer:
    return RegisteredTools(Registry(tools={"stock.left": entry})).run(code, group, {"what": "lamps"}, SESSION)


@pytest.fixture
def own(monkeypatch: pytest.MonkeyPatch) -> Registry:
    registry = Registry()
    monkeypatch.setattr(registered, "registry", registry)
    return registry


def test_a_registered_tool_gets_its_arguments_and_the_facts_of_the_session() -> None:
    answer = run(ToolEntry(stock, "action", 5000))

    assert answer == ToolAnswer({"left": 3, "of": "lamps", "order": "48392"})


@pytest.mark.parametrize(("group", "code"), [("DB", "stock.left"), ("WORKFLOW_ACTION", "stock.right")])
def test_a_tool_of_another_code_or_group_has_no_executor(group: str, code: str) -> None:
    assert run(ToolEntry(stock, "WORKFLOW_ACTION", 5000), group, code).error_type == "NO_EXECUTOR"


def test_a_request_for_a_group_alone_has_no_executor() -> None:
    answer = run(ToolEntry(stock, "FILES", 5000), "FILES", "")

    assert answer == ToolAnswer(
        error_type="NO_EXECUTOR",
        error_message="No executor is installed for group FILES. Registered: stock.left (FILES).",
    )


def test_what_a_tool_raises_is_its_error() -> None:
    def fails(args: Any, session: Any) -> None:
        raise LookupError("no such order")

    assert run(ToolEntry(fails, "WORKFLOW_ACTION", 5000)) == ToolAnswer(
        error_type="LookupError", error_message="no such order"
    )


def test_a_result_that_is_no_json_is_an_error() -> None:
    assert run(ToolEntry(lambda args, session: object(), "WORKFLOW_ACTION", 5000)).error_type == "TypeError"


def test_a_tool_that_takes_too_long_is_not_waited_for() -> None:
    gate = threading.Event()
    try:
        assert run(ToolEntry(lambda args, session: gate.wait(), "WORKFLOW_ACTION", 20)).error_type == "TimeoutError"
    finally:
        gate.set()


def test_a_replay_never_runs_a_tool() -> None:
    calls: list[Any] = []
    entry = ToolEntry(lambda args, session: calls.append(args) or 7, "WORKFLOW_ACTION", 5000)
    tape = Recording()

    live = TapedTools(RegisteredTools(Registry(tools={"a": entry})), tape).run("a", "ACTION", {}, SESSION)
    again = TapedTools(RegisteredTools(Registry()), Playback(tape.entries)).run("a", "ACTION", {}, SESSION)

    assert live == again == ToolAnswer(7)
    assert len(calls) == 1


def test_tools_are_registered_by_code_and_once(own: Registry) -> None:
    tool("order.status")(stock)

    assert own.tools == {"order.status": ToolEntry(stock, "WORKFLOW_ACTION", 5000)}
    with pytest.raises(ValueError, match=r"already a tool order\.status"):
        tool("order.status", "DB")(stock)
