"""The configuration of saved turns: the rows of their releases, and different settings."""

import json
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from django.db import models

from convengine.engine.turn.fault import find_unreadable_columns
from convengine.engine.turn.live_settings import CATALOGUE, Setting
from convengine.json_value import Json
from convengine.play.settings_map import world_settings
from convengine.play.tables import columns_of, models_of_worlds
from convengine.server.deployment import conf
from convengine.server.interfaces.release_history import RowChange, release_history

Row = dict[str, Json]


def export_tables(config_version: int) -> dict[str, list[Row]]:
    """The rows of a release by table, without default values, with the settings that differ in a world."""
    rows = {
        table: [_drop_defaults(table, row.after) for row in changes if row.after is not None]
        for table, changes in release_history().diff(0, config_version).items()
    }
    named = {
        (row.get("config_type", "").upper(), row.get("config_key", "").upper()) for row in rows.get("ce_config", ())
    }
    more = [
        row for row in _differing_settings() if (row["config_type"].upper(), row["config_key"].upper()) not in named
    ]
    if more:
        rows["ce_config"] = [*rows.get("ce_config", []), *more]
    return {table: some for table, some in rows.items() if some}


def export_edits(before: int, after: int) -> list[Row]:
    """The edits from one release to another, in the scenario format; deletions come first in each table."""
    if before == after:
        return []
    edits: list[Row] = []
    for table, changes in release_history().diff(before, after).items():
        # Deleted rows first, so that those added may have their unique values.
        order = ("delete", "insert", "update")
        written = [_write_edit(table, row) for row in changes]
        edits += sorted(written, key=lambda edit: order.index(next(iter(edit))))
    return edits


def _write_edit(table: str, row: RowChange) -> Row:
    """A changed row as an edit: `delete`, `insert`, or `update` with the changed columns alone."""
    column = _model_of_table(table)._meta.pk
    assert column is not None
    key = column.attname
    if row.after is None:
        return {"delete": table, "where": {key: (row.before or {})[key]}}
    if row.before is None:
        return {"insert": table, "row": _drop_defaults(table, row.after)}
    changed = {name: value for name, (_, value) in row.fields.items()}
    return {"update": table, "where": {key: row.before[key]}, "set": changed}


def export_rate_limit() -> Row:
    """The deployment's rate limit of events, in the scenario format; empty for none."""
    limit = conf.get("AUDIT_RATE_LIMIT")
    return {"audit": {"rate_limit": {"enabled": True, **limit}}} if limit else {}


def _model_of_table(table: str) -> type[models.Model]:
    return models_of_worlds()[table]


def _drop_defaults(table: str, row: Mapping[str, Json]) -> Row:
    """A row without times, columns of another version and default values; unreadable values as they are stored."""
    spoilt = find_unreadable_columns(row)
    columns = columns_of(_model_of_table(table))
    return {
        name: spoilt.get(name, value)
        for name, value in row.items()
        if name in columns
        and not isinstance(columns[name], models.DateTimeField)
        and not _is_default(columns[name], value)
    }


def _is_default(column: "models.Field[Any, Any]", value: Json) -> bool:
    if column.primary_key:
        return False
    if column.has_default():
        return bool(column.get_default() == value)
    return value is None and column.null


def _differing_settings() -> Iterator[Row]:
    """Rows for settings whose value in a world differs from this installation."""
    world_values, own_values = world_settings({}).live, conf.get("SETTING_DEFAULTS")
    for name in sorted({*world_values, *own_values}):
        setting = CATALOGUE.get(name)
        if setting is None:
            continue
        text = own_values.get(name, _setting_text(setting, setting.default))
        if text != world_values.get(name, _setting_text(setting, setting.default)):
            yield {"config_type": setting.type, "config_key": setting.key, "config_value": text}


def _setting_text(setting: Setting[Any], value: Json) -> str:
    """The text of a value in a settings row: a text itself, a list by lines or commas, any other value as JSON."""
    if isinstance(value, str):
        return value
    if isinstance(value, Iterable) and not isinstance(value, Mapping):
        return ("\n" if setting.kind.name in ("patterns", "lines") else ",").join(value)
    return json.dumps(value)
