"""`ce_mcp_db_tool`: the SQL behind a database tool."""

import re
from collections.abc import Iterator
from typing import Any

from django.core.validators import MaxValueValidator, MinValueValidator
from django.db import models

from config_admin.tables.base_model import ControlPlaneRow, index
from config_admin.tables.mcp_tool import CeMcpTool
from config_admin.tables.model_fields import document, flag, word
from config_admin.tables.output_schema import check_json_schema
from config_admin.validation import relations
from config_admin.validation.columns import SQL, Bounds, ColumnProblem, NaturalKey, declare_column
from config_admin.validation.draft import Draft, Finding, SaveChecks
from config_admin.validation.relations import UNREADABLE, as_json
from convengine.engine.text.compare import code
from convengine.engine.turn import rows
from convengine.engine.turn.enums import SqlDialect, ToolGroup
from convengine.server.executors import sql_guard

DbTool = Draft[rows.DbTool]


def check_tool_group(draft: Draft[Any], group: ToolGroup, message: str) -> Iterator[Finding]:
    """The tool of the row exists and belongs to the group; `message` names {tool} and {group}."""
    tool = draft.snapshot.row(rows.Tool, draft.row.tool_id)
    if tool is None:
        known = f"Tool {draft.row.tool_id} does not exist. Choose another tool."
        yield draft.error("TOOL_UNKNOWN", "tool_id", "Choose a tool." if draft.row.tool_id is None else known)
    elif code(tool.tool_group) != group:
        yield draft.error("CONFLICT", "tool_id", message.format(tool=tool.tool_code, group=tool.tool_group))


def check_argument_schema(draft: Draft[Any]) -> Iterator[Finding]:
    """`param_schema` is a JSON Schema of type object."""
    schema = as_json(draft.row.param_schema)
    if schema is UNREADABLE:
        return
    if not isinstance(schema, dict) or schema.get("type") != "object":
        yield draft.error("SHAPE_INVALID", "param_schema", 'Describe the arguments by an object with "type": "object".')
    else:
        yield from check_json_schema(draft, "param_schema", schema)


def _check_tool(draft: DbTool) -> Iterator[Finding]:
    yield from check_tool_group(draft, ToolGroup.DB, "{tool} is in group {group}. Only tools in group DB have SQL.")


def _check_read_only_guard(draft: DbTool) -> Iterator[Finding]:
    row = draft.row
    if not row.safe_mode and not draft.world.unsafe_sql_allowed and draft.world.is_deployed:
        yield draft.error(
            "CONFLICT", "safe_mode", "This installation only allows statements that read. Turn the read-only guard on."
        )


def _check_database(draft: DbTool) -> Iterator[Finding]:
    if draft.world.tool_databases is not None and not draft.world.tool_databases:
        yield draft.warning(
            "DATABASE_UNKNOWN", None, "This installation has no database for tools. Set CE_TOOL_DATABASE_URLS."
        )


def _check_identifier_shape(draft: DbTool) -> Iterator[Finding]:
    listed = as_json(draft.row.allowed_identifiers)
    if listed is None or listed is UNREADABLE:
        return
    lists = list(listed.values()) if isinstance(listed, dict) else [None]
    if not all(isinstance(names, list) and all(isinstance(name, str) for name in names) for names in lists):
        yield draft.error(
            "SHAPE_INVALID", "allowed_identifiers", 'Use JSON like {"name":["table_a","table_b"]}: lists of names.'
        )


def _check_statement(draft: DbTool) -> Iterator[Finding]:
    row = draft.row
    try:
        sql_guard.readable(
            _fill_template(row), row.dialect, sql_guard.list_allowed_names(draft.snapshot, row), bool(row.safe_mode)
        )
    except sql_guard.SqlRefused as refused:
        yield draft.error(sql_guard.NOT_READONLY, "sql_template", str(refused))


def _fill_template(row: rows.DbTool) -> str:
    """The template so that it can be checked: each `${name}` is the first of its list, or some_name without one."""
    template, lists = row.sql_template or "", as_json(row.allowed_identifiers)
    for name in sql_guard.identifiers(template):
        listed = lists.get(name) if isinstance(lists, dict) else None
        value = next((text for text in listed if isinstance(text, str)), "") if isinstance(listed, list) else ""
        # In a replacement, a backslash would have a meaning.
        safe_value = (value or "some_name").replace("\\", r"\\")
        template = re.sub(rf"\$\{{\s*{re.escape(name)}\s*\}}", safe_value, template)
    return template


