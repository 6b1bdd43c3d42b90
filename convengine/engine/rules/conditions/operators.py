"""The operators of conditions: what each compares, the values it takes, how it is said, and values near those.

A new operator is one entry of a table below. The form, the JSON Schema, sentences and the health check read the table.
"""

import operator
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import date, datetime, time, timedelta
from enum import Enum, StrEnum
from functools import partial
from typing import Any

from convengine.engine.rules.conditions.time_points import get_day, is_time_point, read_time_point
from convengine.engine.rules.conditions.values import (
    LISTS,
    MISSING,
    OBJECTS,
    EvaluationScope,
    are_alike,
    are_equal,
    compare_times,
    compare_values,
    get_length,
    is_among,
    is_blank,
    is_number,
    is_plain,
    list_values,
    read_number,
    read_yes_no,
    write_text,
)
from convengine.engine.rules.patterns import MAX_INPUT, PatternError, compile_pattern
from convengine.engine.rules.text_bank import fold_case, is_exactly
from convengine.engine.text.compare import blank
from convengine.engine.text.wording import join_alternatives
from convengine.engine.turn.local_time import WEEKDAYS
from convengine.json_value import Json

#: (left value, right value, evaluation) -> holds.
Test = Callable[[Json, Json, EvaluationScope], bool]
#: (value of a condition, noon of a day) -> values that fulfil a comparison with it, and values that do not.
Near = Callable[[Json, datetime], Iterator[Json]]
_DAY, _HOUR = timedelta(days=1), timedelta(hours=1)

# --- what a value may be, and what is near it -------------------------------------------------------------------


def _is_pattern(value: Json) -> bool:
    try:
        compile_pattern(value if isinstance(value, str) else "")
    except PatternError:
        return False
    return isinstance(value, str) and not is_blank(value)


def _is_list(value: Json) -> bool:
    return not isinstance(value, Mapping) and bool(list_values(value))


def _is_range(value: Json) -> bool:
    """True for two numbers, or two dates or times."""
    ends = list_values(value)
    return len(ends) == 2 and (
        all(read_number(end) is not None for end in ends) or all(is_time_point(end) for end in ends)
    )


def _is_count(value: Json) -> bool:
    number = read_number(value)
    return number is not None and number == int(number) and 0 <= number <= 100_000


def _list_usual(value: Json, now: datetime) -> Iterator[Json]:
    yield from (True, False, "text", "", [])


def _list_near(value: Json, now: datetime) -> Iterator[Json]:
    """One more and one less than a number; a day and an hour before and after a time; texts with and without one."""
    for part in list_values(value) or [value]:
        number, point = read_number(part), read_time_point(part, now)
        if number is not None:
            near = float(number) if number % 1 else int(number)
            yield from (near, near + 1, near - 1)
        elif point is not None:
            yield point.isoformat()
            for step in (_DAY, _HOUR):
                yield from (_shift(point, step), _shift(point, -step))
        else:
            yield from (part, f"{part}x", f"a {part} b")


def _list_near_list(value: Json, now: datetime) -> Iterator[Json]:
    parts = list_values(value) or [value]
    yield from ([*parts], parts[:1], ["other"])
    yield from _list_near(value, now)


def _list_near_range(value: Json, now: datetime) -> Iterator[Json]:
    numbers = [read_number(part) for part in list_values(value)]
    if None not in numbers:
        yield sum(float(number or 0) for number in numbers) / 2
    yield from _list_near(value, now)


def _list_near_count(value: Json, now: datetime) -> Iterator[Json]:
    """Days and hours that are about this far away."""
    yield from _list_near(value, now)
    count = int(read_number(value) or 0)
    for unit, start in ((_DAY, now.date()), (_HOUR, now)):
        yield from (_shift(start, unit * steps) for steps in (count, -count, count + 1, -count - 1))


def _list_near_literal(value: Json, now: datetime) -> Iterator[Json]:
    """Values near the one of a path, which is compared exactly."""
    if isinstance(value, list):
        yield from (value, *value, value[:1], [*value, "other"], ["other"])
    elif is_number(value):
        yield from (value, value + 1, value - 1, str(value))
    elif isinstance(value, str):
        yield from (value, f"{value}x", value[:-1], [value])
        if value.lstrip("-").isdecimal() and len(value) < 16:
            yield int(value)
    else:
        yield value


