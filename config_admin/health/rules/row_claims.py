"""A condition of rows as the same condition in paths, so that the search for turns understands it.

What has no counterpart is left out. The engine decides at the end whether the rule holds, so this only guides the
search.
"""

import re
from collections.abc import Callable, Iterator, Mapping
from datetime import UTC, date, datetime, timedelta
from typing import Any

from convengine.engine.rules.field_conditions.evaluate import ALIASES
from convengine.engine.rules.field_conditions.operators import list_values, read_number
from convengine.engine.rules.field_conditions.parser import Comparison, Group
from convengine.engine.rules.field_conditions.time_points import read_time_point
from convengine.engine.rules.json_path.nodes import (
    Compare,
    Condition,
    Either,
    Elements,
    Every,
    Exists,
    Length,
    Literal,
    Matches,
    Members,
    Not,
    Path,
)
from convengine.engine.rules.patterns import compile_pattern

Json = Any
#: The time of simulated turns: noon of a Thursday.
NOW = datetime(2026, 1, 1, 12, tzinfo=UTC)
_DAY = timedelta(days=1)


def translate_group(group: Group) -> Condition | None:
    """The group in paths, without terms that must hold besides; null when it has no counterpart."""
    translated = [
        translate_group(member) if isinstance(member, Group) else _translate_row(member) for member in group.members
    ]
    terms = tuple(term for term in translated if term is not None)
    if not terms or (len(terms) < len(translated) and (group.negated or group.combinator == "or")):
        return None
    condition = terms[0] if len(terms) == 1 else Every(terms) if group.combinator == "and" else Either(terms)
    return Not(condition) if group.negated else condition


def _translate_row(row: Comparison) -> Condition | None:
    path = _build_path(row.field)
    if row.from_field:
        op = _OF_FIELDS.get(row.operator.name)
        return Compare(path, op, _build_path(str(row.value))) if op else None
    build = _BUILDERS.get(row.operator.name)
    value = row.value
    if row.field in ("intent", "state"):
        # Codes are stored in upper case, and compared without regard to it.
        value = [str(part).upper() for part in list_values(value)] if isinstance(value, list) else str(value).upper()
    return build(path, value) if build else None


def _build_path(field: str) -> Path:
    first, *rest = field.split(".")
    if first == "memory" and rest:
        first, rest = "context", ["memory", *rest]
    names = [*ALIASES.get(first, (first,)), *rest]
    steps = (Elements((int(name),)) if name.isdecimal() else Members((name,)) for name in names)
    return Path(tuple(steps), from_root=False)


def _simplify(value: Json) -> Json:
    """A number for a text that is one; another value is unchanged."""
    number = read_number(value)
    return value if number is None or not isinstance(value, str) else float(number) if number % 1 else int(number)


def _resolve(value: Json) -> Json:
    """A relative day or moment as a text like those that forms store; another value is unchanged."""
    point = read_time_point(value, NOW)
    return _simplify(value) if point is None else point.isoformat()


def _is_set(path: Path) -> Condition:
    return Every((Exists(path), Not(Compare(path, "==", Literal(None)))))


def _build_match(pattern: str) -> Callable[[Path, Json], Condition]:
    def build(path: Path, value: Json) -> Condition:
        return _build_matches(path, pattern.format(re.escape(str(value).strip())))

    return build


def _build_matches(path: Path, pattern: str) -> Condition:
    """The whole text matches the pattern, as `=~` has it."""
    return Matches(path, compile_pattern(pattern), f"/{pattern}/i")


def _build_compare(op: str, prepare: Callable[[Json], Json] = _resolve) -> Callable[[Path, Json], Condition]:
    return lambda path, value: Compare(path, op, Literal(prepare(value)))


def _build_opposite(build: Callable[[Path, Json], Condition]) -> Callable[[Path, Json], Condition]:
    return lambda path, value: Every((_is_set(path), Not(build(path, value))))


def _build_range(path: Path, value: Json) -> Condition:
    low, high = map(_resolve, list_values(value))
    return Every((Compare(path, ">=", Literal(low)), Compare(path, "<=", Literal(high))))


def _build_days(path: Path, value: Json, *, forward: bool) -> Condition:
    count = int(read_number(value) or 0)
    if forward:
        return _build_range(path, [NOW.date().isoformat(), _shift(count).isoformat()])
    return Compare(path, "<", Literal(_shift(-count).isoformat()))


def _shift(days: int) -> date:
    return NOW.date() + _DAY * days


def _build_size(op: str) -> Callable[[Path, Json], Condition]:
    return lambda path, value: Compare(Length(path), op, Literal(int(read_number(value) or 0)))


def _iterate_operators() -> Iterator[tuple[str, Callable[[Path, Json], Condition]]]:
    equal, contains = _build_compare("=="), _build_match("(?s).*{}.*")
    member = _build_compare("in", lambda value: [_simplify(part) for part in list_values(value)])
    has = _build_compare("anyof", list_values)
    yield from (("is", equal), ("=", equal), ("on", equal), ("isNot", _build_opposite(equal)))
    yield from (("!=", _build_opposite(equal)), ("contains", contains), ("doesNotContain", _build_opposite(contains)))
    yield from (("startsWith", _build_match("(?s){}.*")), ("isOneOf", member), ("isNoneOf", _build_opposite(member)))
    yield "matches", lambda path, value: _build_matches(path, f"(?s).*(?:{value}).*")
    yield from ((op, _build_compare(op)) for op in ("<", "<=", ">", ">="))
    yield from (("before", _build_compare("<")), ("after", _build_compare(">")), ("between", _build_range))
    yield "withinDays", lambda path, value: _build_days(path, value, forward=True)
    yield "moreThanDaysAgo", lambda path, value: _build_days(path, value, forward=False)
    yield from (("has", has), ("hasNone", _build_compare("noneof", list_values)))
    yield from (("countIs", _build_size("==")), ("countAtLeast", _build_size(">=")), ("countAtMost", _build_size("<=")))
    yield "isYes", lambda path, value: Compare(path, "==", Literal(True))
    yield "isNo", lambda path, value: Compare(path, "==", Literal(False))
    yield "isEmpty", lambda path, value: Either((Not(_is_set(path)), Compare(path, "empty", Literal(True))))
    yield "isNotEmpty", lambda path, value: Every((_is_set(path), Not(Compare(path, "empty", Literal(True)))))


_BUILDERS: Mapping[str, Callable[[Path, Json], Condition]] = dict(_iterate_operators())
#: Operators between two fields.
_OF_FIELDS: Mapping[str, str] = {
    **dict.fromkeys(("is", "=", "on"), "=="),
    **{name: name for name in ("<", "<=", ">", ">=")},
    "before": "<",
    "after": ">",
    "isNot": "!=",
    "!=": "!=",
}
