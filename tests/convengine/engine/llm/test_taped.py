import pytest

from convengine.engine.errors import ReplayMismatch
from convengine.engine.llm.scripted import ScriptedModel, ScriptLine
from convengine.engine.llm.taped import TapedModel
from convengine.engine.turn.ports import LlmRequest
from convengine.engine.turn.recording import Playback, Recording
from convengine.server.model_clients.offline import NoModel

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