def _list_near_member(value: Json, now: datetime) -> Iterator[Json]:
    if isinstance(value, list):
        yield from _list_near_literal(value, now)
    else:
        yield from ([value], f"a {value} b" if isinstance(value, str) else [value, value], value)


def _list_empty(value: Json, now: datetime) -> Iterator[Json]:
    yield from ([], ["text"], "", "text", {})


def _list_none(value: Json, now: datetime) -> Iterator[Json]:
    yield from ()


def _shift(point: Any, step: timedelta) -> str:
    """A day, a moment or a time of the day, later or earlier."""
    if isinstance(point, time):
        return (datetime.combine(date(2000, 1, 1), point) + step).time().isoformat()
    try:
        return str((point + step).isoformat())
    except OverflowError:
        return str(point)


class Needs(Enum):
    """What the value of an operator must be: in words, its test, and values near one."""

    NOTHING = "no value", lambda value: True, _list_usual
    TEXT = "a value", lambda value: is_plain(value) and not is_blank(value), _list_near
    PATTERN = "a regular expression", _is_pattern, _list_near
    LIST = "at least one value", _is_list, _list_near_list
    COUNT = "a whole number from 0 to 100000", _is_count, _list_near_count
    TIME = "a date or a time, such as 2026-12-05, 16:30, today+2d or now-3h", is_time_point, _list_near
    RANGE = "two numbers, dates or times", _is_range, _list_near_range
    #: Of a path, whose grammar decides what may stand there.
    LITERAL = "a number, text, boolean, null or list", lambda value: True, _list_near_literal
    MEMBER = "a member or a list of members", lambda value: True, _list_near_member
    YES_NO = "true or false", lambda value: True, _list_empty
    SIZE = "a size", lambda value: True, _list_none

    def __init__(self, words: str, is_valid: Callable[[Json], bool], list_near: Near) -> None:
        self.words, self.is_valid, self.list_near = words, is_valid, list_near


# --- operators --------------------------------------------------------------------------------------------------


class ComparedKind(StrEnum):
    """The kind of a field's values. It decides which operators a form offers."""

    TEXT = "text"
    CHOICE = "choice"
    NUMBER = "number"
    TIME = "date or time"
    LIST = "list"
    YES_NO = "yes or no"


@dataclass(frozen=True)
class Operator:
    """One operator. `phrase` says it after the name of the left side; `{}` stands for the right one."""

    name: str
    phrase: str
    needs: Needs
    test: Test
    kinds: tuple[ComparedKind, ...] = ()
    #: Other accepted spellings, besides the label.
    aliases: tuple[str, ...] = ()
    #: What the form calls it, if not its phrase without the value.
    own_label: str = ""
    #: The values to choose from; none for any.
    values: tuple[str, ...] = ()
    #: Values that fulfil it, or do not, besides those near the value that it needs.
    tried: tuple[Json, ...] = ()
    #: Of a path: its phrase for points in time, and the operator of a row that compares alike.
    time_phrase: str = ""
    of_row: str = ""

    @property
    def label(self) -> str:
        return self.own_label or PLACE.sub(lambda gap: _UNITS.get(gap[1], ""), self.phrase).strip()

    def list_near(self, value: Json, now: datetime) -> Iterator[Json]:
        """Values that fulfil a comparison with the value, and values that do not."""
        yield from self.tried
        yield from _list_days(now) if self.values else self.needs.list_near(value, now)


#: The place of the value in a phrase, with its unit.
PLACE = re.compile(r"\{:?(\w*)\}")
_UNITS: Mapping[str, str] = {"day": "… days", "hour": "… hours", "entry": "… entries"}


def _list_days(now: datetime) -> Iterator[Json]:
    """Each weekday, and a day of each month."""
    yield from (_shift(now.date(), timedelta(days=days)) for days in (*range(7), *range(30, 365, 30)))


def _not(test: Test) -> Test:
    return lambda value, wanted, scope: not test(value, wanted, scope)


