"""The part of a row that a release stores: the columns that the engine reads, as JSON values."""

from collections.abc import Collection, Iterable, Mapping
from dataclasses import MISSING, fields
from datetime import UTC, datetime
from decimal import Decimal
from functools import cache
from typing import Any

from django.db import models

from config_admin.releases import read_rows
from config_admin.releases.blobs import batches
from config_admin.validation.stored_columns import control_plane, kept_columns, key_of
from convengine.engine.turn import rows
from convengine.engine.turn.fault import mark_unreadable
from convengine.json_value import Json


def content_of(instance: models.Model) -> dict[str, Json]:
    """A stored row as JSON values."""
    columns = kept_columns(instance._meta.db_table)
    return {name: as_json(getattr(instance, name)) for name in columns}


def as_json(value: Any) -> Json:
    """A column's value as JSON: times are ISO 8601 in UTC with microseconds, so that texts compare like times."""
    if isinstance(value, datetime):
        return value.astimezone(UTC).strftime("%Y-%m-%dT%H:%M:%S.%fZ")
    if isinstance(value, bytes):
        return mark_unreadable(value)
    return float(value) if isinstance(value, Decimal) else value


def column_values(table: str, content: Mapping[str, Json]) -> dict[str, Any]:
    return as_columns(kept_columns(table).values(), content)


def as_columns(columns: Iterable["models.Field[Any, Any]"], content: Mapping[str, Json]) -> dict[str, Any]:
    """The JSON values of these columns as model values; missing ones are left out."""
    return {
        column.attname: column.to_python(str(given) if isinstance(given, float) else given)
        if not isinstance(column, models.JSONField)
        else given
        for column in columns
        if (given := content.get(column.attname, MISSING)) is not MISSING
    }


def load_rows(table: str, pks: Collection[Any] | None = None) -> dict[Any, models.Model]:
    """The rows of a table by primary key; only some of them if `pks` is given."""
    query = control_plane()[table]._base_manager
    if pks is None:
        return {row.pk: row for row in query.all()}
    rows_by_key = {}
    for batch in batches(pks):
        rows_by_key.update({row.pk: row for row in query.filter(pk__in=batch)})
    return rows_by_key


def contents(table: str, pks: Collection[Any] | None = None) -> dict[Any, dict[str, Json]]:
    """The rows of a table as JSON values by primary key; only some of them if `pks` is given.

    A value that its column cannot hold is marked (`convengine.engine.turn.fault`). A row whose key is such a value
    is left out.
    """
    key = key_of(table)
    table_rows = read_rows.read(control_plane()[table], kept_columns(table), pks)
    return {row[key]: row for row in table_rows if not isinstance(row[key], dict)}


@cache
def _list_defaults(table: str) -> Mapping[str, Json]:
    """The default values of a table's columns that have one."""
    values: dict[str, Json] = {}
    for column in fields(rows.ROW_TYPE_OF[table]):
        if column.default is not MISSING:
            values[column.name] = column.default
        elif column.default_factory is not MISSING:
            values[column.name] = column.default_factory()
    return values


def up_to_date(table: str, content: Mapping[str, Json]) -> dict[str, Json]:
    """A row of an older release with the columns of today; new columns have their default."""
    defaults = _list_defaults(table)
    return {name: content.get(name, defaults.get(name)) for name in kept_columns(table)}
