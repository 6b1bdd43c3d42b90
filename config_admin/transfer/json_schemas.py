"""JSON Schemas of bundles, forms and scenario files, for editors that complete and check them.

They are made from the declared columns and keys. `manage.py config_schemas` writes them as files; the static files have
them, too, so that every installation serves them.
"""

import json
from collections.abc import Mapping
from typing import Any

from django.core.validators import RegexValidator
from django.db import models

from config_admin.manual.tables import get_column_help
from config_admin.releases.content import as_json
from config_admin.transfer.document import SECTIONS, ImportMode
from config_admin.transfer.natural_keys import get_key, list_file_columns
from config_admin.validation.columns import Reference, get_column_spec
from config_admin.validation.labels import column_label, table_title
from config_admin.validation.stored_columns import control_plane, key_of
from convengine.engine.forms.extension_keys import FIELD_KEYS, FORM_KEYS
from convengine.engine.rules.conditions.rows import build_condition_schema
from convengine.engine.turn import rows
from convengine.json_value import Json
from convengine.play.schema import SCHEMA as SCENARIO

_DIALECT = "https://json-schema.org/draft/2020-12/schema"
_CODE = r"^\s*[A-Za-z][A-Za-z0-9_]*\s*$"
#: Codes are stored in capital letters, and read in any case.
_STORED_CODE = r"^[A-Z][A-Z0-9_]*$"
_FORM = {"$ref": "#/$defs/form"}
#: The documents in columns that have a schema of their own.
_DOCUMENTS: Mapping[tuple[str, str], Json] = {(rows.OutputSchema.table, "json_schema"): _FORM}


def build_schemas() -> dict[str, Json]:
    """All schemas by the name of their file."""
    return {
        "bundle.schema.json": build_bundle_schema(),
        "condition.schema.json": build_condition_schema(),
        "form.schema.json": {"$schema": _DIALECT, "title": "Form", **_FORM, "$defs": _define_form()},
        "scenario.schema.json": build_scenario_schema(),
    }


def write_schema(schema: Json) -> str:
    return json.dumps(schema, indent=1, ensure_ascii=False) + "\n"


def build_bundle_schema() -> Json:
    """The schema of a bundle, with or without its head."""
    tables = {table: {"type": "array", "items": {"$ref": f"#/$defs/{table}"}} for table in control_plane()}
    base = {
        "type": "object",
        "description": "The release that the file was exported from. An import takes back no change made since.",
        "required": ["release", "content"],
        "additionalProperties": False,
        "properties": {"release": {"type": "integer"}, "content": {"type": "string"}},
    }
    ancestry = {
        "type": "object",
        "description": "What the base comes from, and a checksum of the rows: for other installations.",
        "required": ["checksum", "contents"],
        "properties": {"checksum": {"type": "string"}, "contents": {"type": "array"}},
    }
    entries = {
        "type": "array",
        "items": {"type": "object"},
        "description": "For `convengine apply`; an import leaves them out.",
    }
    return {
        "$schema": _DIALECT,
        "title": "Configuration",
        "description": "A bundle of configuration tables: a map of tables under `tables`, or the map alone.",
        "type": "object",
        "additionalProperties": False,
        "properties": {
            "$schema": {"type": "string"},
            "format": {"const": "convengine-configuration"},
            "version": {"const": 1},
            "mode": {"enum": [mode.value for mode in ImportMode], "description": "How an import matches the rows."},
            "base": base,
            "tables": {"type": "object", "additionalProperties": False, "properties": tables},
            "ancestry": ancestry,
            **tables,
            **dict.fromkeys(SECTIONS, entries),
        },
        "$defs": {**{table: _build_row(table) for table in control_plane()}, **_define_form()},
    }


def build_scenario_schema() -> Json:
    """The schema of scenario files, with the columns of the configuration tables."""
    properties = dict(SCENARIO["properties"])
    tables = {table: {"type": "array", "items": {"$ref": f"#/$defs/{table}"}} for table in control_plane()}
    properties["tables"] = {**properties["tables"], "properties": tables}
    partial = {table: _build_row(table, is_partial=True) for table in control_plane()}
    return {**SCENARIO, "properties": properties, "$defs": {**SCENARIO["$defs"], **partial, **_define_form()}}