# --- rows of fields ---------------------------------------------------------------------------------------------


def _is(value: Json, wanted: Json, scope: EvaluationScope) -> bool:
    return are_alike(value, wanted)


def _is_number(value: Json, wanted: Json, scope: EvaluationScope) -> bool:
    order = compare_values(value, wanted, scope.now)
    return order == 0 if order is not None else are_alike(value, wanted)


def _contains(value: Json, wanted: Json, scope: EvaluationScope) -> bool:
    if isinstance(value, LISTS):
        return any(are_alike(element, wanted) for element in value)
    return is_plain(value) and fold_case(write_text(wanted)) in fold_case(write_text(value))


def _starts_with(value: Json, wanted: Json, scope: EvaluationScope) -> bool:
    return is_plain(value) and fold_case(write_text(value)).startswith(fold_case(write_text(wanted)))


def _matches(value: Json, wanted: Json, scope: EvaluationScope) -> bool:
    return is_plain(value) and compile_pattern(str(wanted)).occurs_in(write_text(value))


def _is_one_of(value: Json, wanted: Json, scope: EvaluationScope) -> bool:
    return is_among(value, wanted)


def _has(value: Json, wanted: Json, scope: EvaluationScope) -> bool:
    return isinstance(value, LISTS) and any(is_among(element, wanted) for element in value)


def _has_none(value: Json, wanted: Json, scope: EvaluationScope) -> bool:
    return isinstance(value, LISTS) and not _has(value, wanted, scope)


def _is_yes(value: Json, wanted: Json, scope: EvaluationScope) -> bool:
    return read_yes_no(_write_number(value)) is True


def _is_no(value: Json, wanted: Json, scope: EvaluationScope) -> bool:
    return read_yes_no(_write_number(value)) is False


def _write_number(value: Json) -> Json:
    """A number as text, as programs send 1 for yes; any other value as it is."""
    return f"{value:g}" if is_number(value) else value


def _is_blank(value: Json, wanted: Json, scope: EvaluationScope) -> bool:
    return is_blank(value)


def _is_between(value: Json, wanted: Json, scope: EvaluationScope) -> bool:
    low, high = list_values(wanted)
    return compare_values(value, low, scope.now) in (0, 1) and compare_values(value, high, scope.now) in (-1, 0)


def _is_on(value: Json, wanted: Json, scope: EvaluationScope) -> bool:
    """True for two moments of one day; other points in time must be equal."""
    points = read_time_point(value, scope.now), read_time_point(wanted, scope.now)
    if isinstance(points[0], date) and isinstance(points[1], date):
        return get_day(points[0]) == get_day(points[1])
    return compare_times(value, wanted, scope.now) == 0


def _build_order(*orders: int) -> Test:
    return lambda value, wanted, scope: compare_values(value, wanted, scope.now) in orders


def _build_time_order(*orders: int) -> Test:
    return lambda value, wanted, scope: compare_times(value, wanted, scope.now) in orders


def _build_calendar(names: Sequence[str], get_index: Callable[[date], int], expected: bool) -> Test:
    """Whether the name of a day's month or weekday is among the wanted ones."""

    def holds(value: Json, wanted: Json, scope: EvaluationScope) -> bool:
        point = read_time_point(value, scope.now)
        return isinstance(point, date) and is_among(names[get_index(point)], wanted) is expected

    return holds


def _build_distance(unit: timedelta, *, ago: bool) -> Test:
    """Whether a day or moment is within some days or hours from now, or more than these ago."""

    def holds(value: Json, count: Json, scope: EvaluationScope) -> bool:
        now, point, number = scope.now, read_time_point(value, scope.now), read_number(count)
        if now is None or number is None or not isinstance(point, date):
            return False
        end = now - unit * int(number) if ago else now + unit * int(number)
        if not isinstance(point, datetime):
            return point < end.date() if ago else now.date() <= point <= end.date()
        return point < end if ago else now <= point <= end

    return holds


def _build_count(compare: Callable[[int, int], bool]) -> Test:
    """Whether the length of a list compares so with a number; false for a value that is no list."""

    def holds(value: Json, count: Json, scope: EvaluationScope) -> bool:
        number = read_number(count)
        return isinstance(value, LISTS) and number is not None and compare(len(value), int(number))

    return holds


