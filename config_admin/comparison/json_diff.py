"""Differences for people: two JSON documents path by path, and two texts word by word.

An expression of a template counts as one word.
"""

import json
import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from difflib import SequenceMatcher
from itertools import zip_longest
from typing import Any, NamedTuple

from config_admin.releases.blobs import canonical
from convengine.engine.text.json_diff import ABSENT, diff_json, format_path

#: Longer texts are shown completely, before and after, because comparing them by words would take too long.
MAX_PARTS = 3000
#: Only the ends of longer unchanged parts are shown.
MAX_SAME = 240
_WORD = re.compile(r"\{\{.*?\}\}|\{%.*?%\}|\{#.*?#\}|\s+|(?:(?!\{[{%#])\S)+|\{", re.DOTALL)
Json = Any
Opcode = tuple[str, int, int, int, int]


class Segment(NamedTuple):
    """A part of a text: `same` in both, `out` for removed, or `in` for added."""

    kind: str
    text: str


def words_of(text: str) -> list[str]:
    """The words of a text and the blanks between them; together they are the text."""
    return _WORD.findall(text)


def opcodes(left: Sequence[str], right: Sequence[str]) -> Sequence[Opcode]:
    """The operations of difflib that turn one list into another."""
    return SequenceMatcher(None, left, right, autojunk=False).get_opcodes()


def segments(old: str, new: str) -> list[Segment]:
    """The parts of both texts in order. Texts of several lines are compared by lines first."""
    if "\n" not in old and "\n" not in new:
        return list(_by_words(old, new))
    left, right = old.splitlines(keepends=True), new.splitlines(keepends=True)
    if not old or not new or len(left) + len(right) > MAX_PARTS:
        return list(_list_changes(old, new))
    parts: list[Segment] = []
    for tag, start, stop, new_start, new_stop in opcodes(left, right):
        was, now = "".join(left[start:stop]), "".join(right[new_start:new_stop])
        parts += [Segment("same", was)] if tag == "equal" else _by_words(was, now)
    return list(_join_equal_parts(parts))


def _by_words(old: str, new: str) -> Iterator[Segment]:
    left, right = words_of(old), words_of(new)
    if not left or not right or len(left) + len(right) > MAX_PARTS:
        yield from _list_changes(old, new)
        return
    out = put = ""
    for tag, start, stop, new_start, new_stop in opcodes(left, right):
        was, now = "".join(left[start:stop]), "".join(right[new_start:new_stop])
        if tag == "equal" and was.strip():
            yield from _list_changes(out, put)
            yield Segment("same", _shorten_equal_part(was))
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


def _join_equal_parts(parts: Iterable[Segment]) -> Iterator[Segment]:
    """Join neighbouring parts that are the same in both."""
    same = ""
    for segment in parts:
        if segment.kind == "same":
            same += segment.text
            continue
        if same:
            yield Segment("same", _shorten_equal_part(same))
            same = ""
        yield segment
    if same:
        yield Segment("same", _shorten_equal_part(same))


def _shorten_equal_part(text: str) -> str:
    if len(text) <= MAX_SAME:
        return text
    half = MAX_SAME // 2
    return f"{text[:half]} … {text[-half:]}"


@dataclass(frozen=True)
class PathChange:
    """One changed path of a document, such as `properties.amount.type` or `required[1]`."""

    path: str
    segments: Sequence[Segment]
    #: The path in the words of the page of a flow, if it has such words.
    label: str = ""


def list_path_changes(old: Json, new: Json) -> Iterator[PathChange]:
    """The changed paths, in the order of the keys. A whole document has the blank path.

    People read these: items of a list are aligned by content, so that an insertion is one change.
    """
    for path, before, after in diff_json(old, new, pair_items=_align_items, sort_keys=True):
        yield PathChange(format_path(path, _format_key), _build_segments(before, after))


def format_json(value: Json) -> str:
    """A value for people: texts unchanged, documents indented."""
    return value if isinstance(value, str) else json.dumps(value, indent=2, ensure_ascii=False, sort_keys=True)


def _align_items(old: Sequence[Json], new: Sequence[Json]) -> Iterator[tuple[int, Json, Json]]:
    """The differing items, each with its index in the new list, or in the old one if it was removed."""
    texts = ([canonical(item).decode() for item in side] for side in (old, new))
    for tag, start, stop, new_start, new_stop in opcodes(*texts):
        if tag == "equal":
            continue
        pairs = zip_longest(old[start:stop], new[new_start:new_stop], fillvalue=ABSENT)
        for offset, (before, after) in enumerate(pairs):
            yield (start if after is ABSENT else new_start) + offset, before, after


def _format_key(key: str) -> str:
    return key if key.replace("_", "").replace("-", "").isalnum() else json.dumps(key, ensure_ascii=False)


def _build_segments(old: Json, new: Json) -> list[Segment]:
    if isinstance(old, str) and isinstance(new, str):
        return segments(old, new)
    removed = [] if old is ABSENT else [Segment("out", _quote(old))]
    return removed if new is ABSENT else [*removed, Segment("in", _quote(new))]


def _quote(value: Json) -> str:
    """A text beside a value of another kind keeps its quotes: "1" is not 1."""
    return json.dumps(value, indent=2, ensure_ascii=False, sort_keys=True)
