"""What differs between two JSON values, path by path, and between two texts, word by word; and which values are equal.

An expression of a template counts as one word.
"""

import json
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from difflib import SequenceMatcher
from itertools import groupby, zip_longest
from typing import NamedTuple

from convengine.engine.cached_property import cached_property
from convengine.engine.text.compare import shorten
from convengine.json_value import Json

#: Longer texts are shown completely, before and after, because comparing them by words would take too long.
MAX_PARTS = 3000
#: Only the ends of longer unchanged parts are shown.
MAX_SAME = 240
#: The length of an excerpt of a changed part; an unchanged part gets half of it.
EXCERPT_SIZE = 80
_WORD = re.compile(r"\{\{.*?(?:\}\}|\Z)|\{%.*?(?:%\}|\Z)|\{#.*?(?:#\}|\Z)|\s+|(?:(?!\{[{%#])\S)+", re.DOTALL)
#: Keys that a path has without quotes.
_PLAIN_KEY = re.compile(r"[\w.: -]+")

#: The keys and indexes that lead to a value; blank for the whole document.
JsonPath = tuple[str | int, ...]
#: Pairs the items of two lists; each pair has an index for its path.
PairItems = Callable[[Sequence[Json], Sequence[Json]], Iterable[tuple[int, Json, Json]]]
#: An operation that turns one list into another: its kind, and the range in each.
Opcode = tuple[str, int, int, int, int]


class Absent:
    """The type of `ABSENT`."""


#: The value of a side that lacks the path; null is a value.
ABSENT = Absent()


class Segment(NamedTuple):
    """A part of a text: `same` in both, `out` for removed, or `in` for added."""

    kind: str
    text: str


@dataclass(frozen=True)
class Difference:
    """A path at which two values differ; `ABSENT` on a side without it."""

    path: JsonPath
    before: Json
    after: Json
    #: What a page calls it; blank if it has no name but its path.
    label: str = ""
    #: What else a page says about it.
    note: str = ""
    #: Of two documents: the paths within them that differ, and the number of those that are not listed.
    within: Sequence["Difference"] = ()
    more: int = 0

    @property
    def path_text(self) -> str:
        return format_path(self.path)

    @property
    def flat(self) -> Sequence["Difference"]:
        """The paths within it under its name, or itself."""
        return [replace(part, label=f"{self.label}: {part.label or part.path_text}") for part in self.within] or [self]

    @property
    def texts(self) -> tuple[str, str]:
        """Both values for people; blank for an absent one."""
        return self._write_both(2)

    @cached_property
    def segments(self) -> Sequence[Segment]:
        """Both texts as one, with marks."""
        return self._mark(self.texts)

    @property
    def sides(self) -> tuple[Sequence[Segment], Sequence[Segment]]:
        """Both texts with marks, as excerpts."""
        parts = self._mark(self._write_both(None))
        if self.is_long:
            parts = [Segment(kind, _shorten_part(kind, text)) for kind, text in parts]
        return [part for part in parts if part.kind != "in"], [part for part in parts if part.kind != "out"]

    @property
    def is_long(self) -> bool:
        """True if the excerpts omit something."""
        return any(len(text) > EXCERPT_SIZE for text in self._write_both(None))

    def _mark(self, texts: tuple[str, str]) -> Sequence[Segment]:
        are_texts = isinstance(self.before, str) and isinstance(self.after, str)
        return diff_texts(*texts) if are_texts else list(_list_changes(*texts))

    def _write_both(self, indent: int | None) -> tuple[str, str]:
        return _write_value(self.before, self.after, indent), _write_value(self.after, self.before, indent)

    def as_json(self, before: str = "before", after: str = "after") -> dict[str, str]:
        """The path and excerpts of both values, under the names of the sides."""
        old, new = ("".join(part.text for part in side) for side in self.sides)
        return {"path": self.path_text, before: old, after: new}


# --- documents ----------------------------------------------------------------------------------------------------


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


def pair_by_index(before: Sequence[Json], after: Sequence[Json]) -> Iterator[tuple[int, Json, Json]]:
    """The items of two lists at the same index."""
    for index, (old, new) in enumerate(zip_longest(before, after, fillvalue=ABSENT)):
        yield index, old, new


