"""The configuration of saved turns: the rows of their releases, and the settings in which worlds differ."""

import json
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from django.db import models

from convengine import conf
from convengine.domain.settings import CATALOGUE, Setting
from convengine.domain.unreadable import found_in
from convengine.scenarios.reading import Node
from convengine.scenarios.settings_map import world_settings
from convengine.scenarios.tables import columns_of, models_of_worlds

Json = Any
Row = dict[str, Json]


def tables(config_version: int) -> dict[str, list[Row]]:
    """The rows of a release by table, without what their columns have anyway."""
    found = conf.load("RELEASES")(0, config_version)
    rows = {table: [_short(table, row) for row in one.added] for table, one in found.items()}
    named = {
        (row.get("config_type", "").upper(), row.get("config_key", "").upper()) for row in rows.get("ce_config", ())
    }
    more = [row for row in _settings() if (row["config_type"].upper(), row["config_key"].upper()) not in named]
    if more:
        rows["ce_config"] = [*rows.get("ce_config", []), *more]
    return {table: some for table, some in rows.items() if some}


def edits(before: int, after: int) -> list[Row]:
    """What was edited between two turns, as a file says it."""
    if before == after:
        return []
    found: list[Row] = []
    for table, one in conf.load("RELEASES")(before, after).items():
        key = _key(table)
        found += [{"delete": table, "where": {key: row[key]}} for row in one.removed]
        found += [{"insert": table, "row": _short(table, row)} for row in one.added]
        for row in one.changed:
            changed = {name: value for name, (_, value) in row.fields.items()}
            found.append({"update": table, "where": {key: row.before[key]}, "set": changed})
    return found


def rate_limit() -> Row:
    """The deployment's rate limit of events, as a file says it; empty for none."""
    limit = conf.get("AUDIT_RATE_LIMIT")
    return {"audit": {"rate_limit": {"enabled": True, **limit}}} if limit else {}


def _model(table: str) -> type[models.Model]:
    return models_of_worlds()[table]


def _key(table: str) -> str:
    key = _model(table)._meta.pk
    assert key is not None
    return key.attname


def _short(table: str, row: Mapping[str, Json]) -> Row:
    spoilt = found_in(row)
    columns = columns_of(_model(table))
    return {
        name: spoilt.get(name, value)
        for name, value in row.items()
        if name in columns and not isinstance(columns[name], models.DateTimeField) and not _usual(columns[name], value)
    }


def _usual(column: "models.Field[Any, Any]", value: Json) -> bool:
    """True for what the column has when a row says nothing."""
    if column.primary_key:
        return False
    if column.has_default():
        return bool(column.get_default() == value)
    return value is None and column.null


def _settings() -> Iterator[Row]:
    """Rows for settings that have another value in a world, where nothing else is said, than in this installation."""
    there, here = world_settings(Node({})).live, conf.get("SETTING_DEFAULTS")
    for name in sorted({*there, *here}):
        setting = CATALOGUE.get(name)
        if setting is None:
            continue
        text = here.get(name, _text(setting, setting.default))
        if text != there.get(name, _text(setting, setting.default)):
            yield {"config_type": setting.type, "config_key": setting.key, "config_value": text}


def _text(setting: Setting[Any], value: Json) -> str:
    """A value of a setting as its text."""
    if isinstance(value, str):
        return value
    if isinstance(value, Iterable) and not isinstance(value, Mapping):
        return ("\n" if setting.kind.name in ("patterns", "lines") else ",").join(value)
    return json.dumps(value)