def _guard(operator: Operator) -> Test:
    """No comparison of a row holds without a value on both sides, or for a value of a kind that it does not know."""
    test, of_null, alone = operator.test, operator.name == "isEmpty", operator.needs is Needs.NOTHING

    def holds(value: Json, wanted: Json, scope: EvaluationScope) -> bool:
        if value is MISSING or wanted is MISSING or (value is None and not of_null) or (not alone and is_blank(wanted)):
            return False
        try:
            return test(value, wanted, scope)
        except (ValueError, TypeError, OverflowError, ArithmeticError):
            return False

    return holds


def _get_month(day: date) -> int:
    return day.month - 1


#: The names of months.
MONTHS = (
    *("January", "February", "March", "April", "May", "June", "July"),
    *("August", "September", "October", "November", "December"),
)
_TEXT, _TEXTS = (ComparedKind.TEXT,), (ComparedKind.TEXT, ComparedKind.CHOICE)
_NUMBERS, _TIMES, _LISTS = (ComparedKind.NUMBER,), (ComparedKind.TIME,), (ComparedKind.LIST,)
_YES_NO, _ALL = (ComparedKind.YES_NO,), tuple(ComparedKind)
_monthly = partial(_build_calendar, MONTHS, _get_month)
_weekly = partial(_build_calendar, WEEKDAYS, date.weekday)
#: The words for the order of days and moments, in rows and in paths.
_OF_TIMES: Mapping[str, str] = {
    "<": "is before {}",
    "<=": "is on or before {}",
    ">": "is after {}",
    ">=": "is on or after {}",
}


def _make_order(name: str, phrase: str, orders: Sequence[int], aliases: tuple[str, ...], label: str) -> Operator:
    """An operator for numbers; a row about a day or a moment has the words for those."""
    test = _build_order(*orders)
    return Operator(name, phrase, Needs.TEXT, test, _NUMBERS, aliases, label, time_phrase=_OF_TIMES[name])


