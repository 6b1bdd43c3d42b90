"""Seed SQL of the original: its INSERT statements as rows, and a report of conversions and refusals.

Nothing of the file is run. Rows are imported like any others. Tables, settings and facts get the names of this engine.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from django.db import models

from config_admin.contrib.original.flow_starts import complete_flow_starts
from config_admin.contrib.original.seed_statements import (
    DEFAULT,
    NOW,
    STAMPS,
    Literal,
    Number,
    SeedStatement,
    ToolReference,
    UnreadableRow,
    parse_statements,
)
from config_admin.transfer.document import Document, FileRow, ImportMode, Note
from config_admin.transfer.natural_keys import (
    SCOPE,
    TOOL,
    TOOL_CODE,
    TOOL_ID,
    TOOL_PARTS,
    list_file_columns,
    rename_table,
    suggest_column,
    suggest_table,
)
from config_admin.transfer.values import ValueRefused, get_default, parse_text
from config_admin.validation.labels import table_title
from config_admin.validation.stored_columns import control_plane
from convengine.engine.turn import rows
from convengine.engine.turn.enums import RulePhase, RuleType
from convengine.engine.turn.rows import ROW_TYPE_OF
from convengine.json_value import Json
from convengine.server.executors import sql_guard

#: Columns of the original with another name here.
_RENAMED: Mapping[tuple[str, str], str] = {
    (rows.PromptTemplate.table, "output_format"): "response_type",
    (rows.McpServer.table, "args"): "args_json",
    (rows.McpServer.table, "env"): "env_json",
    (rows.McpServer.table, "headers"): "headers_json",
    (rows.McpServer.table, "id"): "server_id",
}
#: Words of a column, in lower case -> the word here.
_WORDS: Mapping[tuple[str, str], Mapping[str, str]] = {
    (rows.Config.table, "config_type"): {"agentplanner": "McpPlanner", "agenttoolstep": "McpToolStep"},
    (rows.Verbose.table, "step_value"): {"agenttoolstep": "McpToolStep"},
    (rows.Verbose.table, "determinant"): {
        f"agent_{event}": f"MCP_{event.upper()}"
        for event in (
            "tool_call", "tool_result", "tool_error", "final_answer", "duplicate_tool_call_suppressed",
            "tool_root_cause",
        )
    },
}  # fmt: skip
_AGENT_KEY = re.compile(r"^AGENT_TOOL_", re.IGNORECASE)
#: Facts of the planner in texts: `context.agent.finalAnswer` is `context.mcp.finalAnswer` here.
_AGENT_FACT = re.compile(r"\b(?P<context>context(?:Json)?)\.agent\b")
_AGENT_NAME = re.compile(r"\bagent_(?P<name>tools|observations)\b")
#: These names in a path that reads only the context.
_AGENT_PATH = re.compile(r"(?P<root>[$@])\.agent\b")
#: A name that the caller of a tool chooses, as some seeds write it.
_BRACED_NAME = re.compile(r"\{\{\s*(\w+)\s*\}\}")
#: The phase after the answer, which this engine does not have.
_PHASES_AFTER_ANSWER = ("POST_RESPONSE_RESOLUTION", "POST_RESPONSE")


def _find_table(name: str) -> str:
    """The name of a table of ours, also for its newer name in the original; else the name as it is."""
    renamed = rename_table(name)
    return renamed if renamed in ROW_TYPE_OF else name


def _rename_value(table: str, column: str, text: str) -> str:
    """A text with the names of this engine."""
    if _is_post_response(table, column, text):
        return RulePhase.PRE_RESPONSE_RESOLUTION.value
    if word := _WORDS.get((table, column), {}).get(text.strip().lower()):
        return word
    if (table, column) == (rows.Config.table, "config_key"):
        return _AGENT_KEY.sub("MCP_TOOL_", text)
    return _AGENT_NAME.sub(r"mcp_\g<name>", _AGENT_FACT.sub(r"\g<context>.mcp", text))


def _rename_context_path(values: Mapping[str, Any]) -> str | None:
    """The path of a rule on the context alone, with the names of this engine. Returns None if nothing changes."""
    path = values.get("match_pattern")
    if values.get("rule_type") != RuleType.CONTEXT_JSON_PATH or not isinstance(path, str):
        return None
    renamed = _AGENT_PATH.sub(r"\g<root>.mcp", path)
    return renamed if renamed != path else None


def _is_post_response(table: str, column: str, value: Any) -> bool:
    """True for the phase of a rule that the original evaluates after the answer."""
    return (table, column) == (rows.Rule.table, "phase") and str(value).strip().upper() in _PHASES_AFTER_ANSWER


_LATER = "ce_semantic_"
_UPSERT = "This upsert is read as rows. See the changes."
_UNLESS_THERE = (
    "Existing rows are not kept as the statement asks: they are changed to the content of the file. See the changes."
)
_POST_RESPONSE = (
    "Rules after the answer do not exist here. The rule is read as one before the answer, switched off. "
    "Check its effect before you enable it."
)


def read_statements(text: str) -> Document:
    """The rows of a text of statements. Raises FileRefused when it cannot be parsed."""
    reading = _Reading()
    parsed = [replace(statement, table=_find_table(statement.table)) for statement in parse_statements(text)]
    reading.codes = dict(_list_tools(parsed))
    for statement in parsed:
        reading.take(statement)
    tables, notes = complete_flow_starts(reading.tables)
    return Document(tables, ImportMode.ADD, [*reading.notes, *notes])


def _list_tools(parsed: Sequence[SeedStatement]) -> Iterator[tuple[str, str]]:
    """Ids of the file's tools with their codes: parts of tools refer to tools by id there, by code here."""
    for statement in parsed:
        if statement.table == TOOL and {TOOL_ID, TOOL_CODE} <= set(statement.columns):
            for row in statement.rows:
                if not isinstance(row, UnreadableRow):
                    values = dict(zip(statement.columns, row, strict=True))
                    tool, code = values[TOOL_ID], values[TOOL_CODE]
                    if isinstance(tool, Number) and isinstance(code, str):
                        yield tool.text, code


