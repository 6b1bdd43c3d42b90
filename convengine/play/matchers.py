"""Where an expectation looks, and what the value must be.

Paths are the plain subset of JSONPath: `$`, `.name`, `['name']`, `[n]`.

A scalar or a list means equality: numbers by value, texts exactly. A map is one or more of the operators below; null
and missing are the same.
"""

import re
from collections.abc import Callable, Mapping
from functools import lru_cache
from numbers import Real

from convengine.engine.rules.patterns import Pattern, compile_pattern
from convengine.engine.text.difference import contains_json, equal_json
from convengine.json_value import Json

_PART = re.compile(r"""\.([^.*\[\]'"\s]+)|\[(\d+)\]|\['((?:[^'\\]|\\.)*)'\]|\["((?:[^"\\]|\\.)*)"\]""")


class MatcherPathError(ValueError):
    """An invalid path; the message says where."""


@lru_cache(maxsize=1024)
def split_path(path: str) -> tuple[str | int, ...]:
    """Names and list indexes of a path. Raises PathError."""
    if not path.startswith("$"):
        raise MatcherPathError(f"the path {path!r} must begin with $.")
    parts: list[str | int] = []
    offset = 1
    while offset < len(path):
        match = _PART.match(path, offset)
        if match is None:
            raise MatcherPathError(f"the path {path!r} is not understood from {path[offset:]!r} on.")
        name, number, single, double = match.groups()
        quoted = single if single is not None else double
        parts.append(int(number) if number else name or re.sub(r"\\(.)", r"\1", quoted))
        offset = match.end()
    return tuple(parts)


def select(path: str, document: Json) -> Json:
    """The value at a path. Returns None if there is none. Raises PathError."""
    value = document
    for part in split_path(path):
        if isinstance(part, int):
            value = value[part] if isinstance(value, list) and part < len(value) else None
        else:
            value = value.get(part) if isinstance(value, Mapping) else None
    return value


def holds(matcher: Json, value: Json) -> bool:
    """True when the value equals the matcher, or passes all operators of a map. Without operators, every value does."""
    if not isinstance(matcher, Mapping):
        return equal_json(matcher, value)
    return all(OPERATORS[word](operand, value) for word, operand in matcher.items())


def _is_number(value: Json) -> bool:
    return isinstance(value, Real) and not isinstance(value, bool)


def _contains(part: Json, value: Json) -> bool:
    """True for a part of a text, a member of a list, a subset of an object; for a list of parts, if all are in it."""
    if isinstance(value, str):
        is_contained = isinstance(part, str) and part in value
    elif isinstance(value, Mapping):
        is_contained = isinstance(part, Mapping) and contains_json(part, value)
    else:
        is_contained = isinstance(value, list) and any(equal_json(part, member) for member in value)
    return is_contained or (isinstance(part, list) and bool(part) and all(_contains(item, value) for item in part))


def _length(value: Json) -> int:
    """The length of a text, list or object; -1 for anything else."""
    return len(value) if isinstance(value, (str, list, Mapping)) else -1


def _matches(pattern: str, value: Json) -> bool:
    return isinstance(value, str) and compile_pattern_case_sensitive(pattern).occurs_in(value)


def compile_pattern_case_sensitive(pattern: str) -> Pattern:
    """The pattern of `matches`: case-sensitive, unlike in rows, unless the pattern itself says otherwise."""
    return compile_pattern(pattern, ignore_case=pattern.startswith("(?i"))


#: The operators of a map and their tests. scenario.schema.json describes their arguments.
OPERATORS: Mapping[str, Callable[[Json, Json], bool]] = {
    "equals": equal_json,
    "contains": _contains,
    "one_of": lambda choices, value: any(equal_json(choice, value) for choice in choices),
    "exists": lambda wanted, value: (value is not None) is wanted,
    "absent": lambda wanted, value: (value is None) is wanted,
    "matches": _matches,
    "max_length": lambda limit, value: 0 <= _length(value) <= limit,
    "min_length": lambda limit, value: _length(value) >= limit,
    "length": lambda wanted, value: _length(value) == wanted,
    "min": lambda limit, value: _is_number(value) and value >= limit,
    "max": lambda limit, value: _is_number(value) and value <= limit,
}
