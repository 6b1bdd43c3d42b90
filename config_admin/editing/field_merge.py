"""Merge two edits of one row field by field."""

from collections.abc import Collection, Iterator, Mapping, Sequence
from typing import Any, NamedTuple

from django import forms

from config_admin.editing.fields import JsonField, PickerInput, TextField, Unread, WordSelect
from config_admin.editing.row_diff import diff_column, text_of
from config_admin.releases.blobs import canonical
from config_admin.releases.content import as_json
from config_admin.releases.tree import Content, has_same_text
from config_admin.validation.secret_columns import mask_value
from convengine.engine.text.difference import ABSENT, MAX_PARTS, Difference, list_opcodes, list_words
from convengine.json_value import Json

#: The result for a field: the only changed side, or a choice.
THEIRS, MINE, BOTH, CHOOSE = "theirs", "mine", "both", "choose"


class FieldMerge(NamedTuple):
    """A field that either side changed."""

    name: str
    label: str
    outcome: str
    #: The text before both changes.
    base: str
    theirs: Difference
    mine: Difference
    #: Both changes as one, for the input. None for fields that cannot be combined.
    combined: str | None


def list_merges(
    form: forms.ModelForm,
    base: Content | None,
    theirs: Content,
    mine: Mapping[str, Any],
    undecided: Collection[str] = (),
) -> Iterator[FieldMerge]:
    """The changed fields. `mine` is cleaned. Without a base, and for `undecided` fields, every difference needs a
    choice.
    """
    for name, field in form.fields.items():
        if name not in mine or name not in theirs:
            continue
        now, own = to_input_value(field, theirs[name]), mine[name]
        was = now if base is None else to_input_value(field, base[name])
        if _is_equal_value(was, now) and _is_equal_value(was, own):
            continue
        outcome = _choose_outcome(was, now, own, is_open=base is None or name in undecided)
        if outcome:
            table, (stored, newest, typed) = form._meta.model._meta.db_table, map(as_json, (was, now, own))
            base_text = text_of({name: mask_value(table, name, stored)}, name)
            sides = diff_column(table, name, stored, newest), diff_column(table, name, stored, typed)
            combined = combine_sides(field, was, now, own) if outcome == CHOOSE else None
            yield FieldMerge(name, str(field.label), outcome, base_text, *sides, combined)


def _choose_outcome(was: Any, now: Any, own: Any, *, is_open: bool) -> str:
    """Which side a field takes: mine, theirs, or a choice by the user; blank if both are equal.

    `is_open`: the user chooses whenever the two sides differ.
    """
    if _is_equal_value(now, own):
        return ""
    if is_open:
        return CHOOSE
    if _is_equal_value(was, own):
        return THEIRS
    return MINE if _is_equal_value(was, now) else CHOOSE


def combine_sides(field: forms.Field, was: Any, now: Any, own: Any) -> str | None:
    """Both changes of a text or a document, for its input. Returns None if they cannot be combined."""
    if isinstance(field, JsonField) and not isinstance(own, Unread):
        return str(field.prepare_value(combine_json(was, now, own)) or "")
    if isinstance(field, (JsonField, TextField)) and not isinstance(field.widget, (PickerInput, WordSelect)):
        return combine_texts(*(as_text(field, value) for value in (was, now, own)))
    return None


def to_input_value(field: forms.Field, value: Any) -> Any:
    """A stored value as the field reads it from its input, for comparison."""
    return field.clean(field.prepare_value(value))


def as_text(field: forms.Field, value: Any) -> str:
    """A value as the input of its field shows it."""
    return value if isinstance(value, str) else str(field.prepare_value(value) or "")


def _is_equal_value(value: Any, other: Any) -> bool:
    if isinstance(value, (dict, list)) or isinstance(other, (dict, list)):
        return has_same_text(value, other)
    return bool(value == other)


