"""Seed SQL of the original: its INSERT statements as rows of ours, and a report of what was said anew or refused.

Nothing is run (`config_admin.transfer.sql_statements`). Rows go the way of every import: placed, judged together, and
made one release or none.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from django.db import models

from config_admin.transfer.document import Document, FileRow, Mode, Note
from config_admin.transfer.naming import TOOL, TOOL_CODE, TOOL_ID, TOOL_PARTS, file_columns
from config_admin.transfer.spellings import from_text
from config_admin.transfer.sql_statements import DEFAULT, NOW, Literal, Number, Statement, statements
from config_admin.transfer.values import ValueRefused
from config_admin.validation.wording import did_you_mean
from convengine.domain.rows import ROW_TYPE_OF
from convengine.scenarios.tables import RENAMED

Json = Any
#: Columns of the original that are kept by the history here, or are ids where a name says which row it is.
_STAMPS = frozenset({"created_at", "updated_at", "updated_by"})
_LATER = "ce_semantic_"


def read(text: str) -> Document:
    """The rows of a file of statements. Raises FileRefused when it cannot be taken apart."""
    found = _Reading()
    parsed = list(statements(text))
    found.codes = dict(_tools(parsed))
    for statement in parsed:
        found.take(statement)
    return Document(found.tables, Mode.ADD, found.notes)


def _tools(parsed: list[Statement]) -> Iterator[tuple[str, str]]:
    """Ids of the file's tools with their codes: parts of tools name them by id there, by code here."""
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
        """Add the rows of a statement, or the reason why not."""
        where = f"line {statement.line}"
        if problem := statement.problem or _no_table(statement.table):
            self.notes.append(Note(where, problem, refused=not statement.idle))
            return
        if statement.unless_there:
            text = (
                "ON CONFLICT DO NOTHING: a row of that name that is here becomes what the file says; see the changes."
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
            name = self._named(table, RENAMED.get((table, written), written), literal, found, where)
            if name is None or literal is DEFAULT:
                continue
            if name not in columns:
                raise ValueRefused(f"{table} has no column {written}.{did_you_mean(written, columns)}")
            if name != written:
                self.notes.append(Note(where, f"{written} is {name} here."))
            if literal is not NOW:
                found[name] = self._value(name, columns[name], literal, where)
            elif name not in _STAMPS:
                raise ValueRefused(f"{name}: now() is no value for this column.")
        return found

    def _named(self, table: str, name: str, literal: Literal, found: dict[str, Json], where: str) -> str | None:
        """The name of the column, or null for one that is not taken over."""
        columns = file_columns(table)
        if table in TOOL_PARTS and name == TOOL_ID:
            code = self.codes.get(literal.text) if isinstance(literal, Number) else None
            if code is None:
                raise ValueRefused("tool_id: no tool of this id is in the file; say tool_code and its code instead.")
            found[TOOL_CODE] = code
            return None
        if name in columns:
            return name
        if name == ROW_TYPE_OF[table].key:
            return None
        if name in _STAMPS:
            self.notes.append(Note(where, f"{name} is left out: the history tells it."))
            return None
        return name

    def _value(self, name: str, column: Any, literal: Literal, where: str) -> Json:
        """A literal as the column wants it. What a person would want to know is noted."""
        if literal is None:
            return None
        written = literal.text if isinstance(literal, Number) else literal
        text = str(written).lower() if isinstance(written, bool) else str(written)
        try:
            value = from_text(column, text)
        except ValueRefused as error:
            raise ValueRefused(f"{name}: {error}") from None
        if _said_anew(column, literal, value):
            self.notes.append(Note(where, f"{name}: {written!r} is {value!r} here."))
        return value


def _said_anew(column: Any, literal: Literal, value: Json) -> bool:
    """True where the value is another than the one written, not only another kind of writing it."""
    if isinstance(column, (models.JSONField, models.DateTimeField)):
        return False
    if isinstance(literal, Number):
        return isinstance(value, bool)
    return type(literal) is not type(value) or literal != value


def _no_table(table: str) -> str | None:
    if table in ROW_TYPE_OF:
        return None
    if table.startswith(_LATER):
        return f"{table} belongs to semantic queries, which this installation does not have."
    if table.startswith("ce_"):
        return f"{table} is no table of the configuration.{did_you_mean(table, ROW_TYPE_OF)}"
    return f"{table} is none of this installation's tables.{did_you_mean(table, ROW_TYPE_OF)}"
