"""Matchers: what a value must be. One implementation for scenarios, stored test cases and replays.

A scalar or a list means equality: numbers by value, texts exactly. A map is one or more of the operators below; null
and missing are the same (R96).
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from numbers import Real
from typing import Any

from convengine.domain.alike import same, within
from convengine.rules.patterns import Pattern, PatternError, compile_pattern
from convengine.scenarios.wording import known

Json = Any


class MatcherError(ValueError):
    """A matcher that says nothing sensible; the message says why."""


@dataclass(frozen=True)
class Operator:
    """One word of a map: what its operand must be, and when a value passes."""

    #: Says what is wrong with an operand, null when it will do.
    wrong: Callable[[Json], str | None]
    holds: Callable[[Json, Json], bool]


def check(matcher: Json) -> None:
    """Raises MatcherError when the matcher is malformed."""
    if not isinstance(matcher, Mapping):
        return
    if not matcher:
        raise MatcherError("an empty map says nothing; use `equals: {}` for an empty object.")
    for word, operand in matcher.items():
        if word not in OPERATORS:
            raise MatcherError(f"{known(word, OPERATORS, 'operator')} Use `equals` to compare with an object.")
        if wrong := OPERATORS[word].wrong(operand):
            raise MatcherError(f"`{word}` {wrong}.")


def holds(matcher: Json, value: Json) -> bool:
    """True when the value is as the matcher says."""
    if not isinstance(matcher, Mapping):
        return same(matcher, value)
    return all(OPERATORS[word].holds(operand, value) for word, operand in matcher.items())


def _anything(operand: Json) -> str | None:
    return None


def _flag(operand: Json) -> str | None:
    return None if isinstance(operand, bool) else "takes true or false"


def _list(operand: Json) -> str | None:
    return None if isinstance(operand, list) else "takes a list"


def _number(operand: Json) -> str | None:
    return None if _is_number(operand) else "takes a number"


def _size(operand: Json) -> str | None:
    whole = isinstance(operand, int) and not isinstance(operand, bool)
    return None if whole and operand >= 0 else "takes a whole number of at least 0"


def _pattern(operand: Json) -> str | None:
    if not isinstance(operand, str):
        return "takes a regular expression"
    try:
        _compiled(operand)
    except PatternError as error:
        return f"takes a regular expression: {error.reason}"
    return None


def _is_number(value: Json) -> bool:
    return isinstance(value, Real) and not isinstance(value, bool)


def _contains(part: Json, value: Json) -> bool:
    """A part of a text, a member of a list, a subset of an object; a list of parts must all be there."""
    if isinstance(value, str):
        found = isinstance(part, str) and part in value
    elif isinstance(value, Mapping):
        found = isinstance(part, Mapping) and within(part, value)
    else:
        found = isinstance(value, list) and any(same(part, member) for member in value)
    return found or (isinstance(part, list) and bool(part) and all(_contains(one, value) for one in part))


def _length(value: Json) -> int:
    """How long a text, list or object is; -1 for anything else, which no length fits."""
    return len(value) if isinstance(value, (str, list, Mapping)) else -1


def _matches(pattern: str, value: Json) -> bool:
    return isinstance(value, str) and _compiled(pattern).found(value)


def _compiled(pattern: str) -> Pattern:
    """Case counts here, unlike in rows, unless the pattern itself says that it does not."""
    return compile_pattern(pattern, ignore_case=pattern.startswith("(?i"))


#: Every word that a map may have.
OPERATORS: Mapping[str, Operator] = {
    "equals": Operator(_anything, same),
    "contains": Operator(_anything, _contains),
    "one_of": Operator(_list, lambda choices, value: any(same(choice, value) for choice in choices)),
    "exists": Operator(_flag, lambda wanted, value: (value is not None) is wanted),
    "absent": Operator(_flag, lambda wanted, value: (value is None) is wanted),
    "matches": Operator(_pattern, _matches),
    "max_length": Operator(_size, lambda limit, value: 0 <= _length(value) <= limit),
    "min_length": Operator(_size, lambda limit, value: _length(value) >= limit),
    "length": Operator(_size, lambda wanted, value: _length(value) == wanted),
    "min": Operator(_number, lambda limit, value: _is_number(value) and value >= limit),
    "max": Operator(_number, lambda limit, value: _is_number(value) and value <= limit),
}
