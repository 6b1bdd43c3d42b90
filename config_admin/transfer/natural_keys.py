"""How files identify rows: by their natural key, which each table declares; tools by their code.

Rows of tables whose key is not unique also have their id in files. It has a meaning: it breaks ties, and timelines and
progress texts refer to it.
"""

from collections.abc import Mapping
from functools import cache
from typing import Any

from django.db import models

from config_admin.validation.columns import NaturalKey
from config_admin.validation.stored_columns import control_plane, kept_columns, key_of
from convengine.engine.text.wording import did_you_mean
from convengine.engine.turn import rows
from convengine.engine.turn.rows import ROW_TYPE_OF
from convengine.json_value import Json

Contents = Mapping[str, Mapping[Any, Mapping[str, Json]]]
SCOPE = ("intent_code", "state_code")
TOOL, TOOL_ID, TOOL_CODE = rows.Tool.table, "tool_id", "tool_code"
#: Tables whose key is that of a tool, which files identify by its code.
TOOL_PARTS = (rows.DbTool.table, rows.HttpTool.table)
_ORDER = ("intent_code", "state_code", "phase", "priority")
#: `ce_agent_tool` of the original is `ce_mcp_tool` here; its parts and the planner are renamed as well.
_AGENT, _MCP = "ce_agent_", "ce_mcp_"
#: How similar a suggested table must be: all names begin alike.
_SIMILAR_TABLE = 0.8
#: Columns that people look for under another name.
_COLUMN_HINTS: Mapping[tuple[str, str], str] = {
    (rows.Response.table, "response_text"): "exact_text",
    (rows.Response.table, "schema_json"): "json_schema",
    (rows.OutputSchema.table, "schema_json"): "json_schema",
    (rows.OutputSchema.table, "schema"): "json_schema",
    (rows.Policy.table, "exact_text"): "response_text",
    (rows.Policy.table, "match_pattern"): "pattern",
    (rows.Classifier.table, "match_pattern"): "pattern",
    (rows.Rule.table, "pattern"): "match_pattern",
}


@cache
def get_key(table: str) -> NaturalKey:
    model: Any = control_plane()[table]
    key: NaturalKey = model.natural_key
    return key


@cache
def list_file_columns(table: str) -> Mapping[str, "models.Field[Any, Any]"]:
    """The columns of a table in files, in order: those that the engine reads, without useless ids."""
    read = set(rows.columns(ROW_TYPE_OF[table]))
    columns = {name: column for name, column in kept_columns(table).items() if name in read}
    if table in TOOL_PARTS:
        del columns[TOOL_ID]
        columns[TOOL_CODE] = kept_columns(TOOL)[TOOL_CODE]
    elif get_key(table).is_unique and key_of(table) not in get_key(table).columns:
        del columns[key_of(table)]
    first = get_key(table).columns if get_key(table).is_unique else (key_of(table),)
    late = [name for name in columns if name == "created_at"]
    order = [*first, *(name for name in columns if name not in (*first, *late)), *late]
    return {name: columns[name] for name in order}


def get_natural_key(table: str, values: Mapping[str, Json]) -> tuple[str, ...]:
    """The natural key of a row, for look-ups."""
    key = get_key(table)
    parts = [str(values.get(name) if values.get(name) is not None else "").strip() for name in key.columns]
    return tuple(part.lower() if key.ignores_case else part for part in parts)


def list_file_rows(contents: Contents, table: str) -> list[dict[str, Json]]:
    """The rows of a table as in files, in canonical order."""
    codes = {pk: row.get(TOOL_CODE) for pk, row in contents[TOOL].items()}
    key, columns, shown = get_key(table), list_file_columns(table), []
    for row in contents[table].values():
        values = {**row, TOOL_CODE: codes.get(row[TOOL_ID])} if table in TOOL_PARTS else row
        shown.append({name: values[name] for name in columns})
    order = key.columns if key.is_unique else (*(name for name in _ORDER if name in columns), key_of(table))
    # Numbers come first, because they cannot be compared with texts.
    return sorted(
        shown, key=lambda row: [(0, v, "") if isinstance(v := row[at], int) else (1, 0, str(v)) for at in order]
    )


def rename_table(name: str) -> str:
    """The name here of a table of the original; other names unchanged."""
    return _MCP + name.removeprefix(_AGENT) if name.startswith(_AGENT) else name


def suggest_table(name: str) -> str:
    """` Did you mean X?`, or nothing."""
    return did_you_mean(rename_table(name), ROW_TYPE_OF, _SIMILAR_TABLE)


def suggest_column(table: str, name: str, columns: Mapping[str, Any]) -> str:
    """` Did you mean X?`, or nothing."""
    hint = _COLUMN_HINTS.get((table, name))
    return f" Did you mean {hint}?" if hint else did_you_mean(name, columns)
