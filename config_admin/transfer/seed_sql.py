"""Seed SQL of the original: its INSERT statements as rows, and a report of conversions and refusals.

Nothing is run (`config_admin.transfer.sql_statements`). Rows are imported like any others.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from django.db import models

from config_admin.transfer.document import Document, FileRow, Mode, Note
from config_admin.transfer.natural_keys import TOOL, TOOL_CODE, TOOL_ID, TOOL_PARTS, file_columns
from config_admin.transfer.sql_statements import DEFAULT, NOW, Literal, Number, Statement, statements
from config_admin.transfer.value_conversion import from_text
from config_admin.transfer.values import ValueRefused
from config_admin.validation.wording import did_you_mean
from convengine.engine.turn.rows import ROW_TYPE_OF
from convengine.scenarios.tables import RENAMED

Json = Any
#: Columns of the original that the history has here, or ids that a name replaces.
_STAMPS = frozenset({"created_at", "updated_at", "updated_by"})
_LATER = "ce_semantic_"


def read(text: str) -> Document:
    """The rows of a file of statements. Raises FileRefused when it cannot be parsed."""
    found = _Reading()
    parsed = list(statements(text))
    found.codes = dict(_tools(parsed))
    for statement in parsed:
        found.take(statement)
    return Document(found.tables, Mode.ADD, found.notes)


def _tools(parsed: list[Statement]) -> Iterator[tuple[str, str]]:
    """Ids of the file's tools with their codes: parts of tools refer to tools by id there, by code here."""
    for statement in parsed:
        if statement.table == TOOL and {TOOL_ID, TOOL_CODE} <= set(statement.columns):
            for row in statement.rows:
                values = dict(zip(statement.columns, row, strict=True))
                tool, code = values[TOOL_ID], values[TOOL_CODE]
                if isinstance(tool, Number) and isinstance(code, str):
                    yield tool.text, code


@dataclass
class _Reading:
    """What was read so far."""

    tables: dict[str, list[FileRow]] = field(default_factory=dict)
    notes: list[Note] = field(default_factory=list)
    codes: Mapping[str, str] = field(default_factory=dict)

    def take(self, statement: Statement) -> None:
        """Add the rows of a statement, or the reason of its refusal."""
        where = f"line {statement.line}"
        if problem := statement.problem or _no_table(statement.table):
            self.notes.append(Note(where, problem, refused=not statement.idle))
            return
        if statement.unless_there:
            text = (
                "ON CONFLICT DO NOTHING is ignored: existing rows are changed to the content of the file. "
                "See the changes."
            )
            self.notes.append(Note(where, text))
        for number, row in enumerate(statement.rows, 1):
            place = where if len(statement.rows) == 1 else f"{where}, row {number}"
            values = dict(zip(statement.columns, row, strict=True))
            try:
                read = self._row(statement.table, values, f"{place} ({statement.table})")
            except ValueRefused as error:
                self.notes.append(Note(f"{place} ({statement.table})", str(error), refused=True))
                continue
            self.tables.setdefault(statement.table, []).append(FileRow(read, f"{place} ({statement.table})"))

    def _row(self, table: str, values: Mapping[str, Literal], where: str) -> dict[str, Json]:
        columns, found = file_columns(table), dict[str, Json]()
        for written, literal in values.items():
            name = self._resolve_column(table, RENAMED.get((table, written), written), literal, found, where)
            if name is None or literal is DEFAULT:
                continue
            if name not in columns:
                raise ValueRefused(f"{table} has no column {written}.{did_you_mean(written, columns)}")
            if name != written:
                self.notes.append(Note(where, f"{written} is {name} here."))
            if literal is not NOW:
                found[name] = self._value(name, columns[name], literal, where)
            elif name not in _STAMPS:
                raise ValueRefused(f"{name}: now() is not allowed for this column.")
        return found

    def _resolve_column(
        self, table: str, name: str, literal: Literal, found: dict[str, Json], where: str
    ) -> str | None:
        """The name of the column, or null if it is ignored."""
        columns = file_columns(table)
        if table in TOOL_PARTS and name == TOOL_ID:
            code = self.codes.get(literal.text) if isinstance(literal, Number) else None
            if code is None:
                raise ValueRefused(
                    "tool_id: the file has no tool with this number. Use tool_code with the code of the tool."
                )
            found[TOOL_CODE] = code
            return None
        if name in columns:
            return name
        if name == ROW_TYPE_OF[table].key:
            return None
        if name in _STAMPS:
            self.notes.append(Note(where, f"{name} is ignored, because the history records it."))
            return None
        return name

    def _value(self, name: str, column: Any, literal: Literal, where: str) -> Json:
        """A literal as the column needs it. Notes what users should know."""
        if literal is None:
            return None
        written = literal.text if isinstance(literal, Number) else literal
        text = str(written).lower() if isinstance(written, bool) else str(written)
        try:
            value = from_text(column, text)
        except ValueRefused as error:
            raise ValueRefused(f"{name}: {error}") from None
        if _changes_value(column, literal, value):
            self.notes.append(Note(where, f"{name}: {written!r} is {value!r} here."))
        return value


def _changes_value(column: Any, literal: Literal, value: Json) -> bool:
    """True if the value itself differs from the literal, not only its notation."""
    if isinstance(column, (models.JSONField, models.DateTimeField)):
        return False
    if isinstance(literal, Number):
        return isinstance(value, bool)
    return type(literal) is not type(value) or literal != value


def _no_table(table: str) -> str | None:
    if table in ROW_TYPE_OF:
        return None
    if table.startswith(_LATER):
        return f"{table} belongs to semantic queries, which this installation does not support."
    if table.startswith("ce_"):
        return f"{table} is not a table of the configuration.{did_you_mean(table, ROW_TYPE_OF)}"
    return f"{table} is not a table of this installation.{did_you_mean(table, ROW_TYPE_OF)}"