def pair_by_content(before: Sequence[Json], after: Sequence[Json]) -> Iterator[tuple[int, Json, Json]]:
    """The differing items of two lists, so that an insertion is one difference.

    Each has its index in the second list, or in the first one if it was removed.
    """
    texts = ([json.dumps(item, sort_keys=True, default=str) for item in side] for side in (before, after))
    for kind, start, stop, new_start, new_stop in list_opcodes(*texts):
        if kind == "equal":
            continue
        pairs = zip_longest(before[start:stop], after[new_start:new_stop], fillvalue=ABSENT)
        for offset, (old, new) in enumerate(pairs):
            yield (start if new is ABSENT else new_start) + offset, old, new


def diff_json(
    before: Json, after: Json, *, pair_items: PairItems = pair_by_index, sort_keys: bool = False, path: JsonPath = ()
) -> Iterator[Difference]:
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
            yield Difference(path, before, after)
        return
    for step, old, new in children:
        yield from diff_json(old, new, pair_items=pair_items, sort_keys=sort_keys, path=(*path, step))


def format_path(path: JsonPath) -> str:
    """A path as people write it: `properties.amount[1]`."""
    text = ""
    for step in path:
        if isinstance(step, int):
            text += f"[{step}]"
        else:
            key = step if _PLAIN_KEY.fullmatch(step) else json.dumps(step, ensure_ascii=False)
            text += f".{key}" if text else key
    return text


def format_json(value: Json) -> str:
    """A value for people: texts unchanged, documents indented."""
    return value if isinstance(value, str) else _dump(value)


def _write_value(value: Json, other: Json, indent: int | None) -> str:
    """A value for people; a text that could be another value keeps its quotes beside one: "1" is not 1."""
    if value is ABSENT:
        return ""
    if not isinstance(value, str):
        return _dump(value, indent)
    if isinstance(other, str):
        return value
    try:
        json.loads(value)
    except (ValueError, RecursionError):
        return value
    return _dump(value)


def _dump(value: Json, indent: int | None = 2) -> str:
    return json.dumps(value, indent=indent, ensure_ascii=False, sort_keys=True, default=str)


# --- texts --------------------------------------------------------------------------------------------------------


def list_words(text: str) -> list[str]:
    """The words of a text and the blanks between them; together they are the text."""
    return _WORD.findall(text)


def list_opcodes(left: Sequence[str], right: Sequence[str]) -> Sequence[Opcode]:
    """The operations (`equal`, `replace`, `delete`, `insert`) that turn one list into another."""
    return SequenceMatcher(None, left, right, autojunk=False).get_opcodes()


def diff_texts(old: str, new: str) -> list[Segment]:
    """The parts of both texts in order. Texts of several lines are compared by lines first."""
    if "\n" not in old and "\n" not in new:
        return list(_diff_words(old, new))
    left, right = old.splitlines(keepends=True), new.splitlines(keepends=True)
    if not old or not new or len(left) + len(right) > MAX_PARTS:
        return list(_list_changes(old, new))
    parts: list[Segment] = []
    for kind, start, stop, new_start, new_stop in list_opcodes(left, right):
        was, now = "".join(left[start:stop]), "".join(right[new_start:new_stop])
        parts += [Segment("same", was)] if kind == "equal" else _diff_words(was, now)
    joined: list[Segment] = []
    for is_same, group in groupby(parts, lambda part: part.kind == "same"):
        run = list(group)
        whole = _shorten_middle("".join(part.text for part in run), MAX_SAME)
        joined += [Segment("same", whole)] if is_same else run
    return joined


def _diff_words(old: str, new: str) -> Iterator[Segment]:
    left, right = list_words(old), list_words(new)
    if not left or not right or len(left) + len(right) > MAX_PARTS:
        yield from _list_changes(old, new)
        return
    out = put = ""
    for kind, start, stop, new_start, new_stop in list_opcodes(left, right):
        was, now = "".join(left[start:stop]), "".join(right[new_start:new_stop])
        if kind == "equal" and was.strip():
            yield from _list_changes(out, put)
            yield Segment("same", _shorten_middle(was, MAX_SAME))
            out = put = ""
        else:
            # A blank between two changed words belongs to the change.
            out, put = out + was, put + now
    yield from _list_changes(out, put)


def _list_changes(out: str, put: str) -> Iterator[Segment]:
    if out:
        yield Segment("out", out)
    if put:
        yield Segment("in", put)


def _shorten_part(kind: str, text: str) -> str:
    return _shorten_middle(text, EXCERPT_SIZE // 2) if kind == "same" else shorten(text, EXCERPT_SIZE)


def _shorten_middle(text: str, size: int) -> str:
    return text if len(text) <= size else f"{text[: size // 2]} … {text[-size // 2 :]}"
