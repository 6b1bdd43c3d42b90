"""The operators of conditions: what each compares, and how it is said (R116)."""

import json
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import date, datetime, timedelta
from decimal import Decimal, InvalidOperation
from enum import StrEnum
from typing import Any

from convengine.engine.rules.field_conditions.time_points import (
    compare_time_points,
    describe_count,
    describe_time_point,
    get_day,
    is_time_point,
    read_time_point,
)
from convengine.engine.rules.pattern_examples import describe_match
from convengine.engine.rules.patterns import PatternError, compile_pattern
from convengine.engine.rules.text_bank import fold_case
from convengine.engine.text.compare import shorten
from convengine.engine.text.wording import join_alternatives
from convengine.engine.turn.local_time import WEEKDAYS

Json = Any
#: (value of the field, value of the row, the turn's clock) -> holds. The field has a value.
Test = Callable[[Json, Json, datetime | None], bool]
_SHOWN = 60
_NUMBER = re.compile(r"[+-]?\d{1,30}(?:\.\d{1,30})?")
_YES = frozenset({"true", "yes", "y", "1", "on"})
_NO = frozenset({"false", "no", "n", "0", "off"})


class Needs(StrEnum):
    """What the value of an operator must be."""

    NOTHING = "no value"
    TEXT = "a value"
    PATTERN = "a regular expression"
    LIST = "at least one value"
    NUMBER = "a number"
    COUNT = "a whole number from 0 to 100000"
    TIME = "a date or a time, such as 2026-12-05, 16:30, today+2d or now-3h"
    RANGE = "two numbers, dates or times"


class FieldKind(StrEnum):
    """The kind of a field's values. It decides which operators a form offers."""

    TEXT = "text"
    CHOICE = "choice"
    NUMBER = "number"
    TIME = "date or time"
    LIST = "list"
    YES_NO = "yes or no"


@dataclass(frozen=True)
class Operator:
    """One operator. `phrase` says it after the name of the field; `{}` stands for the value."""

    name: str
    label: str
    phrase: str
    needs: Needs
    test: Test
    kinds: tuple[FieldKind, ...]
    #: Other accepted spellings, besides the label.
    aliases: tuple[str, ...] = ()
    #: The values to choose from; none for any.
    values: tuple[str, ...] = ()


# --- values -----------------------------------------------------------------------------------------------------


def read_number(value: Json) -> Decimal | None:
    """A number, or the number that a text is; null for anything else."""
    if isinstance(value, bool):
        return None
    if isinstance(value, (int, float)):
        text = str(value)
    elif isinstance(value, str) and _NUMBER.fullmatch(value.strip()):
        text = value.strip()
    else:
        return None
    try:
        number = Decimal(text)
    except InvalidOperation:
        return None
    return number if number.is_finite() else None


def read_yes_no(value: Json) -> bool | None:
    """A boolean, or the boolean that a text is; null for anything else."""
    if isinstance(value, bool):
        return value
    word = value.strip().lower() if isinstance(value, str) else ""
    return True if word in _YES else False if word in _NO else None


def list_values(value: Json) -> list[Json]:
    """The values of a list; a text is split at commas."""
    if isinstance(value, str):
        return [part.strip() for part in value.split(",") if part.strip()]
    return list(value) if isinstance(value, (list, tuple)) else [] if value is None else [value]


def is_blank(value: Json) -> bool:
    """True for null, a text of white space, and an empty list or object."""
    return value is None or value == "" or (isinstance(value, str) and not value.strip()) or value in ([], (), {})


def _are_equal(left: Json, right: Json) -> bool:
    """Texts ignoring case, numbers by value, yes and no also as words; a number is also equal to its text."""
    if isinstance(left, bool) or isinstance(right, bool):
        return None is not read_yes_no(left) == read_yes_no(right)
    if isinstance(left, str) and isinstance(right, str):
        return fold_case(left) == fold_case(right)
    numbers = read_number(left), read_number(right)
    return None not in numbers and numbers[0] == numbers[1]


def _compare(left: Json, right: Json, now: datetime | None) -> int | None:
    """-1, 0 or 1 for two numbers, or two dates or times; null for anything else."""
    number, other = read_number(left), read_number(right)
    if number is not None and other is not None:
        return (number > other) - (number < other)
    return _compare_times(left, right, now)


def _compare_times(left: Json, right: Json, now: datetime | None) -> int | None:
    moment, other = read_time_point(left, now), read_time_point(right, now)
    return None if moment is None or other is None else compare_time_points(moment, other)