_ROWS = (
    Operator("is", "is {}", Needs.TEXT, _is, _TEXTS, ("equals", "eq")),
    Operator("isNot", "is not {}", Needs.TEXT, _not(_is), _TEXTS, ("notEquals",)),
    Operator("contains", "contains {}", Needs.TEXT, _contains, _TEXT),
    Operator("doesNotContain", "does not contain {}", Needs.TEXT, _not(_contains), _TEXT, ("notContains",)),
    Operator("startsWith", "starts with {}", Needs.TEXT, _starts_with, _TEXT, ("beginsWith",)),
    Operator("matches", "matches {}", Needs.PATTERN, _matches, _TEXT, ("regex",), "matches pattern"),
    Operator("isOneOf", "is one of {}", Needs.LIST, _is_one_of, _TEXTS, ("in",)),
    Operator("isNoneOf", "is none of {}", Needs.LIST, _not(_is_one_of), _TEXTS, ("notIn",)),
    Operator("=", "is {}", Needs.TEXT, _is_number, _NUMBERS, ("==",), "="),
    Operator("!=", "is not {}", Needs.TEXT, _not(_is_number), _NUMBERS, ("<>",), "≠"),
    _make_order("<", "is less than {}", (-1,), ("lessThan",), "<"),
    _make_order("<=", "is at most {}", (-1, 0), ("atMost",), "≤"),
    _make_order(">", "is more than {}", (1,), ("greaterThan", "moreThan"), ">"),
    _make_order(">=", "is at least {}", (0, 1), ("atLeast",), "≥"),
    Operator("between", "is between {}", Needs.RANGE, _is_between, (*_NUMBERS, *_TIMES)),
    Operator("before", _OF_TIMES["<"], Needs.TIME, _build_time_order(-1), _TIMES),
    Operator("onOrBefore", _OF_TIMES["<="], Needs.TIME, _build_time_order(-1, 0), _TIMES, ("notAfter",)),
    Operator("after", _OF_TIMES[">"], Needs.TIME, _build_time_order(1), _TIMES),
    Operator("onOrAfter", _OF_TIMES[">="], Needs.TIME, _build_time_order(1, 0), _TIMES, ("notBefore",)),
    Operator("on", "is on {}", Needs.TIME, _is_on, _TIMES),
    Operator("inMonths", "is in {}", Needs.LIST, _monthly(True), _TIMES, (), "is in month", MONTHS),
    Operator("notInMonths", "is not in {}", Needs.LIST, _monthly(False), _TIMES, (), "is not in month", MONTHS),
    Operator("onWeekdays", "is on {}", Needs.LIST, _weekly(True), _TIMES, (), "is on weekday", WEEKDAYS),
    Operator("notOnWeekdays", "is not on {}", Needs.LIST, _weekly(False), _TIMES, (), "is not on weekday", WEEKDAYS),
    Operator(
        "withinDays",
        "is within {:day} from now",
        Needs.COUNT,
        _build_distance(_DAY, ago=False),
        _TIMES,
        ("withinNextDays", "withinDaysFromNow"),
    ),
    Operator(
        "withinHours",
        "is within {:hour} from now",
        Needs.COUNT,
        _build_distance(_HOUR, ago=False),
        _TIMES,
        ("withinNextHours", "withinHoursFromNow"),
    ),
    Operator("moreThanDaysAgo", "is more than {:day} ago", Needs.COUNT, _build_distance(_DAY, ago=True), _TIMES),
    Operator("moreThanHoursAgo", "is more than {:hour} ago", Needs.COUNT, _build_distance(_HOUR, ago=True), _TIMES),
    Operator("has", "has {}", Needs.LIST, _has, _LISTS),
    Operator("hasNone", "has none of {}", Needs.LIST, _has_none, _LISTS),
    Operator("countIs", "has exactly {:entry}", Needs.COUNT, _build_count(operator.eq), _LISTS, ("count",)),
    Operator("countAtLeast", "has at least {:entry}", Needs.COUNT, _build_count(operator.ge), _LISTS),
    Operator("countAtMost", "has at most {:entry}", Needs.COUNT, _build_count(operator.le), _LISTS),
    Operator("isYes", "is yes", Needs.NOTHING, _is_yes, _YES_NO, ("isTrue", "true")),
    Operator("isNo", "is no", Needs.NOTHING, _is_no, _YES_NO, ("isFalse", "false")),
    Operator("isEmpty", "is empty", Needs.NOTHING, _is_blank, _ALL, ("null", "empty")),
    Operator("isNotEmpty", "is not empty", Needs.NOTHING, _not(_is_blank), _ALL, ("notNull", "notEmpty")),
)
#: The operators of rows, in the order in which a form offers them.
OPERATORS: Mapping[str, Operator] = {each.name: replace(each, test=_guard(each)) for each in _ROWS}


# --- paths and texts --------------------------------------------------------------------------------------------


def _build_path_order(compare: Callable[[Any, Any], bool]) -> Test:
    """Whether two numbers or two texts are in this order; a text counts as a number beside one."""

    def holds(left: Json, right: Json, scope: EvaluationScope) -> bool:
        if (is_number(left) and is_number(right)) or (isinstance(left, str) and isinstance(right, str)):
            return compare(left, right)
        numbers = read_number(left), read_number(right)
        return None not in numbers and compare(*numbers)

    return holds


def _is_member(value: Json, members: Json, scope: EvaluationScope) -> bool:
    """True when a list has the value, compared exactly."""
    if not isinstance(members, LISTS):
        return False
    scope.spend(len(members))
    return any(are_equal(value, member, scope) for member in members)


