"""What a recording says of calls that it misses, or that nobody made: words for people, values as JSON."""

from typing import Any

import pytest

from convengine.engine.errors import ReplayMismatch
from convengine.engine.llm.scripted import ScriptedModel, ScriptLine
from convengine.engine.steps.tools.scripted import ScriptedServers, ScriptedTools, Stub
from convengine.engine.turn.ports import LlmRequest
from convengine.engine.turn.recording import Playback, Recording, Reuse, TapedModel, TapedPace, TapedServers, TapedTools
from convengine.server.extensions.ports import RegisteredTools, TimedTools
from convengine.server.extensions.registry import Registry
from convengine.server.model_clients.offline import NoModel
from tests.builders import make_server, make_session
from tests.fakes.clock import FrozenClock

TOOL = ["tool", {"tool": "look.up", "args": {"city": "Köln", "day": None}}, {}]


def ask_refused(tape: Playback | Reuse, port: str, request: object) -> str:
    with pytest.raises(ReplayMismatch) as refusal:
        tape.ask(port, request, lambda: None)
    assert tape.missing == [str(refusal.value)]
    return tape.missing[0]


def test_values_stand_as_json_and_nothing_as_nothing() -> None:
    assert Reuse([TOOL]).unasked == ['tool for {"tool": "look.up", "args": {"city": "Köln", "day": null}}']
    assert ask_refused(Reuse([]), "container", None) == (
        "The turn asks container, and the recording has no answer to it."
    )
    assert ask_refused(Playback([TOOL]), "clock", None).startswith(
        "Call 1 of the turn asks clock, but the recording has tool for {"
    )


def test_of_a_model_stands_the_purpose() -> None:
    asked = {"purpose": "INTENT_AGENT", "prompt": "x" * 5000}

    assert "asks the model for “Intent”, and" in ask_refused(Reuse([]), "model", asked)
    assert Reuse([["model", asked, {}]]).unasked == ["the model for “Intent”"]


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


REQUEST = LlmRequest("POLICY", "Judge.", "Is it nice?", json_schema={"type": "object"})


def test_an_answer_comes_from_the_model_once_and_then_from_the_tape() -> None:
    tape = Recording()
    script = ScriptedModel([ScriptLine({"POLICY"}, "yes")])

    live = TapedModel(script, tape).complete(REQUEST)
    again = TapedModel(NoModel(), Playback(tape.entries)).complete(REQUEST)

    assert live == again
    assert live.text == "yes"
    assert script.calls == ["POLICY"]


def test_a_replay_that_asks_something_else_is_a_mismatch() -> None:
    tape = Recording()
    TapedModel(NoModel(), tape).complete(REQUEST)

    with pytest.raises(ReplayMismatch):
        TapedModel(NoModel(), Playback(tape.entries)).complete(LlmRequest("POLICY", "Judge.", "Is it bad?"))


def test_whether_there_is_a_model_is_asked_once_and_remembered_by_the_tape() -> None:
    tape = Recording()
    model = TapedModel(ScriptedModel([]), tape)

    assert model.configured
    assert model.configured
    assert tape.entries == [["model.configured", None, True]]
    assert TapedModel(NoModel(), Playback(tape.entries)).configured


def test_values_that_follow_from_others_may_be_made_in_another_way_than_when_they_were_recorded() -> None:
    tape = Playback([["task", {"task": "pay", "idempotencyKey": "a"}, "done"], ["task", {"task": "pay"}, "done"]])

    assert tape.ask("task", {"task": "pay", "idempotencyKey": "a:charge"}, lambda: None) == "done"
    with pytest.raises(ReplayMismatch):
        tape.ask("task", {"task": "refund"}, lambda: None)
