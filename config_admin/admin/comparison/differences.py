"""What differs between two contents of a row, as people read it: in histories, releases, roll-backs, stale edits."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import islice
from typing import Any

from django.utils.text import capfirst

from config_admin.admin.comparison.json_diff import PathChange, compact, path_changes
from config_admin.admin.comparison.word_diff import Segment, segments
from config_admin.admin.editing.editors import LANGUAGES, TEMPLATE
from config_admin.releases.content import EXTRA_COLUMNS, control_plane, kept_columns
from config_admin.releases.tree import Content, same
from convengine.domain.unreadable import found_in
from convengine.prompts import render
from convengine.prompts.compile import TemplateError

#: How many places of one document are told.
MAX_PATHS = 100


@dataclass(frozen=True)
class FieldChange:
    """One column that differs."""

    label: str
    #: The texts before and after, as one.
    segments: Sequence[Segment]
    #: Of a document, the places that differ, and how many more there are.
    paths: Sequence[PathChange] = ()
    more: int = 0
    #: Of a template, the names that it uses now, and those that it does not use any more.
    gained: Sequence[str] = ()
    lost: Sequence[str] = ()


def changes(table: str, before: Content | None, after: Content | None) -> list[FieldChange]:
    """The columns that differ; null means that the row is not there, and then only what is filled in is told."""
    found = []
    for name, column in kept_columns(table).items():
        old, new = text_of(before, name), text_of(after, name)
        if name not in EXTRA_COLUMNS and not column.primary_key and old != new:
            if before is None or after is None:
                found.append(FieldChange(capfirst(str(column.verbose_name)), segments(old, new)))
            else:
                found.append(field_change(table, name, before[name], after[name]))
    return found


def field_change(table: str, name: str, old: Any, new: Any) -> FieldChange:
    """What differs between two values of a column."""
    label = capfirst(label_of(table, name))
    if all(isinstance(value, (dict, list)) and not found_in({name: value}) for value in (old, new)):
        found = path_changes(old, new)
        paths = list(islice(found, MAX_PATHS))
        return FieldChange(label, (), paths, more=sum(1 for _ in found))
    was, now = text_of({name: old}, name), text_of({name: new}, name)
    gained, lost = _names(was, now) if LANGUAGES.get((table, name)) == TEMPLATE else ((), ())
    return FieldChange(label, segments(was, now), gained=gained, lost=lost)


def _names(old: str, new: str) -> tuple[Sequence[str], Sequence[str]]:
    try:
        render.parse(old)
        render.parse(new)
    except TemplateError:
        return (), ()
    was, now = render.names(old), render.names(new)
    return sorted(now - was), sorted(was - now)


def differ(before: Content | None, after: Content | None) -> bool:
    """True when two contents of a row are not the same."""
    return not same(before, after)


def name_of(table: str) -> str:
    """What a row of a table is called."""
    return str(control_plane()[table]._meta.verbose_name)


def label_of(table: str, field: str) -> str:
    """What a column is called on forms."""
    columns = {column.attname: column for column in control_plane()[table]._meta.concrete_fields}
    return str(columns[field].verbose_name) if field in columns else field


def text_of(content: Mapping[str, Any] | None, name: str) -> str:
    """A column's value as people read it; blank where there is none."""
    value = None if content is None else content.get(name)
    if value is not None and (unreadable := found_in({name: value})):
        return unreadable[name]
    if value is None:
        return ""
    if isinstance(value, bool):
        return "yes" if value else "no"
    return compact(value)
