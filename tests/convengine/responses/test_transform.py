from convengine.domain.payload import TextPayload
from convengine.domain.ports import TransformAnswer
from convengine.responses.transform import FINAL, LLM, transformed
from tests.builders import make_session, make_turn, payload, stages
from tests.fakes.ports import FixedTransformers

HELLO = TextPayload("Hello")


def appends(text: str) -> object:
    return lambda payload: TransformAnswer(TextPayload(payload.value + text), "Appends")


def test_the_stages_follow_one_another() -> None:
    turn = make_turn(transformers=FixedTransformers({LLM: appends(" you"), FINAL: appends("!")}))

    assert transformed(HELLO, make_session(), turn, LLM, FINAL) == TextPayload("Hello you!")
    assert stages(turn) == []


def test_a_failure_leaves_the_answer_and_is_told() -> None:
    broken = TransformAnswer(None, "Broken", "ValueError", "no")
    turn = make_turn(transformers=FixedTransformers({LLM: broken, FINAL: appends("!")}))

    assert transformed(HELLO, make_session(), turn, LLM, FINAL) == TextPayload("Hello!")
    assert payload(turn, "RESPONSE_TRANSFORM_FAILED") == {
        "stage": "LLM", "transformer": "Broken", "errorType": "ValueError", "errorMessage": "no",
    }  # fmt: skip
