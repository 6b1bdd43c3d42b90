import json
from datetime import UTC, datetime
from decimal import Decimal
from typing import Any
from uuid import UUID

import pytest
from hypothesis import given
from hypothesis import strategies as st

from convengine.engine.turn.codec import MAX_DEPTH, compress, decompress, dumps, is_too_deep, loads, to_plain, to_strict

TEXT = st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\x00"))
JSON = st.recursive(
    st.none() | st.booleans() | st.integers(-(2**53), 2**53) | TEXT,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(TEXT, inner, max_size=3),
)


@given(JSON)
def test_what_json_can_say_comes_back(value: object) -> None:
    assert loads(dumps(value)) == value
    assert decompress(compress(dumps(value), b'"a":1'), b'"a":1') == value


@given(st.text())
def test_no_text_is_refused(text: str) -> None:
    assert "\\u0000" not in dumps({"a": text, text: 1})


def test_what_json_cannot_say_becomes_something_that_it_can() -> None:
    value = {
        "when": datetime(2026, 1, 2, tzinfo=UTC),
        "id": UUID(int=1),
        "sum": Decimal("1.5"),
        "huge": 10**30,
        "set": {1},
        "tuple": (1, 2),
        "object": object(),
        3: "number",
    }

    document = json.loads(dumps(value))

    assert (document["sum"], document["huge"], document["set"], document["tuple"], document["3"]) == (
        1.5,
        10**30,
        [1],
        [1, 2],
        "number",
    )
    assert document["object"] == "<unserializable object>"


def test_a_strict_reading_takes_what_json_can_say_and_refuses_the_rest() -> None:
    value = {"a": (1, Decimal("2.5")), "b": {"big": 2**70, "half": "\ud800"}, 3: UUID(int=1)}

    assert to_strict(value) == to_plain(value)
    with pytest.raises(TypeError, match="object"):
        to_strict({"deep": [object()]})


def nest(levels: int) -> Any:
    nested: Any = 1
    for _ in range(levels):
        nested = [nested]
    return nested


def test_what_is_nested_too_deep_is_refused_before_recursion_ends() -> None:
    assert to_strict(nest(MAX_DEPTH)) == nest(MAX_DEPTH)
    for levels in (MAX_DEPTH + 1, 300, 900, 5000):
        assert is_too_deep(nest(levels))
        with pytest.raises(TypeError, match="nested"):
            to_strict(nest(levels))


def test_what_holds_itself_is_too_deep() -> None:
    twice: list[Any] = []
    twice += [twice, twice]

    assert is_too_deep(twice)


def test_numbers_that_json_does_not_have_are_null_beside_texts_that_need_cleaning() -> None:
    value = [float("nan"), float("-inf"), Decimal("NaN"), "\ud800"]

    assert dumps(value) == '[null,null,null,"\ufffd"]'
