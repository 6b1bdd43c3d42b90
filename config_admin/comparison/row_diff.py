"""The differences of two contents of a row, for people: in histories, releases, undo and edit conflicts."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import islice
from typing import Any

from django.utils.text import capfirst

from config_admin.comparison.json_diff import PathChange, Segment, format_json, list_path_changes, segments
from config_admin.editing.links import column_label
from config_admin.releases.content import EXTRA_COLUMNS, kept_columns
from config_admin.releases.tree import Content, has_same_text
from config_admin.validation.columns import TEMPLATE, list_column_specs
from config_admin.validation.secret_columns import mask_row, mask_value
from convengine.engine.prompts import render
from convengine.engine.prompts.compile import TemplateError
from convengine.engine.turn.fault import find_unreadable_columns

#: By table and column, what lists the changed paths of its documents in words of their own.
PATH_READERS: dict[tuple[str, str], Callable[[Any, Any], Iterator[PathChange]]] = {}
#: How many paths of one document are shown.
MAX_PATHS = 100


@dataclass(frozen=True)
class FieldChange:
    """One changed column."""

    label: str
    #: Both texts as one, with marks.
    segments: Sequence[Segment]
    #: For a document, its changed paths, and how many more there are.
    paths: Sequence[PathChange] = ()
    more: int = 0
    #: For a template, the names that it uses now, and those that it no longer uses.
    added: Sequence[str] = ()
    removed: Sequence[str] = ()


def changes(table: str, before: Content | None, after: Content | None) -> list[FieldChange]:
    """The changed columns; null means that the row does not exist, and then only filled columns count."""
    field_changes = []
    for name, column in kept_columns(table).items():
        old, new = text_of(before, name), text_of(after, name)
        if name not in EXTRA_COLUMNS and not column.primary_key and old != new:
            if before is None or after is None:
                was, now = (text_of(content and mask_row(table, content), name) for content in (before, after))
                field_changes.append(FieldChange(capfirst(str(column.verbose_name)), segments(was, now)))
            else:
                field_changes.append(field_change(table, name, before[name], after[name]))
    return field_changes


def field_change(table: str, name: str, old: Any, new: Any) -> FieldChange:
    """The difference of two values of a column."""
    label = capfirst(column_label(table, name))
    old, new = mask_value(table, name, old), mask_value(table, name, new)
    if all(isinstance(value, (dict, list)) and not find_unreadable_columns({name: value}) for value in (old, new)):
        path_changes = PATH_READERS.get((table, name), list_path_changes)(old, new)
        paths = list(islice(path_changes, MAX_PATHS))
        return FieldChange(label, (), paths, more=sum(1 for _ in path_changes))
    was, now = text_of({name: old}, name), text_of({name: new}, name)
    added, removed = _names(was, now) if list_column_specs(table)[name].language == TEMPLATE else ((), ())
    return FieldChange(label, segments(was, now), added=added, removed=removed)


def _names(old: str, new: str) -> tuple[Sequence[str], Sequence[str]]:
    try:
        render.check_template(old)
        render.check_template(new)
    except TemplateError:
        return (), ()
    was, now = render.list_names(old), render.list_names(new)
    return sorted(now - was), sorted(was - now)


def differ(before: Content | None, after: Content | None) -> bool:
    """True when two contents of a row differ."""
    return not has_same_text(before, after)


def text_of(content: Mapping[str, Any] | None, name: str) -> str:
    """A column's value for people, or blank."""
    value = None if content is None else content.get(name)
    if value is not None and (unreadable := find_unreadable_columns({name: value})):
        return unreadable[name]
    if value is None:
        return ""
    if isinstance(value, bool):
        return "yes" if value else "no"
    return format_json(value)