def _has_part(left: Json, right: Json, scope: EvaluationScope) -> bool:
    """True when a text has another one in it, or a list has the value."""
    if isinstance(left, str):
        scope.spend(len(left) // 1000)
        return isinstance(right, str) and right in left
    return _is_member(right, left, scope)


def _has_any(left: Json, right: Json, scope: EvaluationScope) -> bool:
    return isinstance(left, LISTS) and any(_is_member(value, right, scope) for value in left)


def _has_no(left: Json, right: Json, scope: EvaluationScope) -> bool:
    return isinstance(left, LISTS) and not _has_any(left, right, scope)


def _is_subset(left: Json, right: Json, scope: EvaluationScope) -> bool:
    return isinstance(left, LISTS) and isinstance(right, LISTS) and all(_is_member(each, right, scope) for each in left)


def _is_empty(left: Json, right: Json, scope: EvaluationScope) -> bool:
    return isinstance(left, (str, *LISTS, *OBJECTS)) and isinstance(right, bool) and (len(left) == 0) is right


def _has_size(left: Json, right: Json, scope: EvaluationScope) -> bool:
    return is_number(right) and get_length(left) == right


def _fits(value: Json, pattern: Json, scope: EvaluationScope) -> bool:
    """True when the pattern matches the whole text, number or boolean."""
    if isinstance(value, str):
        scope.spend(min(len(value), MAX_INPUT) // 100)
    return is_plain(value) and bool(pattern.fits(write_text(value)))


def _equals_text(text: Json, pattern: Json, scope: EvaluationScope) -> bool:
    return isinstance(text, str) and is_exactly(pattern, text)


def _occurs_in(text: Json, pattern: Json, scope: EvaluationScope) -> bool:
    return isinstance(text, str) and not blank(pattern) and compile_pattern(pattern).occurs_in(text)


#: The operators of paths. A path without a value is null here.
PATH_OPERATORS: Mapping[str, Operator] = {
    each.name: each
    for each in (
        Operator("==", "is {}", Needs.LITERAL, are_equal),
        Operator("!=", "is not {}", Needs.LITERAL, _not(are_equal)),
        *(
            Operator(name, phrase, Needs.LITERAL, _build_path_order(compare), time_phrase=_OF_TIMES[name], of_row=name)
            for name, phrase, compare in (
                ("<", "is less than {}", operator.lt),
                ("<=", "is at most {}", operator.le),
                (">", "is more than {}", operator.gt),
                (">=", "is at least {}", operator.ge),
            )
        ),
        Operator("in", "is one of {}", Needs.LITERAL, _is_member, of_row="isOneOf"),
        Operator("nin", "is none of {}", Needs.LITERAL, _not(_is_member)),
        Operator("contains", "contains {}", Needs.MEMBER, _has_part, of_row="contains"),
        Operator("anyof", "has one of {}", Needs.MEMBER, _has_any),
        Operator("noneof", "has none of {}", Needs.MEMBER, _has_no),
        Operator("subsetof", "has nothing but {}", Needs.MEMBER, _is_subset),
        Operator("all", "has all of {}", Needs.MEMBER, lambda left, right, scope: _is_subset(right, left, scope)),
        Operator("empty", "is empty", Needs.YES_NO, _is_empty),
        Operator("size", "has the length {}", Needs.SIZE, _has_size),
        Operator("=~", "matches {}", Needs.PATTERN, _fits),
    )
}
#: The operators of EXACT and REGEX rules.
TEXT_OPERATORS: Mapping[str, Operator] = {
    each.name: each
    for each in (
        Operator("equals", "is {}", Needs.TEXT, _equals_text),
        Operator("=~", "matches {}", Needs.PATTERN, _occurs_in),
    )
}


# --- finding and checking ---------------------------------------------------------------------------------------


def _fold_name(name: str) -> str:
    return re.sub(r"[\s_…-]+", "", name).lower()


_BY_SPELLING: Mapping[str, Operator] = {
    _fold_name(spelling): each for each in OPERATORS.values() for spelling in (*each.aliases, each.label, each.name)
}


def get_operator(name: str) -> Operator | None:
    """The operator of a row by name, label or alias: `startsWith`, `starts with`, `beginsWith` are one.

    Returns None if there is none.
    """
    return OPERATORS.get(name) or _BY_SPELLING.get(_fold_name(name))


def find_value_problem(operator: Operator, value: Json) -> str | None:
    """What is wrong with the value of a row, as an end of a sentence. Returns None for a usable one."""
    if operator.values and not all(is_among(part, operator.values) for part in list_values(value)):
        return f"needs one of {join_alternatives(operator.values)}"
    return None if operator.needs.is_valid(value) else f"needs {operator.needs.words}"