def _is_equal_number(left: Json, right: Json, now: datetime | None) -> bool:
    order = _compare(left, right, now)
    return order == 0 if order is not None else _are_equal(left, right)


def _contains(value: Json, wanted: Json) -> bool:
    if isinstance(value, (list, tuple)):
        return any(_are_equal(element, wanted) for element in value)
    return _is_plain(value) and fold_case(_to_text(wanted)) in fold_case(_to_text(value))


def _is_plain(value: Json) -> bool:
    return isinstance(value, (str, int, float))


def _to_text(value: Json) -> str:
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False, default=str)


def _matches(value: Json, pattern: Json) -> bool:
    return _is_plain(value) and compile_pattern(str(pattern)).occurs_in(_to_text(value))


def _is_one_of(value: Json, wanted: Json) -> bool:
    return any(_are_equal(value, member) for member in list_values(wanted))


def _has(value: Json, wanted: Json) -> bool:
    return isinstance(value, (list, tuple)) and any(_is_one_of(element, wanted) for element in value)


def _is_between(value: Json, wanted: Json, now: datetime | None) -> bool:
    low, high = list_values(wanted)
    return _compare(value, low, now) in (0, 1) and _compare(value, high, now) in (-1, 0)


def _is_on(value: Json, wanted: Json, now: datetime | None) -> bool:
    points = read_time_point(value, now), read_time_point(wanted, now)
    if isinstance(points[0], date) and isinstance(points[1], date):
        return get_day(points[0]) == get_day(points[1])
    return _compare_times(value, wanted, now) == 0


def _build_calendar(names: Sequence[str], get_index: Callable[[date], int], expected: bool) -> Test:
    """Whether the name of a day's month or weekday is among the wanted ones."""

    def holds(value: Json, wanted: Json, now: datetime | None) -> bool:
        point = read_time_point(value, now)
        return isinstance(point, date) and _is_one_of(names[get_index(point)], wanted) is expected

    return holds


def _get_month(day: date) -> int:
    return day.month - 1


def _build_within(unit: timedelta) -> Test:
    def holds(value: Json, count: Json, now: datetime | None) -> bool:
        point, number = read_time_point(value, now), read_number(count)
        if now is None or number is None or not isinstance(point, date):
            return False
        end = now + unit * int(number)
        return now <= point <= end if isinstance(point, datetime) else now.date() <= point <= end.date()

    return holds


def _build_ago(unit: timedelta) -> Test:
    def holds(value: Json, count: Json, now: datetime | None) -> bool:
        point, number = read_time_point(value, now), read_number(count)
        if now is None or number is None or not isinstance(point, date):
            return False
        start = now - unit * int(number)
        return point < start if isinstance(point, datetime) else point < start.date()

    return holds


def _build_count(compare: Callable[[int, int], bool]) -> Test:
    def holds(value: Json, count: Json, now: datetime | None) -> bool:
        number = read_number(count)
        return isinstance(value, (list, tuple)) and number is not None and compare(len(value), int(number))

    return holds


def _build_order(*orders: int) -> Test:
    return lambda value, wanted, now: _compare(value, wanted, now) in orders


# --- the table --------------------------------------------------------------------------------------------------

#: The names of months.
MONTHS = (
    *("January", "February", "March", "April", "May", "June", "July"),
    *("August", "September", "October", "November", "December"),
)
_DAY, _HOUR = timedelta(days=1), timedelta(hours=1)
_TEXTS = (FieldKind.TEXT, FieldKind.CHOICE)
_NUMBERS = (FieldKind.NUMBER,)
_TIMES = (FieldKind.TIME,)
_LISTS = (FieldKind.LIST,)
_ALL = tuple(FieldKind)

