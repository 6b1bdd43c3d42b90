"""Equality and inclusion of JSON values."""

from collections.abc import Mapping, Sequence
from typing import Any

Json = Any


def equal_json(one: Json, other: Json) -> bool:
    """Equality of JSON values: numbers by value, texts exactly; true is not 1."""
    if isinstance(one, bool) or isinstance(other, bool):
        return one is other
    if isinstance(one, Mapping) and isinstance(other, Mapping):
        return one.keys() == other.keys() and all(equal_json(one[key], other[key]) for key in one)
    if _is_list(one) and _is_list(other):
        return len(one) == len(other) and all(map(equal_json, one, other))
    return bool(one == other)


def contains_json(part: Json, whole: Json) -> bool:
    """True when both are equal, or `part` is an object whose values are within those of `whole`."""
    if isinstance(part, Mapping) and isinstance(whole, Mapping):
        return all(key in whole and contains_json(part[key], whole[key]) for key in part)
    return equal_json(part, whole)


def _is_list(value: Json) -> bool:
    return isinstance(value, Sequence) and not isinstance(value, (str, bytes))
