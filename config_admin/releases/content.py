"""What of a row a release keeps: the columns that the engine reads, as JSON values."""

from collections.abc import Collection, Mapping
from dataclasses import MISSING, fields
from datetime import UTC, datetime
from decimal import Decimal
from functools import cache
from typing import Any

from django.apps import apps
from django.db import models

from config_admin.releases.blobs import batches
from convengine.domain import rows

Json = Any
#: Kept beside what the engine reads, so that a row that is put back is as old as it was.
EXTRA_COLUMNS = frozenset({"created_at"})


@cache
def control_plane() -> Mapping[str, type[models.Model]]:
    """The model of each control-plane table, in the order in which rows may be inserted."""
    by_table = {model._meta.db_table: model for model in apps.get_app_config("config_admin").get_models()}
    return {row_type.table: by_table[row_type.table] for row_type in rows.ROW_TYPES}


def key_of(table: str) -> str:
    """The primary key column of a table."""
    return rows.ROW_TYPE_OF[table].key


@cache
def kept_columns(table: str) -> Mapping[str, "models.Field[Any, Any]"]:
    """The columns that a release keeps of a table."""
    wanted = EXTRA_COLUMNS | set(rows.columns(rows.ROW_TYPE_OF[table]))
    return {
        column.attname: column for column in control_plane()[table]._meta.concrete_fields if column.attname in wanted
    }


def content_of(instance: models.Model) -> dict[str, Json]:
    """A stored row as JSON values."""
    columns = kept_columns(instance._meta.db_table)
    return {name: as_json(getattr(instance, name)) for name in columns}


def as_json(value: Any) -> Json:
    """A column's value as JSON: times are ISO 8601 in UTC with microseconds, so that texts compare like times."""
    if isinstance(value, datetime):
        return value.astimezone(UTC).strftime("%Y-%m-%dT%H:%M:%S.%fZ")
    return float(value) if isinstance(value, Decimal) else value


def column_values(table: str, content: Mapping[str, Json]) -> dict[str, Any]:
    """JSON values as the model takes them."""
    return {
        name: column.to_python(str(content[name]) if isinstance(content[name], float) else content[name])
        if not isinstance(column, models.JSONField)
        else content[name]
        for name, column in kept_columns(table).items()
        if name in content
    }


def stored(table: str, pks: Collection[Any] | None = None) -> dict[Any, models.Model]:
    """The rows of a table by primary key; only some of them if `pks` is given."""
    query = control_plane()[table]._base_manager
    if pks is None:
        return {row.pk: row for row in query.all()}
    found = {}
    for batch in batches(pks):
        found.update({row.pk: row for row in query.filter(pk__in=batch)})
    return found


@cache
def _defaults(table: str) -> Mapping[str, Json]:
    found: dict[str, Json] = {}
    for column in fields(rows.ROW_TYPE_OF[table]):
        if column.default is not MISSING:
            found[column.name] = column.default
        elif column.default_factory is not MISSING:
            found[column.name] = column.default_factory()
    return found


def up_to_date(table: str, content: Mapping[str, Json]) -> dict[str, Json]:
    """A row of an older release with the columns of today: those that came later have their default."""
    defaults = _defaults(table)
    return {name: content.get(name, defaults.get(name)) for name in kept_columns(table)}
