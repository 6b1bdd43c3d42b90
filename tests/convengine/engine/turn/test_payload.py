import pytest

from convengine.engine.turn.payload import JsonPayload, TextPayload, to_document, to_spoken_text


@pytest.mark.parametrize(
    ("document", "words"),
    [
        pytest.param({"type": "TEXT", "value": "hi"}, "hi", id="P2_13_V2"),
        pytest.param({"data": {"question": "q?"}}, "q?", id="P2_13_V3"),
        pytest.param("hello", "hello", id="P2_13_V4"),
        ({"question": "why?"}, "why?"),
        ({"value": " ", "data": {"text": "deep"}}, "deep"),
        ({"text": "first", "value": "second"}, "first"),
        ({"data": ["no"]}, ""),
        ({"amount": 5}, ""),
        (["x"], ""),
        (None, ""),
    ],
)
def test_P2_13_V2_V3_V4_what_the_assistant_said_is_found_in_what_was_stored(document: object, words: str) -> None:
    assert to_spoken_text(document) == words


@pytest.mark.parametrize(
    ("payload", "document"),
    [
        (TextPayload("hi"), {"type": "TEXT", "value": "hi"}),
        (JsonPayload({"a": 1}), {"a": 1}),
        (JsonPayload([1]), [1]),
        (JsonPayload("no json"), {"type": "JSON_TEXT", "value": "no json"}),
    ],
)
def test_an_answer_is_stored_by_its_kind(payload: TextPayload | JsonPayload, document: object) -> None:
    assert to_document(payload) == document
