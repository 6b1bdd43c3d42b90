"""The row history of a release: one row of `<table>_history` for each changed row."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from django.contrib.auth.base_user import AbstractBaseUser
from django.db import models
from django.utils import timezone

from config_admin.releases import content, read_rows
from config_admin.releases.changes import ChangeSet
from config_admin.releases.models import CeRelease
from config_admin.releases.release_seal import history_model
from config_admin.releases.tree import RowDifference
from config_admin.validation.stored_columns import control_plane, kept_columns, key_of
from convengine.engine.turn.fault import find_unreadable_columns

#: Existed before, exists now -> the library's sign.
_SIGNS = {(False, True): "+", (True, True): "~", (True, False): "-"}
BATCH = 500


def write_history(
    release: CeRelease, change: ChangeSet, differences: Mapping[str, Sequence[RowDifference]]
) -> dict[str, list[int]]:
    """Store who changed what and why, with the release. A deleted row's entry holds its last content.

    Returns the ids of the new rows by table.
    """
    reason = change.reason or release.reason or release.get_origin_display()
    stamp = {
        "config_version": release.config_version,
        "change_set": release.change_set,
        "history_date": timezone.now(),
    }
    author = change.author.pk if isinstance(change.author, AbstractBaseUser) else None
    added: dict[str, list[int]] = {}
    for table, rows in differences.items():
        history = history_model(table)
        entries = (
            history(
                **stamp,
                history_user_id=change.editors.get((table, row.pk), author),
                history_change_reason=reason + _note_unreadable(row),
                **values,
            )
            for row, values in _build_entries(table, rows, change)
        )
        added[table] = [entry.pk for entry in history._default_manager.bulk_create(entries, batch_size=BATCH)]
    return added


def _build_entries(
    table: str, rows: Sequence[RowDifference], change: ChangeSet
) -> Iterator[tuple[RowDifference, dict[str, Any]]]:
    """The columns of the history rows, each with its difference. A deleted row has its last content."""
    model, stored, key = control_plane()[table], kept_columns(table), key_of(table)
    unstored = {
        column.attname: column
        for column in model._meta.concrete_fields
        if column.attname not in stored or column.primary_key
    }
    existing = [row.pk for row in rows if row.after is not None]
    stamps = {row[key]: row for row in read_rows.read(model, unstored, existing)}
    for row in rows:
        shown = row.after if row.after is not None else row.before
        assert shown is not None
        others = {"updated_by": change.author_name} if row.after is None else stamps.get(row.pk, {})
        values = _build_values(table, {**shown, **others}, row.before or {})
        yield row, values | {"history_type": _SIGNS[row.before is not None, row.after is not None]}


def _build_values(table: str, row: Mapping[str, Any], before: Mapping[str, Any]) -> dict[str, Any]:
    """A row for the history table: an invalid value is replaced by the one before it."""
    bad = find_unreadable_columns(row)
    model = control_plane()[table]
    given = {name: value for name, value in row.items() if name not in bad}
    given |= {name: before[name] for name in bad.keys() - find_unreadable_columns(before).keys() if name in before}
    instance = model(**content.as_columns(model._meta.concrete_fields, given))
    values = {column.attname: getattr(instance, column.attname) for column in model._meta.concrete_fields}
    empty = {name: _make_empty_value(model._meta.get_field(name)) for name in bad if values.get(name) is None}
    return values | empty


def _make_empty_value(column: Any) -> Any:
    """A value for a column that has none to show: None, now, an empty object or zero."""
    if column.null:
        return None
    return (
        timezone.now()
        if isinstance(column, models.DateTimeField)
        else {}
        if isinstance(column, models.JSONField)
        else 0
    )


def _note_unreadable(row: RowDifference) -> str:
    """A note about invalid values, added to the reason."""
    invalid = find_unreadable_columns(row.after or {})
    problems = "; ".join(f"{name}: the value {value[:100]!r} is not valid" for name, value in invalid.items())
    return f" ({problems})" if problems else ""
