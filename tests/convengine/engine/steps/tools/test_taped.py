from typing import Any

from convengine.engine.steps.tools.scripted import ScriptedServers, ScriptedTools, Stub
from convengine.engine.steps.tools.taped import TapedPace, TapedServers, TapedTools
from convengine.engine.turn.recording import Playback, Recording
from convengine.server.extensions.registry import Registry
from convengine.server.extensions.tools import RegisteredTools, TimedTools
from tests.builders import make_server, make_session
from tests.fakes.clock import FrozenClock


def test_an_answer_comes_from_the_executor_once_and_then_from_the_tape() -> None:
    tape = Recording()
    tools = ScriptedTools([Stub("stock", result=(1, 2))])
    session = make_session()

    live = TapedTools(TimedTools(tools), tape).run("stock", "DB", {"q": 1}, session)
    none = TimedTools(RegisteredTools(Registry()))
    again = TapedTools(none, Playback(tape.entries)).run("stock", "DB", {"q": 1}, session)

    assert live == again
    assert live.result == [1, 2]
    assert len(tools.calls) == 1


def test_what_a_server_offers_comes_from_it_once_and_then_from_the_tape() -> None:
    tape = Recording()
    script = ScriptedServers(ScriptedTools([Stub("mcp.shop.order.status"), Stub("mcp.other.x"), Stub("stock")]))

    live = TapedServers(script, tape).tools(make_server("shop"))
    again = TapedServers(ScriptedServers(ScriptedTools([])), Playback(tape.entries)).tools(make_server("shop"))

    assert live == again
    assert live.tools == [{"name": "order.status"}]


def test_a_result_that_nobody_could_store_is_a_fault_of_the_tool() -> None:
    result: Any = 1
    for _ in range(900):
        result = {"a": result}
    tools = TimedTools(ScriptedTools([Stub("stock", result=result)]))

    answer = TapedTools(tools, Recording()).run("stock", "DB", {}, make_session())

    assert (answer.result, answer.error_type) == (None, "RESULT_TOO_DEEP")


def test_a_replay_reads_the_time_of_the_record_and_never_waits() -> None:
    tape, slept = Recording(), []
    live = TapedPace(FrozenClock(elapsed=120.0), tape, slept.append)
    assert live.elapsed_ms() == 120.0
    live.wait(500)

    again = TapedPace(FrozenClock(elapsed=9.0), Playback(tape.entries), slept.append)
    assert again.elapsed_ms() == 120.0
    again.wait(500)

    assert slept == [0.5]