OPERATORS: Mapping[str, Operator] = {
    operator.name: operator
    for operator in (
        Operator("is", "is", "is {}", Needs.TEXT, lambda a, b, now: _are_equal(a, b), _TEXTS, ("equals", "eq")),
        Operator(
            "isNot", "is not", "is not {}", Needs.TEXT, lambda a, b, now: not _are_equal(a, b), _TEXTS, ("notEquals",)
        ),
        Operator("contains", "contains", "contains {}", Needs.TEXT, lambda a, b, now: _contains(a, b), _TEXTS[:1]),
        Operator(
            "doesNotContain",
            "does not contain",
            "does not contain {}",
            Needs.TEXT,
            lambda a, b, now: not _contains(a, b),
            _TEXTS[:1],
            ("notContains",),
        ),
        Operator(
            "startsWith",
            "starts with",
            "starts with {}",
            Needs.TEXT,
            lambda a, b, now: _is_plain(a) and fold_case(_to_text(a)).startswith(fold_case(_to_text(b))),
            _TEXTS[:1],
            ("beginsWith",),
        ),
        Operator(
            "matches",
            "matches pattern",
            "matches {}",
            Needs.PATTERN,
            lambda a, b, now: _matches(a, b),
            _TEXTS[:1],
            ("regex",),
        ),
        Operator(
            "isOneOf", "is one of", "is one of {}", Needs.LIST, lambda a, b, now: _is_one_of(a, b), _TEXTS, ("in",)
        ),
        Operator(
            "isNoneOf",
            "is none of",
            "is none of {}",
            Needs.LIST,
            lambda a, b, now: not _is_one_of(a, b),
            _TEXTS,
            ("notIn",),
        ),
        Operator("=", "=", "is {}", Needs.TEXT, _is_equal_number, _NUMBERS, ("==",)),
        Operator(
            "!=", "≠", "is not {}", Needs.TEXT, lambda a, b, now: not _is_equal_number(a, b, now), _NUMBERS, ("<>",)
        ),
        Operator("<", "<", "is less than {}", Needs.TEXT, _build_order(-1), _NUMBERS, ("lessThan",)),
        Operator("<=", "≤", "is at most {}", Needs.TEXT, _build_order(-1, 0), _NUMBERS, ("atMost",)),
        Operator(">", ">", "is more than {}", Needs.TEXT, _build_order(1), _NUMBERS, ("greaterThan", "moreThan")),
        Operator(">=", "≥", "is at least {}", Needs.TEXT, _build_order(0, 1), _NUMBERS, ("atLeast",)),
        Operator(
            "between", "is between", "is between {}", Needs.RANGE, _is_between, (*_NUMBERS, *_TIMES), ("between",)
        ),
        Operator(
            "before",
            "is before",
            "is before {}",
            Needs.TIME,
            lambda a, b, now: _compare_times(a, b, now) == -1,
            _TIMES,
        ),
        Operator(
            "after", "is after", "is after {}", Needs.TIME, lambda a, b, now: _compare_times(a, b, now) == 1, _TIMES
        ),
        Operator("on", "is on", "is on {}", Needs.TIME, _is_on, _TIMES),
        *(
            Operator(name, label, phrase, Needs.LIST, _build_calendar(values, index, holds), _TIMES, values=values)
            for name, label, phrase, values, index, holds in (
                ("inMonths", "is in month", "is in {}", MONTHS, _get_month, True),
                ("notInMonths", "is not in month", "is not in {}", MONTHS, _get_month, False),
                ("onWeekdays", "is on weekday", "is on {}", WEEKDAYS, date.weekday, True),
                ("notOnWeekdays", "is not on weekday", "is not on {}", WEEKDAYS, date.weekday, False),
            )
        ),
        Operator(
            "withinDays",
            "is within … days from now",
            "is within {:day} from now",
            Needs.COUNT,
            _build_within(_DAY),
            _TIMES,
            ("withinNextDays", "withinDaysFromNow"),
        ),
        Operator(
            "withinHours",
            "is within … hours from now",
            "is within {:hour} from now",
            Needs.COUNT,
            _build_within(_HOUR),
            _TIMES,
            ("withinNextHours", "withinHoursFromNow"),
        ),
        Operator(
            "moreThanDaysAgo",
            "is more than … days ago",
            "is more than {:day} ago",
            Needs.COUNT,
            _build_ago(_DAY),
            _TIMES,
        ),
        Operator(
            "moreThanHoursAgo",
            "is more than … hours ago",
            "is more than {:hour} ago",
            Needs.COUNT,
            _build_ago(_HOUR),
            _TIMES,
        ),
        Operator("has", "has", "has {}", Needs.LIST, lambda a, b, now: _has(a, b), _LISTS),
        Operator(
            "hasNone",
            "has none of",
            "has none of {}",
            Needs.LIST,
            lambda a, b, now: isinstance(a, (list, tuple)) and not _has(a, b),
            _LISTS,
        ),
        Operator(
            "countIs",
            "has exactly … entries",
            "has exactly {:entry}",
            Needs.COUNT,
            _build_count(lambda size, count: size == count),
            _LISTS,
            ("count",),
        ),
        Operator(
            "countAtLeast",
            "has at least … entries",
            "has at least {:entry}",
            Needs.COUNT,
            _build_count(lambda size, count: size >= count),
            _LISTS,
        ),
        Operator(
            "countAtMost",
            "has at most … entries",
            "has at most {:entry}",
            Needs.COUNT,
            _build_count(lambda size, count: size <= count),
            _LISTS,
        ),
        Operator(
            "isYes",
            "is yes",
            "is yes",
            Needs.NOTHING,
            lambda a, b, now: read_yes_no(a) is True,
            (FieldKind.YES_NO,),
            ("isTrue", "true"),
        ),
        Operator(
            "isNo",
            "is no",
            "is no",
            Needs.NOTHING,
            lambda a, b, now: read_yes_no(a) is False,
            (FieldKind.YES_NO,),
            ("isFalse", "false"),
        ),
        Operator(
            "isEmpty", "is empty", "is empty", Needs.NOTHING, lambda a, b, now: is_blank(a), _ALL, ("null", "empty")
        ),
        Operator(
            "isNotEmpty",
            "is not empty",
            "is not empty",
            Needs.NOTHING,
            lambda a, b, now: not is_blank(a),
            _ALL,
            ("notNull", "notEmpty"),
        ),
    )
}


