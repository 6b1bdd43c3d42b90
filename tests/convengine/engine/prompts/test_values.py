from datetime import UTC, datetime
from types import MappingProxyType
from typing import Any

import pytest

from convengine.engine.prompts.values import (
    MAX_ITEMS,
    MAX_OUTPUT,
    MAX_WORK,
    Missing,
    RenderLimit,
    Work,
    is_blank,
    limit_value,
    measure_cost,
    to_text,
)


@pytest.mark.parametrize(
    ("value", "text"),
    [
        ("a<b>", "a<b>"),
        (None, ""),
        (Missing(), ""),
        (True, "true"),
        (5, "5"),
        (1.0, "1.0"),
        ({"k": "ü", "l": [1, None]}, '{"k":"ü","l":[1,null]}'),
        ([], "[]"),
        (MappingProxyType({"a": MappingProxyType({"b": 1})}), '{"a":{"b":1}}'),
        ([Missing()], "[null]"),
        (datetime(2026, 1, 2, tzinfo=UTC), "2026-01-02T00:00:00+00:00"),
        (len, ""),
        (object(), ""),
    ],
)
def test_a_value_prints_as_json_but_texts_as_they_are(value: Any, text: str) -> None:
    assert to_text(value) == text


def test_a_missing_name_is_null_and_in_no_order() -> None:
    missing = Missing(name="x")

    assert missing == None  # noqa: E711
    assert missing == Missing()
    assert missing != ""
    assert [missing < 5, missing > 5, missing <= 5, missing >= 5] == [False] * 4
    assert "a" not in missing
    assert list(missing) == []
    assert missing.a["b"] == None  # noqa: E711
    assert len({missing, Missing()}) == 1


@pytest.mark.parametrize(
    ("value", "blank"), [(None, True), (" ", True), ([], True), ({}, True), (0, False), (False, False)]
)
def test_blank_is_nothing_in_it(value: Any, blank: bool) -> None:
    assert is_blank(value) is blank


def test_work_ends_at_its_limit_and_is_never_given_back() -> None:
    work = Work()
    work.spend(MAX_WORK)
    work.spend(-MAX_WORK)
    with pytest.raises(RenderLimit):
        work.spend(1)


def test_a_value_costs_its_size() -> None:
    assert [measure_cost(value) for value in (5, None, "x", "x" * 2560, [1, 2], {"a": 1})] == [1, 1, 1, 11, 3, 2]


def test_values_that_grow_too_large_are_refused() -> None:
    assert limit_value("x" * MAX_OUTPUT)
    for value in ("x" * (MAX_OUTPUT + 1), list(range(MAX_ITEMS + 1))):
        with pytest.raises(RenderLimit):
            limit_value(value)
