"""Whether two JSON values are equal, and how they differ, path by path."""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from itertools import zip_longest
from typing import Any, NamedTuple

Json = Any


def equal_json(value: Json, other: Json) -> bool:
    """Equality of JSON values: numbers by value, texts exactly; true is not 1."""
    if isinstance(value, bool) or isinstance(other, bool):
        return value is other
    if isinstance(value, Mapping) and isinstance(other, Mapping):
        return value.keys() == other.keys() and all(equal_json(value[key], other[key]) for key in value)
    if _is_list(value) and _is_list(other):
        return len(value) == len(other) and all(map(equal_json, value, other))
    return bool(value == other)


def contains_json(part: Json, whole: Json) -> bool:
    """True when both are equal, or `part` is an object whose values are within those of `whole`."""
    if isinstance(part, Mapping) and isinstance(whole, Mapping):
        return all(key in whole and contains_json(part[key], whole[key]) for key in part)
    return equal_json(part, whole)


def _is_list(value: Json) -> bool:
    return isinstance(value, Sequence) and not isinstance(value, (str, bytes))


#: The keys and indexes that lead to a value; blank for the whole document.
JsonPath = tuple[str | int, ...]
#: Pairs the items of two lists; each pair has an index for its path.
PairItems = Callable[[Sequence[Json], Sequence[Json]], Iterable[tuple[int, Json, Json]]]


class Absent:
    """The type of `ABSENT`."""


#: The value of a side that lacks the path; null is a value.
ABSENT = Absent()


class JsonDifference(NamedTuple):
    """A path at which two values differ."""

    path: JsonPath
    before: Json
    after: Json


def pair_by_index(before: Sequence[Json], after: Sequence[Json]) -> Iterator[tuple[int, Json, Json]]:
    """The items of two lists at the same index."""
    for index, (old, new) in enumerate(zip_longest(before, after, fillvalue=ABSENT)):
        yield index, old, new


def diff_json(
    before: Json, after: Json, *, pair_items: PairItems = pair_by_index, sort_keys: bool = False, path: JsonPath = ()
) -> Iterator[JsonDifference]:
    """The paths at which two JSON values differ, down to single values. 1, 1.0 and true are different.

    Keys come in the order of the first document, then the new ones of the second; `sort_keys` sorts all.
    """
    children: Iterable[tuple[str | int, Json, Json]]
    if isinstance(before, Mapping) and isinstance(after, Mapping):
        keys = [*before, *(key for key in after if key not in before)]
        names = sorted(keys) if sort_keys else keys
        children = ((key, before.get(key, ABSENT), after.get(key, ABSENT)) for key in names)
    elif isinstance(before, list) and isinstance(after, list):
        children = pair_items(before, after)
    else:
        if type(before) is not type(after) or before != after:
            yield JsonDifference(path, before, after)
        return
    for step, old, new in children:
        yield from diff_json(old, new, pair_items=pair_items, sort_keys=sort_keys, path=(*path, step))


def format_path(path: JsonPath, format_key: Callable[[str], str] = str) -> str:
    """A path as people write it: `properties.amount[1]`."""
    text = ""
    for step in path:
        if isinstance(step, int):
            text += f"[{step}]"
        else:
            text += f".{format_key(step)}" if text else format_key(step)
    return text
