"""The operators of conditions."""

from datetime import UTC, datetime
from typing import Any

import pytest

from convengine.engine.rules.conditions.operators import (
    OPERATORS,
    ComparedKind,
    find_value_problem,
    get_operator,
)
from convengine.engine.rules.conditions.values import EvaluationScope
from convengine.engine.rules.conditions.words import describe_comparison
from tests.builders import make_session

NOW = datetime(2026, 11, 21, 14, 30, tzinfo=UTC)
SCOPE = EvaluationScope({}, make_session(now=NOW))
#: (operator, value of the field, value of the row, result). Every operator has a pair.
CASES: list[tuple[str, Any, Any, bool]] = [
    ("is", "Pain", " pain ", True),
    ("is", 12, "12", True),
    ("is", True, "yes", True),
    ("is", False, "yes", False),
    ("is", "pain", "cleaning", False),
    ("is", ["pain"], "pain", False),
    ("isNot", "pain", "cleaning", True),
    ("isNot", "pain", "PAIN", False),
    ("contains", "It is URGENT!", "urgent", True),
    ("contains", ["lamp", "desk"], "Desk", True),
    ("contains", "calm", "urgent", False),
    ("contains", {"a": 1}, "a", False),
    ("doesNotContain", "calm", "urgent", True),
    ("doesNotContain", "urgent", "urgent", False),
    ("startsWith", "Order 7", "order", True),
    ("startsWith", "My order", "order", False),
    ("matches", "A-17", r"^[a-z]-\d+$", True),
    ("matches", 17, r"^1", True),
    ("matches", "17-A", r"^[a-z]", False),
    ("isOneOf", "pain", ["cleaning", "Pain"], True),
    ("isOneOf", "pain", "cleaning, pain", True),
    ("isOneOf", 3, [1, 2], False),
    ("isNoneOf", 3, [1, 2], True),
    ("isNoneOf", 2, [1, 2], False),
    ("=", "12.0", 12, True),
    ("=", "abc", "ABC", True),
    ("=", 13, 12, False),
    ("!=", 13, 12, True),
    ("!=", "12", 12, False),
    ("<", 2, "10", True),
    ("<", 10, 10, False),
    ("<=", 10, 10, True),
    ("<=", 11, 10, False),
    (">", "10.5", 10, True),
    (">", 10, 10, False),
    (">", "many", 10, False),
    (">=", 10, 10, True),
    (">=", "2026-12-05", "today", True),
    (">=", 9, 10, False),
    ("between", 5, [1, 5], True),
    ("between", 1, "1, 5", True),
    ("between", 6, [1, 5], False),
    ("between", "2026-11-25", ["today", "today+7d"], True),
    ("between", "2026-11-29", ["today", "today+7d"], False),
    ("between", "16:00", ["09:00", "17:00"], True),
    ("before", "2026-11-22", "today+2d", True),
    ("before", "2026-11-23", "today+2d", False),
    ("before", "2026-11-21T14:00", "now", True),
    ("before", "next week", "today", False),
    ("onOrBefore", "2026-11-23", "today+2d", True),
    ("onOrBefore", "2026-11-24", "today+2d", False),
    ("onOrBefore", "next week", "today", False),
    ("onOrAfter", "2026-11-21", "today", True),
    ("onOrAfter", "2026-11-20", "today", False),
    ("onOrAfter", "2026-11-21T14:30:00+00:00", "14:30", True),
    ("after", "2026-11-22", "today", True),
    ("after", "2026-11-21", "today", False),
    ("after", "2026-11-21T14:30:00+00:00", "13:00", True),
    ("on", "2026-11-22T09:00", "tomorrow", True),
    ("on", "2026-11-22", "today", False),
    ("on", "09:00", "09:00", True),
    ("inMonths", "2026-11-22", ["October", "november"], True),
    ("inMonths", "2026-11-22T09:00", "October, December", False),
    ("inMonths", "17:00", ["November"], False),
    ("notInMonths", "2026-11-22", ["March"], True),
    ("notInMonths", "2026-03-01", ["March"], False),
    ("notInMonths", "17:00", ["March"], False),
    ("onWeekdays", "2026-11-22", ["Saturday", "Sunday"], True),
    ("onWeekdays", "today", ["Sunday"], False),
    ("notOnWeekdays", "today", ["Sunday"], True),
    ("notOnWeekdays", "2026-11-22", ["Sunday"], False),
    ("withinDays", "2026-11-24", 3, True),
    ("withinDays", "2026-11-21", 0, True),
    ("withinDays", "2026-11-25", "3", False),
    ("withinDays", "2026-11-20", 3, False),
    ("withinDays", "2026-11-24T14:31", 3, False),
    ("withinHours", "2026-11-21T16:00", 2, True),
    ("withinHours", "2026-11-21T17:00", 2, False),
    ("withinHours", "2026-11-21T14:00", 2, False),
    ("withinHours", "2026-11-22", 12, True),
    ("moreThanDaysAgo", "2026-11-10", 10, True),
    ("moreThanDaysAgo", "2026-11-11", 10, False),
    ("moreThanHoursAgo", "2026-11-21T12:00", 2, True),
    ("moreThanHoursAgo", "2026-11-21T13:00", 2, False),
    ("has", ["lamp", "desk"], "lamp", True),
    ("has", ["lamp", "desk"], ["chair", "desk"], True),
    ("has", ["lamp"], "desk", False),
    ("has", "lamp", "lamp", False),
    ("hasNone", ["lamp"], ["desk", "chair"], True),
    ("hasNone", [], "desk", True),
    ("hasNone", ["lamp"], "lamp", False),
    ("countIs", ["lamp", "desk"], 2, True),
    ("countIs", "ab", 2, False),
    ("countAtLeast", ["lamp", "desk"], "2", True),
    ("countAtLeast", [], 1, False),
    ("countAtMost", [], 0, True),
    ("countAtMost", ["lamp", "desk"], 1, False),
    ("isYes", True, None, True),
    ("isYes", "Yes", None, True),
    ("isYes", "true", None, True),
    ("isYes", 1, None, True),
    ("isYes", 2, None, False),
    ("isYes", "perhaps", None, False),
    ("isNo", False, None, True),
    ("isNo", "no", None, True),
    ("isNo", 0.0, None, True),
    ("isNo", True, None, False),
    ("isEmpty", "", None, True),
    ("isEmpty", [], None, True),
    ("isEmpty", 0, None, False),
    ("isNotEmpty", "x", None, True),
    ("isNotEmpty", " ", None, False),
]


