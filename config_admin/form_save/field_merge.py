"""Merge two edits of one row field by field."""

from collections.abc import Collection, Iterator, Mapping
from typing import Any, NamedTuple

from django import forms

from config_admin.comparison.row_diff import FieldChange, field_change, text_of
from config_admin.editing.fields import JsonField, PickerInput, TextField, Unread, WordSelect
from config_admin.form_save.three_way import combined_json, combined_text
from config_admin.releases.content import as_json
from config_admin.releases.tree import Content, has_same_text

#: The result for a field: the only changed side, or a choice.
THEIRS, MINE, BOTH, CHOOSE = "theirs", "mine", "both", "choose"


class FieldMerge(NamedTuple):
    """A field that either side changed."""

    name: str
    label: str
    outcome: str
    #: The text before both changes.
    base: str
    theirs: FieldChange
    mine: FieldChange
    #: Both changes as one, for the input; null for fields that cannot be combined.
    combined: str | None


def merges(
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
        now, here = to_input_value(field, theirs[name]), mine[name]
        was = now if base is None else to_input_value(field, base[name])
        if _equal(was, now) and _equal(was, here):
            continue
        outcome = _outcome(was, now, here, is_open=base is None or name in undecided)
        if outcome:
            yield _merge(form, name, outcome, (was, now, here))


def _outcome(was: Any, now: Any, here: Any, *, is_open: bool) -> str:
    if _equal(now, here):
        return ""
    if is_open:
        return CHOOSE
    if _equal(was, here):
        return THEIRS
    return MINE if _equal(was, now) else CHOOSE


def _merge(form: forms.ModelForm, name: str, outcome: str, sides: tuple[Any, Any, Any]) -> FieldMerge:
    table, field = form._meta.model._meta.db_table, form.fields[name]
    was, now, here = (as_json(value) for value in sides)
    theirs, mine = field_change(table, name, was, now), field_change(table, name, was, here)
    combined = combination(field, *sides) if outcome == CHOOSE else None
    return FieldMerge(name, str(field.label), outcome, text_of({name: was}, name), theirs, mine, combined)


def combination(field: forms.Field, was: Any, now: Any, here: Any) -> str | None:
    """Both changes of a text or a document, for its input; null if they cannot be combined."""
    if isinstance(field, JsonField) and not isinstance(here, Unread):
        return str(field.prepare_value(combined_json(was, now, here)) or "")
    if isinstance(field, (JsonField, TextField)) and not isinstance(field.widget, (PickerInput, WordSelect)):
        return combined_text(*(as_text(field, value) for value in (was, now, here)))
    return None


def to_input_value(field: forms.Field, value: Any) -> Any:
    """A stored value as the field reads it from its input, for comparison."""
    return field.clean(field.prepare_value(value))


def as_text(field: forms.Field, value: Any) -> str:
    """A value as the input of its field shows it."""
    return value if isinstance(value, str) else str(field.prepare_value(value) or "")


def _equal(one: Any, other: Any) -> bool:
    if isinstance(one, (dict, list)) or isinstance(other, (dict, list)):
        return has_same_text(one, other)
    return bool(one == other)