@dataclass
class _Reading:
    tables: dict[str, list[FileRow]] = field(default_factory=dict)
    notes: list[Note] = field(default_factory=list)
    codes: Mapping[str, str] = field(default_factory=dict)

    def take(self, statement: SeedStatement) -> None:
        """Add the rows of a statement, or the reason of its refusal."""
        where = f"line {statement.line}"
        if statement.is_cleanup and statement.table not in self.tables:
            self.notes.append(Note(where, f"Emptying {statement.table} is skipped: existing rows stay."))
            return
        if problem := statement.problem or _explain_unknown_table(statement.table):
            self.notes.append(Note(where, problem, refused=not statement.idle))
            return
        if statement.unless_there or statement.is_upsert:
            self.notes.append(Note(where, _UNLESS_THERE if statement.unless_there else _UPSERT))
        for number, row in enumerate(statement.rows, 1):
            position = where if len(statement.rows) == 1 else f"{where}, row {number}"
            self._take_row(statement, row, f"{position} ({table_title(statement.table)})")

    def _take_row(self, statement: SeedStatement, row: Sequence[Literal] | UnreadableRow, where: str) -> None:
        try:
            if isinstance(row, UnreadableRow):
                raise ValueRefused(row.problem)
            read = self._read_row(statement.table, dict(zip(statement.columns, row, strict=True)), where)
            self._convert_sql_template(read, where)
        except ValueRefused as error:
            self.notes.append(Note(where, str(error), refused=True))
        else:
            self.tables.setdefault(statement.table, []).append(FileRow(read, where, is_upsert=statement.is_upsert))

    def _read_row(self, table: str, values: Mapping[str, Literal], where: str) -> dict[str, Json]:
        """A row as files have it, and notes about what is read otherwise than written. Raises ValueRefused."""
        columns, row_values = list_file_columns(table), dict[str, Json]()
        for written, literal in values.items():
            name = self._resolve_column(table, _RENAMED.get((table, written), written), literal, row_values, where)
            if name is None or literal is DEFAULT:
                continue
            if name not in columns:
                hint = suggest_column(table, written, columns)
                raise ValueRefused(f"{table_title(table)} have no column {written}.{hint}")
            if name != written:
                self.notes.append(Note(where, f"The column {written} is read as {name}."))
            if literal is not NOW:
                row_values[name] = self._read_value(table, name, columns[name], literal, where)
            elif name not in STAMPS:
                raise ValueRefused(f"{name}: now() is not allowed for this column.")
        if path := _rename_context_path(row_values):
            self.notes.append(Note(where, f"match_pattern: {row_values['match_pattern']!r} is read as {path!r}."))
            row_values["match_pattern"] = path
        if any(_is_post_response(table, name, literal) for name, literal in values.items()):
            row_values["enabled"] = False
            self.notes.append(Note(where, _POST_RESPONSE))
        return {**dict.fromkeys(_list_blank_scopes(table, row_values)), **row_values}

    def _convert_sql_template(self, values: dict[str, Json], where: str) -> None:
        """`{{table}}` is `${table}` here, and one list of identifiers becomes a list for each name of the template."""
        sql, listed = values.get("sql_template"), values.get("allowed_identifiers")
        if isinstance(sql, str) and (renamed := _BRACED_NAME.sub(r"${\1}", sql)) != sql:
            values["sql_template"] = renamed
            self.notes.append(Note(where, f"sql_template: names in braces are read as ${{name}}: {renamed}"))
        if isinstance(listed, list):
            names = sorted(sql_guard.identifiers(str(values.get("sql_template") or "")))
            values["allowed_identifiers"] = dict.fromkeys(names, listed) or None
            shown = ", ".join(names) or "no name of the template, which has none"
            self.notes.append(Note(where, f"allowed_identifiers: the list is read as that of {shown}."))

    def _resolve_column(
        self, table: str, name: str, literal: Literal, values: dict[str, Json], where: str
    ) -> str | None:
        """The name of the column. Returns None if it is ignored, or was added to `values` under another name.

        Raises ValueRefused for a tool that the file does not have.
        """
        columns = list_file_columns(table)
        if table in TOOL_PARTS and name == TOOL_ID:
            if isinstance(literal, ToolReference):
                code: str | None = literal.code
            else:
                code = self.codes.get(literal.text) if isinstance(literal, Number) else None
            if code is None:
                raise ValueRefused(
                    "tool_id: the file has no tool with this number. Use tool_code with the code of the tool."
                )
            values[TOOL_CODE] = code
            return None
        if name in columns:
            return name
        if name == ROW_TYPE_OF[table].key:
            return None
        if name in STAMPS:
            self.notes.append(Note(where, f"{name} is ignored, because the history records it."))
            return None
        return name

    def _read_value(self, table: str, name: str, column: Any, literal: Literal, where: str) -> Json:
        """A literal as the column needs it. Notes what users should know."""
        if literal is None:
            return None
        written = literal.text if isinstance(literal, Number) else literal
        text = str(written).lower() if isinstance(written, bool) else _rename_value(table, name, str(written))
        try:
            value = parse_text(column, text)
        except ValueRefused as error:
            raise ValueRefused(f"{name}: {error}") from None
        if _changes_value(column, literal, value):
            self.notes.append(Note(where, f"{name}: {written!r} is read as {value!r}."))
        return value


def _list_blank_scopes(table: str, values: Mapping[str, Json]) -> list[str]:
    """The scope columns that an INSERT leaves out: they are blank, as an explicit null is."""
    model: Any = control_plane()[table]
    columns = list_file_columns(table) if model.is_scoped else {}
    return [
        name for name in SCOPE if name in columns and name not in values and get_default(columns[name]) in ("", None)
    ]


def _changes_value(column: Any, literal: Literal, value: Json) -> bool:
    """True if the value itself differs from the literal, not only its notation."""
    if isinstance(column, (models.JSONField, models.DateTimeField)):
        return False
    if isinstance(literal, Number):
        return isinstance(value, bool)
    return type(literal) is not type(value) or literal != value


def _explain_unknown_table(table: str) -> str | None:
    if table in ROW_TYPE_OF:
        return None
    if table.startswith(_LATER):
        return f"{table} belongs to semantic queries, which this installation does not support."
    if table.startswith("ce_"):
        return f"{table} is not a table of the configuration.{suggest_table(table)}"
    return f"{table} is not a table of this installation.{suggest_table(table)}"
