"""The model of each configuration table, and the columns of it that a release stores."""

from collections.abc import Mapping
from functools import cache
from typing import Any

from django.apps import apps
from django.db import models

from convengine.engine.turn import rows

#: Stored besides what the engine reads, so that a restored row keeps its creation time.
EXTRA_COLUMNS = frozenset({"created_at"})


@cache
def control_plane() -> Mapping[str, type[models.Model]]:
    """The model of each configuration table, in the order of inserting rows."""
    by_table = {model._meta.db_table: model for model in apps.get_app_config("config_admin").get_models()}
    return {row_type.table: by_table[row_type.table] for row_type in rows.ROW_TYPES}


def key_of(table: str) -> str:
    return rows.ROW_TYPE_OF[table].key


def to_key(table: str, text: Any) -> Any:
    """A primary key as its column has it. Raises ValidationError, and KeyError for an unknown table."""
    column = control_plane()[table]._meta.pk
    assert column is not None
    return column.to_python(text)


@cache
def list_prose_columns(table: str) -> frozenset[str]:
    """The columns whose texts are for people or a model: they name nothing, and change nothing that a row does."""
    return frozenset(name for name, field in kept_columns(table).items() if getattr(field, "is_prose", False))


@cache
def kept_columns(table: str) -> Mapping[str, "models.Field[Any, Any]"]:
    wanted = EXTRA_COLUMNS | set(rows.columns(rows.ROW_TYPE_OF[table]))
    return {
        column.attname: column for column in control_plane()[table]._meta.concrete_fields if column.attname in wanted
    }