def _fold_name(name: str) -> str:
    return re.sub(r"[\s_…-]+", "", name).lower()


_BY_SPELLING: Mapping[str, Operator] = {
    _fold_name(spelling): operator
    for operator in OPERATORS.values()
    for spelling in (*operator.aliases, operator.label, operator.name)
}


def get_operator(name: str) -> Operator | None:
    """The operator of a name, label or alias, or null: `startsWith`, `starts with` and `beginsWith` are one."""
    return OPERATORS.get(name) or _BY_SPELLING.get(_fold_name(name))


# --- checks and words -------------------------------------------------------------------------------------------


def find_value_problem(operator: Operator, value: Json) -> str | None:
    """What is wrong with the value of a row, as an end of a sentence; null for a usable one."""
    if operator.values and not all(_is_one_of(part, operator.values) for part in list_values(value)):
        return f"needs one of {join_alternatives(operator.values)}"
    return None if _CHECKS[operator.needs](value) else f"needs {operator.needs.value}"


def _is_pattern(value: Json) -> bool:
    try:
        compile_pattern(value if isinstance(value, str) else "")
    except PatternError:
        return False
    return isinstance(value, str) and not is_blank(value)


def _is_range(value: Json) -> bool:
    ends = list_values(value)
    return len(ends) == 2 and (
        all(read_number(end) is not None for end in ends) or all(is_time_point(end) for end in ends)
    )


def _is_count(value: Json) -> bool:
    number = read_number(value)
    return number is not None and number == int(number) and 0 <= number <= 100_000


_CHECKS: Mapping[Needs, Callable[[Json], bool]] = {
    Needs.NOTHING: lambda value: True,
    Needs.TEXT: lambda value: isinstance(value, (str, int, float)) and not is_blank(value),
    Needs.PATTERN: _is_pattern,
    Needs.LIST: lambda value: not isinstance(value, Mapping) and bool(list_values(value)),
    Needs.NUMBER: lambda value: read_number(value) is not None,
    Needs.COUNT: _is_count,
    Needs.TIME: is_time_point,
    Needs.RANGE: _is_range,
}


def describe_comparison(operator: Operator, value: Json, *, field: str | None = None) -> str:
    """The operator with its value in words: "is before today plus 2 days". `field`: another field is the value."""
    before, _, rest = operator.phrase.partition("{")
    unit, _, after = rest.partition("}")
    if not rest:
        return before
    if field is not None:
        return f"{before}{field}{after}"
    if unit:
        return f"{before}{_describe_unit(value, unit.removeprefix(':'))}{after}"
    if operator.needs is Needs.PATTERN:
        return describe_match(str(value))
    if operator.needs is Needs.LIST:
        describe = str if operator.values else describe_value
        return f"{before}{join_alternatives([describe(part) for part in list_values(value)] or ['nothing'])}"
    if operator.needs is Needs.RANGE:
        return f"{before}{' and '.join(map(describe_value, list_values(value)))}"
    return f"{before}{describe_value(value)}"


def _describe_unit(value: Json, noun: str) -> str:
    return describe_count(value, noun) if noun != "entry" else f"{value} {'entry' if str(value) == '1' else 'entries'}"


def describe_value(value: Json) -> str:
    """A value in words: a date or number plain, other texts in quotes."""
    if isinstance(value, str) and (is_time_point(value) or read_number(value) is not None):
        return describe_time_point(value)
    return shorten(json.dumps(value, ensure_ascii=False, default=str), _SHOWN)


def list_operators(kind: FieldKind) -> Sequence[Operator]:
    """The operators that fit a kind of field, in the order in which a form offers them."""
    return [operator for operator in OPERATORS.values() if kind in operator.kinds]
