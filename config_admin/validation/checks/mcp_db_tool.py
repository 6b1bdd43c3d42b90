"""Save checks of `ce_mcp_db_tool`, the SQL behind a tool (tables 4.4, 4.6; R70, R71)."""

import re
from collections.abc import Iterator
from typing import Any

from config_admin.validation import relations
from config_admin.validation.checks import common, programs
from config_admin.validation.checks.output_schema import valid_schema
from config_admin.validation.draft import Check, Draft
from config_admin.validation.findings import Finding
from config_admin.validation.relations import UNREADABLE, as_json
from convengine.domain import rows
from convengine.domain.enums import SqlDialect, ToolGroup
from convengine.domain.text import code
from convengine.executors import sql_guard

DbTool = Draft[rows.DbTool]


def of_group(draft: Draft[Any], group: ToolGroup, message: str) -> Iterator[Finding]:
    """The tool that the row belongs to exists, and is of the group; `message` names {tool} and {group}."""
    tool = draft.snapshot.row(rows.Tool, draft.row.tool_id)
    if tool is None:
        yield draft.error("TOOL_UNKNOWN", "tool_id", f"There is no tool {draft.row.tool_id}.")
    elif code(tool.tool_group) != group:
        yield draft.error("CONFLICT", "tool_id", message.format(tool=tool.tool_code, group=tool.tool_group))


def argument_schema(draft: Draft[Any]) -> Iterator[Finding]:
    """`param_schema` is a JSON Schema of type object."""
    yield from programs.json_document(draft, "param_schema")
    schema = as_json(draft.row.param_schema)
    if schema is UNREADABLE:
        return
    if not isinstance(schema, dict) or schema.get("type") != "object":
        yield draft.error(
            "SHAPE_INVALID", "param_schema", 'The arguments must be described by an object with "type": "object".'
        )
    else:
        yield from valid_schema(draft, "param_schema", schema)


def _tool(draft: DbTool) -> Iterator[Finding]:
    yield from of_group(draft, ToolGroup.DB, "{tool} is of group {group}; only DB tools have SQL.")


def _settings(draft: DbTool) -> Iterator[Finding]:
    row = draft.row
    yield from common.choice(draft, "dialect", list(SqlDialect))
    if isinstance(row.max_rows, bool) or not isinstance(row.max_rows, int) or not 1 <= row.max_rows <= 10_000:
        yield draft.error("MAX_ROWS", "max_rows", "The number of rows must be a whole number from 1 to 10000.")
    if not row.safe_mode and not draft.world.unsafe_sql_allowed:
        yield draft.error("CONFLICT", "safe_mode", "This installation allows read-only statements only.")


def _database(draft: DbTool) -> Iterator[Finding]:
    if draft.world.tool_databases is not None and not draft.world.tool_databases:
        yield draft.warning(
            "DATABASE_UNKNOWN", None, "This installation names no database for tools (CE_TOOL_DATABASE_URLS)."
        )


def _lists(draft: DbTool) -> Iterator[Finding]:
    row = draft.row
    yield from programs.json_document(draft, "allowed_identifiers")
    listed = as_json(row.allowed_identifiers)
    if listed is not None and listed is not UNREADABLE and not _lists_of_names(listed):
        yield draft.error(
            "SHAPE_INVALID", "allowed_identifiers", 'Use JSON like {"name":["table_a","table_b"]}: lists of names.'
        )
    yield from programs.shape(draft, "allowed_tables", list, "Use a JSON list of table names.")


def _lists_of_names(value: Any) -> bool:
    return isinstance(value, dict) and all(
        isinstance(names, list) and all(isinstance(name, str) for name in names) for names in value.values()
    )


def _read_only(draft: DbTool) -> Iterator[Finding]:
    row = draft.row
    try:
        sql_guard.readable(_filled(row), row.dialect, sql_guard.allowed(draft.snapshot, row), bool(row.safe_mode))
    except sql_guard.SqlRefused as refused:
        yield draft.error(sql_guard.NOT_READONLY, "sql_template", str(refused))


def _filled(row: rows.DbTool) -> str:
    """The template with a name in the place of each `${name}`: the first of its list, so that it may be judged."""
    template, lists = row.sql_template or "", as_json(row.allowed_identifiers)
    for name in sql_guard.identifiers(template):
        listed = lists.get(name) if isinstance(lists, dict) else None
        value = next((one for one in listed if isinstance(one, str)), None) if isinstance(listed, list) else None
        template = re.sub(rf"\$\{{\s*{re.escape(name)}\s*\}}", value or "some_name", template)
    return template


def _identifiers_listed(draft: DbTool) -> Iterator[Finding]:
    lists = as_json(draft.row.allowed_identifiers)
    for listed in lists.values() if isinstance(lists, dict) else ():
        for value in listed if isinstance(listed, list) else ():
            if isinstance(value, str) and not sql_guard.is_name(value):
                yield draft.error(
                    "SHAPE_INVALID",
                    "allowed_identifiers",
                    f"{value} is no name: write name or schema.name of letters, digits and _.",
                )


def _names(draft: DbTool) -> Iterator[Finding]:
    params = sql_guard.parameters(_filled(draft.row), draft.row.dialect)
    declared = relations.properties(draft.row.param_schema)
    for name in sorted(params - declared.keys() - {"limit"}):
        yield draft.error("SQL_PARAM_UNDECLARED", "sql_template", f":{name} is not in the parameter schema.")
    lists = as_json(draft.row.allowed_identifiers)
    for name in sorted(
        sql_guard.identifiers(draft.row.sql_template or "") - (lists.keys() if isinstance(lists, dict) else set())
    ):
        yield draft.error("IDENTIFIER_UNLISTED", "allowed_identifiers", f"${name} needs a list in allowed identifiers.")


def _unused(draft: DbTool) -> Iterator[Finding]:
    params = sql_guard.parameters(_filled(draft.row), draft.row.dialect)
    for name in relations.properties(draft.row.param_schema):
        if name not in params | sql_guard.identifiers(draft.row.sql_template) | {"limit"}:
            yield draft.warning("SQL_PARAM_UNUSED", "param_schema", f"The statement does not use {name}.")
    if "limit" not in params:
        yield draft.warning(
            "SQL_NO_LIMIT", "sql_template", "Without :limit the database may read far more rows than are kept."
        )


FORM: tuple[Check, ...] = (_tool, _settings, argument_schema, _lists, _identifiers_listed, _read_only, _names)
FIT: tuple[Check, ...] = (_unused, _database)
