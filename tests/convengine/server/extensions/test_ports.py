import threading
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Any

import pytest

from convengine.engine.turn.ports import ToolAnswer
from convengine.engine.turn.recording import Playback, Recording, TapedTools
from convengine.engine.turn.session import Session
from convengine.server.extensions import registry as registered
from convengine.server.extensions.http import HttpRequest
from convengine.server.extensions.ports import RegisteredTools, TimedTools
from convengine.server.extensions.registry import Registry, ToolEntry, tool
from tests.builders import make_session

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

    live = TapedTools(TimedTools(RegisteredTools(Registry(tools={"a": entry}))), tape).run("a", "ACTION", {}, SESSION)
    again = TapedTools(TimedTools(RegisteredTools(Registry())), Playback(tape.entries)).run("a", "ACTION", {}, SESSION)

    assert live == again == ToolAnswer(7)
    assert len(calls) == 1


def test_tools_are_registered_by_code_and_once(own: Registry) -> None:
    tool("order.status")(stock)

    assert own.tools == {"order.status": ToolEntry(stock, "WORKFLOW_ACTION", 5000)}
    with pytest.raises(ValueError, match=r"tool order\.status is already registered"):
        tool("order.status", "DB")(stock)


def test_an_executor_of_a_group_runs_its_tools_that_have_none_of_their_own() -> None:
    entry = ToolEntry(lambda code, args, session: [code, args["what"]], "FILES", 5000)
    tools = RegisteredTools(Registry(tool_groups={"FILES": entry}))

    assert tools.run("shelf.list", "file", {"what": "lamps"}, SESSION) == ToolAnswer(["shelf.list", "lamps"])


def test_P2_3_4_V5_a_text_is_an_object_for_calls_and_queries_and_itself_elsewhere() -> None:
    def run_group(group: str, value: Any) -> Any:
        return run(ToolEntry(lambda args, session: value, group, 5000), group).result

    assert [run_group(group, "hello") for group in ("DB", "HTTP_API", "WORKFLOW_ACTION")] == [
        {"text": "hello"},
        {"text": "hello"},
        "hello",
    ]
    assert (run_group("DB", '{"rows": 2}'), run_group("DB", None)) == ({"rows": 2}, {})


def test_what_no_code_is_registered_for_goes_to_the_built_in_executors() -> None:
    other = RegisteredTools(Registry(tools={"b": ToolEntry(lambda args, session: 7, "DB", 5000)}))

    assert RegisteredTools(Registry(), otherwise=other).run("b", "DB", {}, SESSION) == ToolAnswer(7)


def test_a_call_that_a_tool_asks_for_is_made_by_the_engine() -> None:
    calls = []

    def make(code: str, request: HttpRequest, session: Session) -> Any:
        calls.append((code, request.path))
        return {"status": 200}

    entry = ToolEntry(lambda args, session: HttpRequest("orders", f"/orders/{args['what']}"), "HTTP_API", 5000)
    tools = RegisteredTools(Registry(tools={"stock.left": entry}), make_call=make)

    assert tools.run("stock.left", "HTTP", {"what": 1}, SESSION) == ToolAnswer({"status": 200})
    assert calls == [("stock.left", "/orders/1")]


class Sleeper:
    def run(self, tool_code: str, tool_group: str, args: Any, session: Any) -> ToolAnswer:
        time.sleep(args["seconds"])
        return ToolAnswer("awake")


def test_a_call_is_waited_for_as_long_as_the_turn_can() -> None:
    ended: list[bool] = []
    tools = TimedTools(Sleeper(), lambda: ended.append(True))
    session = make_session()

    assert tools.run("nap", "DB", {"seconds": 0}, session, 1000).result == "awake"
    late = tools.run("nap", "DB", {"seconds": 0.3}, session, 50)

    assert (late.error_type, late.error_message) == ("TOOL_TIMEOUT", "The call took longer than 50 ms.")
    assert tools.run("nap", "DB", {"seconds": 0}, session).result == "awake"
    assert ended


def test_whoever_waits_for_a_tool_gives_back_what_it_holds() -> None:
    notes: list[str] = []

    @contextmanager
    def wait() -> Iterator[None]:
        notes.append("given back")
        yield
        notes.append("taken again")

    tools = TimedTools(Sleeper(), wait=wait)

    for within in (None, 1000):
        tools.run("nap", "DB", {"seconds": 0}, make_session(), within)

    tools.run("nap", "CALCULATOR_TRANSFORM", {"seconds": 0}, make_session())

    assert notes == ["given back", "taken again"] * 2
