"""A recorded model: its answers come from the file, by purpose and prompt."""

from pathlib import Path

import pytest

from convengine.engine.llm.scripted import NO_ANSWER, ScriptLine
from convengine.engine.turn.ports import LlmAnswer, LlmRequest
from convengine.play.recorded_model import ModelRecording, TestModel
from convengine.play.schema import ScenarioFileError
from tests.fakes.models import AnsweringModel

HELLO = LlmRequest("INTENT_AGENT", "Be kind.", "Hello?")


def test_the_first_run_records_and_the_next_one_answers_from_the_file(tmp_path: Path) -> None:
    file = tmp_path / "recordings/model.yaml"
    recording = ModelRecording.read(file, may_be_new=True)
    recorder = TestModel(
        [], recording=recording, live=AnsweringModel(["Hi.", LlmAnswer(error_code="DOWN", error_message="off")])
    )
    failing = LlmRequest("SUMMARY", "Be short.", "Hello?")

    answers = [recorder.complete(HELLO), recorder.complete(failing)]
    recording.save()
    player = TestModel([], recording=ModelRecording.read(file, may_be_new=False))

    assert [player.complete(HELLO).text, player.complete(failing).error_code] == ["Hi.", "DOWN"]
    assert answers[0].text == "Hi."


def test_another_prompt_is_no_call_of_the_recording(tmp_path: Path) -> None:
    player = TestModel([], recording=ModelRecording(tmp_path / "model.yaml"))

    assert player.complete(HELLO).error_message == NO_ANSWER


def test_the_script_comes_first(tmp_path: Path) -> None:
    recording = ModelRecording(tmp_path / "model.yaml")
    recording.add(HELLO, LlmAnswer("recorded"))
    player = TestModel([ScriptLine({"INTENT_AGENT"}, "scripted")], recording=recording)

    assert player.complete(HELLO).text == "scripted"


_HEAD = "format: convengine-recording\nversion: 1\n"


@pytest.mark.parametrize(
    "text",
    [
        "",
        "format: other\nversion: 1\n",
        "[",
        _HEAD + "calls: [1]",
        _HEAD + "calls: [{purpose: a}]",
        _HEAD + "calls: 5",
        None,
    ],
)
def test_a_file_that_is_no_recording_is_refused(tmp_path: Path, text: str | None) -> None:
    file = tmp_path / "model.yaml"
    if text is not None:
        file.write_text(text)

    with pytest.raises(ScenarioFileError, match=r"model\.yaml"):
        ModelRecording.read(file, may_be_new=False)


def test_in_a_partial_model_other_purposes_are_unavailable_and_no_mistake() -> None:
    player = TestModel([ScriptLine({"SUMMARY"}, "short")], is_partial=True)

    answer = player.complete(HELLO)

    assert answer.error_code == "LLM_CALL_FAILED"
    assert answer.error_message != NO_ANSWER