def _check_identifier_names(draft: DbTool) -> Iterator[Finding]:
    lists = as_json(draft.row.allowed_identifiers)
    for listed in lists.values() if isinstance(lists, dict) else ():
        for value in listed if isinstance(listed, list) else ():
            if isinstance(value, str) and not sql_guard.is_name(value):
                yield draft.error(
                    "SHAPE_INVALID",
                    "allowed_identifiers",
                    f"{value} is not a table name. Write name or schema.name with letters, digits and underscores.",
                )


def _check_declared_names(draft: DbTool) -> Iterator[Finding]:
    params = sql_guard.parameters(_fill_template(draft.row), draft.row.dialect)
    declared = relations.get_properties(draft.row.param_schema)
    for name in sorted(params - declared.keys() - {"limit"}):
        yield draft.error("SQL_PARAM_UNDECLARED", "sql_template", f":{name} is not in the parameter schema.")
    lists = as_json(draft.row.allowed_identifiers)
    for name in sorted(
        sql_guard.identifiers(draft.row.sql_template or "") - (lists.keys() if isinstance(lists, dict) else set())
    ):
        yield draft.error("IDENTIFIER_UNLISTED", "allowed_identifiers", f"${name} needs a list in allowed identifiers.")


def _check_unused_parameters(draft: DbTool) -> Iterator[Finding]:
    params = sql_guard.parameters(_fill_template(draft.row), draft.row.dialect)
    for name in relations.get_properties(draft.row.param_schema):
        if name not in params | sql_guard.identifiers(draft.row.sql_template) | {"limit"}:
            yield draft.warning(
                "SQL_PARAM_UNUSED", "param_schema", f"The parameter {name} is not used in the statement."
            )
    if "limit" not in params:
        yield draft.warning(
            "SQL_NO_LIMIT",
            "sql_template",
            "The database may read far more rows than are kept. Add LIMIT :limit to the statement.",
        )


class CeMcpDbTool(ControlPlaneRow):
    """One row per tool of group DB that has no handler in code."""

    save_checks = SaveChecks(
        form=(
            _check_tool,
            _check_read_only_guard,
            check_argument_schema,
            _check_identifier_shape,
            _check_identifier_names,
            _check_statement,
            _check_declared_names,
        ),
        fit=(_check_unused_parameters, _check_database),
    )
    natural_key = NaturalKey(("tool_code",), is_unique=True, ignores_case=True)

    tool = models.OneToOneField(CeMcpTool, on_delete=models.CASCADE, primary_key=True, related_name="db_tool")
    dialect = word(SqlDialect, default=SqlDialect.POSTGRES.value)
    sql_template = declare_column(
        models.TextField("SQL", help_text="Use :name for a value and ${name} for an allowed identifier."),
        language=SQL,
    )
    param_schema = document(
        verbose_name="parameters", help_text="JSON Schema of the arguments. Calls with other arguments are rejected."
    )
    allowed_identifiers = document(
        null=True, blank=True, help_text='Values that ${name} may take, for example {"name": ["table_a", "table_b"]}.'
    )
    allowed_tables = declare_column(
        document(null=True, blank=True, help_text="A list of tables. Empty allows all tables of the read-only login."),
        shape=list,
        misshapen=ColumnProblem("SHAPE_INVALID", "Use a JSON list of table names."),
    )
    safe_mode = flag(True, help_text="Only statements that read are allowed.")
    max_rows = declare_column(
        models.IntegerField(
            default=200,
            db_default=200,
            validators=[MinValueValidator(1), MaxValueValidator(10_000)],
            help_text="1 to 10000. Further rows are dropped.",
        ),
        bounds=Bounds(
            1, 10_000, ColumnProblem("MAX_ROWS", "The number of rows must be a whole number from 1 to 10000.")
        ),
    )

    class Meta(ControlPlaneRow.Meta):
        db_table = "ce_mcp_db_tool"
        verbose_name = "database tool"
        indexes = [index("ce_mcp_db_tool_dialect", "dialect")]