@pytest.mark.parametrize(("name", "value", "wanted", "expected"), CASES)
def test_an_operator_compares_a_value(name: str, value: Any, wanted: Any, expected: bool) -> None:
    assert OPERATORS[name].test(value, wanted, SCOPE) is expected


@pytest.mark.parametrize("name", OPERATORS)
def test_every_operator_has_a_case_that_holds_and_one_that_does_not(name: str) -> None:
    assert {expected for case, _, _, expected in CASES if case == name} == {True, False}


@pytest.mark.parametrize(
    ("spelling", "name"),
    [
        ("before", "before"),
        ("is before", "before"),
        ("is on or before", "onOrBefore"),
        ("notBefore", "onOrAfter"),
        ("is not", "isNot"),
        ("Starts with", "startsWith"),
        ("beginsWith", "startsWith"),
        ("matches pattern", "matches"),
        ("is one of", "isOneOf"),
        ("in", "isOneOf"),
        ("is_empty", "isEmpty"),
        ("null", "isEmpty"),
        ("notNull", "isNotEmpty"),
        ("≥", ">="),
        ("≠", "!="),
        ("==", "="),
        ("has none", "hasNone"),
        ("count", "countIs"),
        ("isTrue", "isYes"),
    ],
)
def test_an_operator_is_known_by_its_label_and_by_the_names_of_the_common_shape(spelling: str, name: str) -> None:
    operator = get_operator(spelling)

    assert operator is not None
    assert operator.name == name


def test_an_unknown_operator_is_none() -> None:
    assert get_operator("smells like") is None


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("is", " "),
        ("is", None),
        ("is", ["a"]),
        ("matches", "("),
        ("isOneOf", []),
        ("isOneOf", {"a": 1}),
        ("before", "soon"),
        ("between", [1]),
        ("between", [1, "today"]),
        ("withinDays", -1),
        ("withinDays", 1.5),
        ("countIs", "some"),
        ("<", ""),
    ],
)
def test_a_value_that_does_not_fit_the_operator_is_refused(name: str, value: Any) -> None:
    assert find_value_problem(OPERATORS[name], value)


@pytest.mark.parametrize(
    ("name", "value", "expected"),
    [
        ("before", "today+2d", "is before today plus 2 days"),
        ("onOrBefore", "tomorrow", "is on or before tomorrow"),
        ("onOrAfter", "today", "is on or after today"),
        (">=", "today", "is on or after today"),
        ("is", "pain", 'is "pain"'),
        ("<=", 5, "is at most 5"),
        ("isOneOf", ["a", "b", "c"], 'is one of "a", "b" or "c"'),
        ("between", ["today", "today+7d"], "is between today and today plus 7 days"),
        ("withinDays", 1, "is within 1 day from now"),
        ("moreThanHoursAgo", 3, "is more than 3 hours ago"),
        ("countAtLeast", 2, "has at least 2 entries"),
        ("countIs", 1, "has exactly 1 entry"),
        ("matches", "^a", "matches the pattern of “a”"),
        ("isYes", None, "is yes"),
    ],
)
def test_an_operator_is_told_with_its_value(name: str, value: Any, expected: str) -> None:
    assert describe_comparison(OPERATORS[name], value) == expected


@pytest.mark.parametrize(
    ("kind", "labels"),
    [
        (ComparedKind.TEXT, "is, is not, contains, starts with, matches pattern, is one of, is empty"),
        (ComparedKind.CHOICE, "is, is not, is one of, is empty"),
        (ComparedKind.NUMBER, "=, ≠, <, ≤, >, ≥, is between"),
        (
            ComparedKind.TIME,
            "is before, is on or before, is after, is on or after, is on, is between, "
            "is within … days from now, is within … hours from now, "
            "is more than … days ago, is more than … hours ago",
        ),
        (ComparedKind.LIST, "has, has none of, has exactly … entries"),
        (ComparedKind.YES_NO, "is yes, is no"),
    ],
)
def test_each_kind_of_field_has_its_operators(kind: ComparedKind, labels: str) -> None:
    assert {operator.label for operator in OPERATORS.values() if kind in operator.kinds} >= set(labels.split(", "))