def _build_row(table: str, *, is_partial: bool = False) -> Json:
    """The schema of a row. `is_partial`: no column is required, and further ones are allowed."""
    columns = list_file_columns(table)
    key = get_key(table)
    about = f"{table_title(table)}. Rows are identified by {', '.join(key.columns)}."
    row: Json = {
        "type": "object",
        "description": about,
        "properties": {name: _build_column(table, name, column) for name, column in columns.items()},
    }
    if is_partial:
        return {**row, "properties": {name: _suggest(column) for name, column in row["properties"].items()}}
    # Never an id that only numbers the rows.
    named = {name: column for name, column in columns.items() if name != key_of(table) or name in key.columns}
    required = [
        name
        for name, column in named.items()
        if get_column_spec(column).required or not (column.null or column.has_default() or column.blank)
    ]
    return {**row, "required": required, "additionalProperties": False}


def _suggest(column: Json) -> Json:
    """The schema of a column that completes values and refuses none."""
    about = {name: column[name] for name in ("title", "description") if name in column}
    rest = {name: value for name, value in column.items() if name not in about}
    return {**about, "anyOf": [rest, {}]}


def _build_column(table: str, name: str, column: "models.Field[Any, Any]") -> Json:
    """The schema of a column, with its title, its help and its default."""
    schema = {**_describe_type(table, name, column)}
    if column.null and "type" in schema:
        schema["type"] = [*([schema["type"]] if isinstance(schema["type"], str) else schema["type"]), "null"]
    if column.has_default() and not callable(column.default):
        schema["default"] = as_json(column.default)
    help_text = str(column.help_text) or get_column_spec(column).help or get_column_help(table, name)
    return {"title": column_label(table, name), **({"description": help_text} if help_text else {}), **schema}


def _describe_type(table: str, name: str, column: "models.Field[Any, Any]") -> Json:
    spec = get_column_spec(column)
    if isinstance(column, models.JSONField):
        shapes = {dict: "object", list: "array"}
        return _DOCUMENTS.get((table, name)) or ({"type": shapes[spec.shape]} if spec.shape in shapes else {})
    if isinstance(column, models.BooleanField):
        return {"type": "boolean"}
    if isinstance(column, (models.IntegerField, models.DecimalField)):
        bounds = {"minimum": spec.bounds.minimum, "maximum": spec.bounds.maximum} if spec.bounds else {}
        return {"type": "integer" if isinstance(column, models.IntegerField) else "number", **bounds}
    if isinstance(column, models.DateTimeField):
        return {"type": "string", "format": "date-time"}
    return _describe_text(column)


def _describe_text(column: "models.Field[Any, Any]") -> Json:
    """The type of a text column: a word of its vocabulary, a code or any text."""
    spec = get_column_spec(column)
    if spec.vocabulary:
        words: Json = {"enum": [*spec.vocabulary, *([None] if column.null else [])]}
        # A deployment may add its own words.
        open_list = spec.accepted or spec.reference is Reference.RULE_ACTION
        return {"anyOf": [words, {"type": "string"}]} if open_list else words
    regexes = [validator.regex for validator in column.validators if isinstance(validator, RegexValidator)]
    if any(getattr(regex, "pattern", regex) == _STORED_CODE for regex in regexes):
        return {"type": "string", "pattern": _CODE}
    return {"type": "string"}


def _define_form() -> Json:
    """A form: a JSON Schema of type object, with the keys that the engine adds."""
    field: Json = {
        "type": "object",
        "properties": {
            "type": {"type": ["string", "array"]},
            "title": {"type": "string"},
            "description": {"type": "string"},
            "enum": {"type": "array"},
            "format": {"type": "string"},
            "pattern": {"type": "string"},
            "items": {"$ref": "#/$defs/form_field"},
            "properties": {"type": "object", "additionalProperties": {"$ref": "#/$defs/form_field"}},
            "required": {"type": "array", "items": {"type": "string"}},
        },
    }
    form: Json = {
        **field,
        "required": ["type", "properties"],
        "properties": {**field["properties"], "type": {"const": "object"}, **FORM_KEYS},
        "patternProperties": {_forbid(FORM_KEYS): False},
    }
    field["properties"] |= FIELD_KEYS
    field["patternProperties"] = {_forbid({**FIELD_KEYS, **FORM_KEYS}): False}
    return {"form": form, "form_field": field}


def _forbid(known: Mapping[str, Json]) -> str:
    """The pattern of `x-` keys that do not exist."""
    return f"^x-(?!(?:{'|'.join(key.removeprefix('x-') for key in known)})$)"
