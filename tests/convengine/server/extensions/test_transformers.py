from typing import Any

import pytest

from convengine.engine.errors import InvalidResponseTransformer
from convengine.engine.turn.payload import JsonPayload, Payload, TextPayload
from convengine.engine.turn.ports import TransformAnswer
from convengine.engine.turn.recording import Playback, Recording
from convengine.engine.turn.session import Session
from convengine.server.extensions.ports import ResponseTransformers
from convengine.server.extensions.registry import Registry, transformer

SESSION = Session("c", intent="LOAN", state="CONFIRM").with_params({"name": "Al"})
HELLO = TextPayload("Hello")


def make_registry(gives: Any, stage: str = "LLM", intent: str = "LOAN") -> Registry:
    class Gives:
        def transform(self, payload: Payload, session: Any, input_params: Any) -> Any:
            return gives(payload, session, input_params)

    registry = Registry()
    registry.response_transformers[stage].append(transformer(Gives, intent, "ANY", (), InvalidResponseTransformer))
    return registry


def transform(registry: Registry, stage: str = "LLM") -> TransformAnswer:
    return ResponseTransformers(registry, Recording()).transform(stage, HELLO, SESSION)


@pytest.mark.parametrize(
    ("given", "payload"),
    [
        (TextPayload("x"), TextPayload("x")),
        (JsonPayload({"a": 1}), JsonPayload({"a": 1})),
        ("x", TextPayload("x")),
        ({"a": (1, 2)}, JsonPayload({"a": [1, 2]})),
        (None, None),
    ],
)
def test_a_transformer_gives_a_payload_a_text_a_document_or_nothing(given: Any, payload: Payload | None) -> None:
    assert transform(make_registry(lambda *args: given)).payload == payload


def test_it_sees_the_answer_the_session_and_the_params() -> None:
    answer = transform(
        make_registry(lambda payload, session, params: f"{payload.value} {params['name']}, {session['state']}")
    )

    assert answer.payload == TextPayload("Hello Al, CONFIRM")


def test_a_transformer_of_another_place_or_stage_is_not_asked() -> None:
    assert transform(make_registry(lambda *args: 1 / 0, intent="FAQ")) == TransformAnswer()
    assert transform(make_registry(lambda *args: 1 / 0), stage="FINAL") == TransformAnswer()


@pytest.mark.parametrize(
    ("gives", "error"), [(lambda *args: 1 / 0, "ZeroDivisionError"), (lambda *args: 5, "TypeError")]
)
def test_what_goes_wrong_is_part_of_the_answer(gives: Any, error: str) -> None:
    answer = transform(make_registry(gives))

    assert (answer.payload, answer.error_type) == (None, error)
    assert answer.transformer is not None
    assert answer.transformer.endswith("Gives")


def test_a_replay_asks_nobody() -> None:
    tape = Recording()
    live = ResponseTransformers(make_registry(lambda *args: "changed"), tape).transform("LLM", HELLO, SESSION)

    assert ResponseTransformers(Registry(), Playback(tape.entries)).transform("LLM", HELLO, SESSION) == live
