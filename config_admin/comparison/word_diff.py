"""Compare two texts word by word; an expression of a template counts as one word."""

import re
from collections.abc import Iterable, Iterator, Sequence
from difflib import SequenceMatcher
from typing import NamedTuple

#: Longer texts are shown completely, before and after, because comparing them by words would take too long.
MAX_PARTS = 3000
#: Only the ends of longer unchanged parts are shown.
MAX_SAME = 240
_WORD = re.compile(r"\{\{.*?\}\}|\{%.*?%\}|\{#.*?#\}|\s+|(?:(?!\{[{%#])\S)+|\{", re.DOTALL)
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
    found: list[Segment] = []
    for tag, start, stop, new_start, new_stop in opcodes(left, right):
        was, now = "".join(left[start:stop]), "".join(right[new_start:new_stop])
        found += [Segment("same", was)] if tag == "equal" else _by_words(was, now)
    return list(_join_equal_parts(found))


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


def _join_equal_parts(found: Iterable[Segment]) -> Iterator[Segment]:
    """Join neighbouring parts that are the same in both."""
    same = ""
    for segment in found:
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
