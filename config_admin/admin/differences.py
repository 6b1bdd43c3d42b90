"""What differs between two contents of a row, as people read it: in histories, releases, roll-backs, stale edits."""

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from difflib import SequenceMatcher
from typing import Any, NamedTuple

from django.utils.text import capfirst

from config_admin.releases.content import EXTRA_COLUMNS, control_plane, kept_columns
from config_admin.releases.tree import Content, same
from convengine.domain.unreadable import found_in

#: Longer texts are shown as a whole, before and after: comparing them word by word would take too long.
MAX_PARTS = 3000
#: Unchanged stretches that are longer are shown by their ends.
MAX_SAME = 240
_WORD = re.compile(r"\s+|[^\s]+")


class Segment(NamedTuple):
    """A stretch of text: `same` in both, taken `out`, or put `in`."""

    kind: str
    text: str


@dataclass(frozen=True)
class FieldChange:
    """One column that differs."""

    label: str
    segments: Sequence[Segment]


def changes(table: str, before: Content | None, after: Content | None) -> list[FieldChange]:
    """The columns that differ; null means that the row is not there, and then only what is filled in is told."""
    found = []
    for name, column in kept_columns(table).items():
        old, new = _text(before, name), _text(after, name)
        if name not in EXTRA_COLUMNS and not column.primary_key and old != new:
            found.append(FieldChange(capfirst(str(column.verbose_name)), list(_segments(old, new))))
    return found


def differ(before: Content | None, after: Content | None) -> bool:
    """True when two contents of a row are not the same."""
    return not same(before, after)


def name_of(table: str) -> str:
    """What a row of a table is called."""
    return str(control_plane()[table]._meta.verbose_name)


def label_of(table: str, field: str) -> str:
    """What a column is called on forms."""
    columns = {column.name: column for column in control_plane()[table]._meta.concrete_fields}
    return str(columns[field].verbose_name) if field in columns else field


def _text(content: Mapping[str, Any] | None, name: str) -> str:
    value = None if content is None else content.get(name)
    if value is not None and (unreadable := found_in({name: value})):
        return unreadable[name]
    if value is None:
        return ""
    if isinstance(value, bool):
        return "yes" if value else "no"
    return value if isinstance(value, str) else json.dumps(value, indent=2, ensure_ascii=False, sort_keys=True)


def _segments(old: str, new: str) -> Iterator[Segment]:
    lines = "\n" in old or "\n" in new
    left, right = (text.splitlines(keepends=True) if lines else _WORD.findall(text) for text in (old, new))
    if not left or not right or len(left) + len(right) > MAX_PARTS:
        yield from _changed(old, new)
        return
    out = put = ""
    for tag, start, stop, new_start, new_stop in SequenceMatcher(None, left, right, autojunk=False).get_opcodes():
        was, now = "".join(left[start:stop]), "".join(right[new_start:new_stop])
        if tag == "equal" and (was.strip() or lines):
            yield from _changed(out, put)
            yield Segment("same", _shown(was))
            out = put = ""
        else:
            # A blank between two words that changed belongs to the change.
            out, put = out + was, put + now
    yield from _changed(out, put)


def _changed(out: str, put: str) -> Iterator[Segment]:
    if out:
        yield Segment("out", out)
    if put:
        yield Segment("in", put)


def _shown(text: str) -> str:
    if len(text) <= MAX_SAME:
        return text
    half = MAX_SAME // 2
    return f"{text[:half]} … {text[-half:]}"
