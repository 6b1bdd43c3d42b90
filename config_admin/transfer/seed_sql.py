"""Seed SQL of the original: its INSERT statements as rows, and a report of conversions and refusals.

A parser reads the text; it never reaches a database. Only a list of constructs is allowed, so nothing in a file can
run. Rows are imported like any others.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from django.db import models

from config_admin.editing.links import table_title
from config_admin.transfer.document import Document, FileRefused, FileRow, Mode, Note
from config_admin.transfer.natural_keys import TOOL, TOOL_CODE, TOOL_ID, TOOL_PARTS, list_file_columns
from config_admin.transfer.values import ValueRefused, parse_text
from convengine.engine.text.compare import shorten_line
from convengine.engine.text.wording import did_you_mean
from convengine.engine.turn.rows import ROW_TYPE_OF
from convengine.scenarios.tables import RENAMED

if TYPE_CHECKING:
    from sqlglot import Token, exp

Json = Any
#: Columns of the original that the history has here, or ids that a name replaces.
_STAMPS = frozenset({"created_at", "updated_at", "updated_by"})
_LATER = "ce_semantic_"
_DIALECT = "postgres"
_SHOWN = 60
_TOO_DEEP = "brackets, signs or casts are nested too deeply."


class _Marker:
    """A value that is not a literal but is supported."""

    def __init__(self, text: str) -> None:
        self.text = text

    def __repr__(self) -> str:
        return self.text


NOW, DEFAULT = _Marker("now()"), _Marker("DEFAULT")


@dataclass(frozen=True)
class Number:
    """A number as it is written, so that no digit is lost before its column is known."""

    text: str


#: A literal: text, number, boolean, null, NOW or DEFAULT.
Literal = str | Number | bool | _Marker | None


@dataclass(frozen=True)
class Statement:
    """One statement: rows of a table, or why it is refused."""

    line: int
    table: str = ""
    columns: Sequence[str] = ()
    rows: Sequence[Sequence[Literal]] = ()
    #: Why it is refused, or blank.
    problem: str = ""
    #: True when it has no rows and can be ignored: BEGIN, COMMIT.
    idle: bool = False
    #: It has ON CONFLICT DO NOTHING.
    unless_there: bool = False


class _Unparsable(ValueError):
    """Why a statement is refused."""


def parse_statements(text: str) -> Iterator[Statement]:
    """The statements of a file in order. Raises FileRefused when the text cannot be split into statements."""
    for tokens in _split_statements(text):
        line, source = tokens[0].line, text[tokens[0].start : tokens[-1].end + 1]
        if tokens[0].text.upper() in ("BEGIN", "COMMIT", "START", "END"):
            yield Statement(line, problem=f"{shorten_line(source, _SHOWN)} contains no rows.", idle=True)
            continue
        try:
            yield _parse_statement(source, line)
        except _Unparsable as error:
            yield Statement(line, problem=f"{shorten_line(source, _SHOWN)}: {error}")


def _split_statements(text: str) -> "Iterator[list[Token]]":
    from sqlglot import TokenType
    from sqlglot.dialects.postgres import Postgres
    from sqlglot.errors import SqlglotError

    try:
        tokens = Postgres.Tokenizer().tokenize(text)
    except SqlglotError as error:
        raise FileRefused("The file", f"the file is not valid SQL: {shorten_line(error, _SHOWN)}") from None
    statement: list[Token] = []
    for token in tokens:
        if token.token_type is not TokenType.SEMICOLON:
            statement.append(token)
        elif statement:
            yield statement
            statement = []
    if statement:
        yield statement


def _parse_statement(source: str, line: int) -> Statement:
    import sqlglot
    from sqlglot import exp
    from sqlglot.errors import SqlglotError

    if not source[:6].upper() == "INSERT":
        raise _Unparsable("only INSERT is supported.")
    try:
        insert = sqlglot.parse_one(source, dialect=_DIALECT)
    except (SqlglotError, RecursionError) as error:
        raise _Unparsable(f"this is not valid SQL: {_first_line(error)}") from None
    if not isinstance(insert, exp.Insert):
        raise _Unparsable("only INSERT is supported.")
    table, columns = _parse_target(insert)
    return Statement(
        line,
        table,
        columns,
        [_parse_row(row, columns) for row in _list_row_tuples(insert)],
        unless_there=_skips_existing_rows(insert),
    )


def _parse_target(insert: "exp.Insert") -> tuple[str, list[str]]:
    from sqlglot import exp

    parts = {name.strip("_") for name, part in insert.args.items() if part}
    if more := parts - {"this", "expression", "conflict"}:
        raise _Unparsable(f"this statement contains more than rows: {', '.join(sorted(more))}.")
    schema = insert.this
    if not isinstance(schema, exp.Schema) or not isinstance(schema.this, exp.Table):
        raise _Unparsable("the column names are missing. Add them after the table name.")
    if schema.this.args.get("alias"):
        raise _Unparsable("the table has an alias. Remove it.")
    columns = [part.name.lower() for part in schema.expressions]
    if len(set(columns)) != len(columns):
        raise _Unparsable("a column occurs twice.")
    return schema.this.name.lower(), columns


def _skips_existing_rows(insert: "exp.Insert") -> bool:
    conflict = insert.args.get("conflict")
    if conflict is None:
        return False
    if str(conflict.args.get("action")).upper() != "DO NOTHING" or conflict.args.get("expressions"):
        raise _Unparsable("ON CONFLICT only supports DO NOTHING.")
    return True


def _list_row_tuples(insert: "exp.Insert") -> "Sequence[exp.Tuple]":
    from sqlglot import exp

    values = insert.expression
    if not isinstance(values, exp.Values) or not all(isinstance(row, exp.Tuple) for row in values.expressions):
        raise _Unparsable("only VALUES with lists of values is supported, not a query.")
    rows: Sequence[exp.Tuple] = values.expressions
    return rows


def _parse_row(row: "exp.Tuple", columns: Sequence[str]) -> list[Literal]:
    if len(row.expressions) != len(columns):
        raise _Unparsable(f"{len(columns)} columns and {len(row.expressions)} values do not match.")
    literals = []
    for column, value in zip(columns, row.expressions, strict=True):
        try:
            literals.append(_parse_literal(value))
        except RecursionError:
            raise _Unparsable(f"{column}: {_TOO_DEEP}") from None
        except _Unparsable:
            raise _Unparsable(f"{column}: {shorten_line(value.sql(_DIALECT), _SHOWN)} is not a plain value.") from None
    return literals


def _parse_literal(value: "exp.Expression") -> Literal:
    from sqlglot import exp

    if isinstance(value, (exp.Cast, exp.Paren)):
        # The column's type decides, not the cast.
        return _parse_literal(value.this)
    if isinstance(value, exp.Neg):
        number = _parse_literal(value.this)
        if isinstance(number, Number):
            return Number(f"-{number.text}")
    if isinstance(value, exp.Literal):
        return value.this if value.is_string else Number(value.this)
    if isinstance(value, (exp.ByteString, exp.RawString, exp.National)):
        return str(value.this)
    if isinstance(value, exp.Concat) and all(isinstance(part, exp.Literal) for part in value.expressions):
        # 'one'
        # 'text'
        return "".join(part.this for part in value.expressions)
    if isinstance(value, exp.Boolean):
        return bool(value.this)
    for kind, meaning in _map_literals().items():
        if isinstance(value, kind):
            return meaning
    if isinstance(value, exp.Var) and value.name.upper() == "DEFAULT":
        return DEFAULT
    raise _Unparsable


def _map_literals() -> "Mapping[type[Any], Literal]":
    from sqlglot import exp

    return {exp.Null: None, exp.CurrentTimestamp: NOW}


def _first_line(error: BaseException) -> str:
    if isinstance(error, RecursionError):
        return _TOO_DEEP
    return str(error).splitlines()[0]


def read_seed_sql(text: str) -> Document:
    """The rows of a file of statements. Raises FileRefused when it cannot be parsed."""
    reading = _Reading()
    parsed = list(parse_statements(text))
    reading.codes = dict(_list_tools(parsed))
    for statement in parsed:
        reading.take(statement)
    return Document(reading.tables, Mode.ADD, reading.notes)


def _list_tools(parsed: list[Statement]) -> Iterator[tuple[str, str]]:
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
        if problem := statement.problem or _explain_unknown_table(statement.table):
            self.notes.append(Note(where, problem, refused=not statement.idle))
            return
        if statement.unless_there:
            text = (
                "ON CONFLICT DO NOTHING is ignored: existing rows are changed to the content of the file. "
                "See the changes."
            )
            self.notes.append(Note(where, text))
        for number, row in enumerate(statement.rows, 1):
            position = where if len(statement.rows) == 1 else f"{where}, row {number}"
            values = dict(zip(statement.columns, row, strict=True))
            try:
                read = self._row(statement.table, values, f"{position} ({table_title(statement.table)})")
            except ValueRefused as error:
                self.notes.append(Note(f"{position} ({table_title(statement.table)})", str(error), refused=True))
                continue
            self.tables.setdefault(statement.table, []).append(
                FileRow(read, f"{position} ({table_title(statement.table)})")
            )

    def _row(self, table: str, values: Mapping[str, Literal], where: str) -> dict[str, Json]:
        columns, row_values = list_file_columns(table), dict[str, Json]()
        for written, literal in values.items():
            name = self._resolve_column(table, RENAMED.get((table, written), written), literal, row_values, where)
            if name is None or literal is DEFAULT:
                continue
            if name not in columns:
                raise ValueRefused(f"{table_title(table)} have no column {written}.{did_you_mean(written, columns)}")
            if name != written:
                self.notes.append(Note(where, f"The column {written} is read as {name}."))
            if literal is not NOW:
                row_values[name] = self._value(name, columns[name], literal, where)
            elif name not in _STAMPS:
                raise ValueRefused(f"{name}: now() is not allowed for this column.")
        return row_values

    def _resolve_column(
        self, table: str, name: str, literal: Literal, values: dict[str, Json], where: str
    ) -> str | None:
        """The name of the column, or null if it is ignored."""
        columns = list_file_columns(table)
        if table in TOOL_PARTS and name == TOOL_ID:
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
            value = parse_text(column, text)
        except ValueRefused as error:
            raise ValueRefused(f"{name}: {error}") from None
        if _changes_value(column, literal, value):
            self.notes.append(Note(where, f"{name}: {written!r} is read as {value!r}."))
        return value


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
        return f"{table} is not a table of the configuration.{did_you_mean(table, ROW_TYPE_OF)}"
    return f"{table} is not a table of this installation.{did_you_mean(table, ROW_TYPE_OF)}"