def combine_texts(base: str, theirs: str, mine: str) -> str:
    """Both changes of a text. Where they overlap, theirs comes first, then mine."""
    texts = (base, theirs, mine)
    parts: list[Sequence[str]] = [list_words(text) for text in texts]
    if sum(map(len, parts)) > 2 * MAX_PARTS:
        parts = [text.splitlines(keepends=True) for text in texts]
    gap = "\n" if any("\n" in text for text in texts) else " "
    merged: list[str] = []
    starts: tuple[int, ...] = (0, 0, 0)
    # Between the words that all three have, both sides are joined.
    for ends in [*_anchors(*parts), tuple(map(len, parts))]:
        between = ("".join(part[start:end]) for part, start, end in zip(parts, starts, ends, strict=True))
        was, now, own = between
        merged += [_join_sides(was, now, own, gap), *parts[0][ends[0] : ends[0] + 1]]
        starts = tuple(end + 1 for end in ends)
    return "".join(merged)


def combine_json(base: Json, theirs: Json, mine: Json) -> Json:
    """Both changes of a document, key by key; if both set one path, mine wins. Lists keep the additions of both."""
    merged = _merge_values(base, theirs, mine)
    return mine if merged is ABSENT else merged


def _join_sides(base: str, theirs: str, mine: str, gap: str) -> str:
    """One text of what both sides made of a text. If both changed it, theirs comes first, after it mine.

    `gap` separates the two, unless there is a blank already.
    """
    if theirs in (base, mine):
        return mine
    if mine == base:
        return theirs
    if not (theirs and mine):
        return theirs or mine
    is_apart = theirs[-1].isspace() or mine[0].isspace()
    return theirs + mine if is_apart else f"{theirs}{gap}{mine}"


def _anchors(base: Sequence[str], theirs: Sequence[str], mine: Sequence[str]) -> list[tuple[int, int, int]]:
    """The positions of words that all three have, in order; blanks count only beside such a word."""
    in_theirs, in_mine = _match_indexes(base, theirs), _match_indexes(base, mine)
    anchors = [(b, in_theirs[b], in_mine[b]) for b in range(len(base)) if b in in_theirs and b in in_mine]
    words = {anchor for anchor in anchors if base[anchor[0]].strip()}
    return [anchor for anchor in anchors if words & {anchor, _advance(anchor, -1), _advance(anchor, 1)}]


def _advance(anchor: tuple[int, int, int], by: int) -> tuple[int, int, int]:
    return anchor[0] + by, anchor[1] + by, anchor[2] + by


def _match_indexes(base: Sequence[str], other: Sequence[str]) -> Mapping[int, int]:
    """The positions of equal words: those in the other text, by those in the base."""
    return {
        start + step: other_start + step
        for kind, start, stop, other_start, _ in list_opcodes(base, other)
        if kind == "equal"
        for step in range(stop - start)
    }


def _merge_values(base: Json, theirs: Json, mine: Json) -> Json:
    """A JSON value with the changes of both sides. Objects and lists are merged by their members.

    Where both sides changed a value, mine counts; a value that only one side removed stays as the other changed it.
    """
    if _has_equal_text(theirs, base) or _has_equal_text(theirs, mine):
        return mine
    if _has_equal_text(mine, base):
        return theirs
    if isinstance(theirs, dict) and isinstance(mine, dict):
        before = base if isinstance(base, dict) else {}
        keys = dict.fromkeys([*before, *theirs, *mine])
        merged = {key: _merge_values(*(side.get(key, ABSENT) for side in (before, theirs, mine))) for key in keys}
        return {key: value for key, value in merged.items() if value is not ABSENT}
    if isinstance(theirs, list) and isinstance(mine, list):
        return _merge_lists(base if isinstance(base, list) else [], theirs, mine)
    # What one side removed and the other changed stays, changed.
    return theirs if mine is ABSENT else mine


def _merge_lists(base: Sequence[Json], theirs: Sequence[Json], mine: Sequence[Json]) -> list[Json]:
    was, now, their_keys = (set(map(canonical, items)) for items in (base, mine, theirs))
    of_theirs = [item for item in theirs if canonical(item) in now or canonical(item) not in was]
    return [*of_theirs, *(item for item in mine if canonical(item) not in their_keys | was)]


def _has_equal_text(value: Json, other: Json) -> bool:
    return value is other or (value is not ABSENT and other is not ABSENT and has_same_text(value, other))
