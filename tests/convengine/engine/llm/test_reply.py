import time
from typing import Any

import pytest

from convengine.engine.llm.reply import UnusableAnswer, read_json, validate_value
from tests.pace import allow


@pytest.mark.parametrize(
    ("text", "value"),
    [
        (' {"a": 1} ', {"a": 1}),
        ("[1]", [1]),
        ('```json\n{"a": 1}\n```', {"a": 1}),
        ('```\n{"a": 1}```', {"a": 1}),
        ('Here it is:\n```JSON\n{"a": "```"}\n```\nAnything else?', {"a": "```"}),
        ('Sure.\n```\nnot this\n```\n```json\n{"a": 2}\n```', {"a": 2}),
    ],
)
def test_json_is_found_bare_or_in_a_fence(text: str, value: Any) -> None:
    assert read_json(text) == value


@pytest.mark.parametrize("text", ["", "  ", "nothing", "3", "null", '{"a": ', "As in [1] and [2].", "{a}", "NaN"])
def test_anything_else_is_unusable(text: str) -> None:
    with pytest.raises(UnusableAnswer) as caught:
        read_json(text)

    assert caught.value.fault.code == ("LLM_INVALID_RESPONSE" if text.strip() else "LLM_EMPTY_RESPONSE")


def test_a_value_that_breaks_the_schema_is_told_with_its_place() -> None:
    schema = {"type": "object", "properties": {"a": {"items": {"type": "integer"}}}}

    with pytest.raises(UnusableAnswer, match=r"a/1: 'x' is not of type 'integer'"):
        validate_value({"a": [1, "x"]}, schema)
    validate_value({"a": [1]}, schema)


@pytest.mark.parametrize("schema", [{"$ref": "http://localhost:1/none"}, {"$ref": "#/nowhere"}, {"type": 12}])
def test_a_schema_that_cannot_judge_fetches_nothing_and_is_a_violation(schema: Any) -> None:
    with pytest.raises(UnusableAnswer) as caught:
        validate_value({"a": 1}, schema)

    assert caught.value.fault.code == "LLM_SCHEMA_VIOLATION"


def test_patterns_are_not_judged_here_and_types_beside_them_are() -> None:
    schema = {"properties": {"a": {"type": "string", "pattern": "^(a+)+$"}}}

    validate_value({"a": "a" * 40 + "!"}, schema)
    with pytest.raises(UnusableAnswer):
        validate_value({"a": 1}, schema)


@pytest.mark.parametrize("levels", [65, 300, 900, 50_000])
def test_json_that_is_nested_too_deep_is_unusable(levels: int) -> None:
    with pytest.raises(UnusableAnswer):
        read_json("[" * levels + "]" * levels)


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("```json\n[1]\n``` or ~~~\n[2]\n~~~", [1]),
        ("~~~ ```json\n[1]```", [1]),
        ("```\nnone\n```\n````json\n[1]\n````", [1]),
    ],
)
def test_the_first_fence_with_json_counts(text: str, value: Any) -> None:
    assert read_json(text) == value


@pytest.mark.parametrize(
    "text",
    [
        *("```json" + "\n" * 16_000, "``` " * 4_000, "</think>" * 2_000, "<think>" * 2_000),
        "<th" * 4_000 + "<think></think>" + "ink></think>" * 4_000,
        *('{"a":[' * 4_000, '{"a":1,' * 4_000, "[THINK]{" * 2_000),
    ],
    ids=["lines", "fences", "ends", "thoughts", "marks in marks", "brackets", "keys", "thoughts and brackets"],
)
def test_an_answer_that_a_model_never_ends_is_refused_at_once(text: str) -> None:
    begun = time.process_time()
    with pytest.raises(UnusableAnswer):
        read_json(text)

    assert time.process_time() - begun < allow(0.5)
