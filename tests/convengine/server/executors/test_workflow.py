import threading
from typing import Any

import pytest

from convengine.engine.turn.ports import ToolAnswer
from convengine.server.executors.port import BuiltInTools
from convengine.server.extensions.registry import Registry, TaskEntry
from convengine.server.extensions.tasks import TaskCall, TaskResult
from tests.builders import make_config, make_session, make_snapshot


def run(code: str, method: Any, *config: Any, name: str = "orders", key: str = "cancel") -> ToolAnswer:
    registry = Registry(tasks={name: TaskEntry({key: method})})
    tools = BuiltInTools(make_snapshot(*config), registry)
    session = make_session(context={"customer": "Ada"})
    return tools.run(code, "ACTION", {"number": 7}, session)


def test_a_tool_calls_the_method_of_a_task_with_its_arguments() -> None:
    answer = run("orders.cancel", lambda call: {"number": call.args["number"], "for": call.context["customer"]})

    assert answer == ToolAnswer({"number": 7, "for": "Ada"})


@pytest.mark.parametrize("key", ["orders", "run"])
def test_a_bare_name_calls_the_function_or_the_method_run(key: str) -> None:
    assert run("orders", lambda call: "done", key=key) == ToolAnswer("done")


def test_a_task_says_how_it_went() -> None:
    assert run("orders.cancel", lambda call: TaskResult(True, data=[1])) == ToolAnswer([1])
    assert run("orders.cancel", lambda call: TaskResult(False, "TOO_LATE", "It was sent.")) == ToolAnswer(
        error_type="TOO_LATE", error_message="It was sent."
    )
    assert run("orders.cancel", lambda call: False).error_type == "TASK_FAILED"


def test_a_task_that_raises_or_returns_no_json_is_an_error() -> None:
    def fails(call: TaskCall) -> None:
        raise LookupError("no such order")

    assert run("orders.cancel", fails) == ToolAnswer(error_type="LookupError", error_message="no such order")
    assert run("orders.cancel", lambda call: object()).error_type == "TypeError"


def test_a_task_that_lasts_is_not_waited_for() -> None:
    gate = threading.Event()
    try:
        answer = run("orders.cancel", lambda call: gate.wait(), make_config("PendingActionStep/TIMEOUT_MS", "100"))
    finally:
        gate.set()

    assert answer.error_type == "TimeoutError"


@pytest.mark.parametrize("write", ["set_context", "clear_context", "set_input_param"])
def test_a_task_called_as_a_tool_writes_nothing_but_its_answer(write: str) -> None:
    def writes(call: TaskCall) -> None:
        getattr(call, write)(*(("a",) if write == "clear_context" else ("a", 1)))

    assert "cannot write the context" in (run("orders.cancel", writes).error_message or "")


def test_the_key_is_the_same_for_the_same_call() -> None:
    keys = [run("orders.cancel", lambda call: call.idempotency_key).result for _ in range(2)]

    assert keys[0] == keys[1]
    assert keys[0]


def test_a_code_that_names_no_task_says_which_there_are() -> None:
    answer = run("stock.left", lambda call: 1)

    assert (answer.error_type, answer.error_message) == (
        "NO_TASK",
        "No task is registered for stock.left. Registered: orders.cancel.",
    )


def test_a_task_that_wants_to_end_the_process_is_an_error() -> None:
    def ends(call: TaskCall) -> None:
        raise SystemExit("enough")

    assert run("orders.cancel", ends).error_message == "The code tried to end the process (SystemExit: enough)."
