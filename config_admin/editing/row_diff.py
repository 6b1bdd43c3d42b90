"""The differences of two contents of a row, for people: in histories, releases, undo and edit conflicts."""

from collections.abc import Callable, Mapping
from itertools import islice
from typing import Any

from django.utils.text import capfirst

from config_admin.releases.tree import Content
from config_admin.validation.columns import TEMPLATE, list_column_specs
from config_admin.validation.labels import column_label
from config_admin.validation.secret_columns import mask_row, mask_value
from config_admin.validation.stored_columns import EXTRA_COLUMNS, kept_columns, key_of
from convengine.engine.prompts import render
from convengine.engine.prompts.compile import TemplateError
from convengine.engine.text.difference import Difference, diff_json, format_json, pair_by_content
from convengine.engine.turn.fault import find_unreadable_columns
from convengine.json_value import Json

#: By table and column, what says a difference of two documents in the words of a page, given the difference and both.
DESCRIBERS: dict[tuple[str, str], Callable[[Difference, Json, Json], Difference]] = {}
#: How many paths of one document are shown.
MAX_PATHS = 100


def list_columns(table: str) -> dict[str, str]:
    """The labels of a table's columns for people, by name."""
    return {name: capfirst(column_label(table, name)) for name in kept_columns(table) if name not in EXTRA_COLUMNS}


def changes(table: str, before: Content | None, after: Content | None) -> list[Difference]:
    """The changed columns; null means that the row does not exist, and then only filled columns count."""
    differences = []
    for name, label in list_columns(table).items():
        old, new = text_of(before, name), text_of(after, name)
        if old == new:
            continue
        if before is not None and after is not None:
            differences.append(diff_column(table, name, before[name], after[name]))
        elif name != key_of(table):
            was, now = (text_of(content and mask_row(table, content), name) for content in (before, after))
            differences.append(Difference((name,), was, now, label))
    return differences


def diff_column(table: str, name: str, old: Json, new: Json) -> Difference:
    """The difference of two values of a column, a secret masked; of two documents path by path."""
    label = capfirst(column_label(table, name))
    old, new = mask_value(table, name, old), mask_value(table, name, new)
    if all(isinstance(value, (dict, list)) and not find_unreadable_columns({name: value}) for value in (old, new)):
        paths = diff_json(old, new, pair_items=pair_by_content, sort_keys=True)
        describe = DESCRIBERS.get((table, name))
        shown = [describe(path, old, new) if describe else path for path in islice(paths, MAX_PATHS)]
        return Difference((name,), old, new, label, within=shown, more=sum(1 for _ in paths))
    was, now = text_of({name: old}, name), text_of({name: new}, name)
    note = _compare_names(was, now) if list_column_specs(table)[name].language == TEMPLATE else ""
    return Difference((name,), was, now, label, note)


def _compare_names(old: str, new: str) -> str:
    """The names that a template uses now, and those that it no longer uses; blank if there are none."""
    try:
        render.check_template(old)
        render.check_template(new)
    except TemplateError:
        return ""
    was, now = render.list_names(old), render.list_names(new)
    parts = (("Now uses", now - was), ("No longer uses", was - now))
    return " ".join(f"{words}: {', '.join(sorted(names))}." for words, names in parts if names)


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
