"""INSERT statements of seed SQL as rows of literals.

A parser reads the text; it never reaches a database. Only a list of constructs is allowed, so nothing in a file can
run.
"""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import sqlglot
from sqlglot import Dialect, Token, TokenType, exp
from sqlglot.errors import SqlglotError

from config_admin.transfer.document import FileRefused
from config_admin.transfer.natural_keys import TOOL, TOOL_CODE, TOOL_ID
from convengine.engine.text.compare import shorten_line
from convengine.engine.turn.rows import ROW_TYPE_OF

#: Columns of the original that the history has here, or ids that a name replaces.
STAMPS = frozenset({"created_at", "updated_at", "updated_by"})
#: How a file is read; with names in backticks, as MySQL does.
_DIALECT, _BACKTICKS = "postgres", "mysql"
_HAS_BACKTICKS = re.compile(r"\bINTO\s+`", re.IGNORECASE)
_SHOWN = 60
_TOO_DEEP = "brackets, signs or casts are nested too deeply."
#: Statements without rows that can be ignored wherever they stand.
_IDLE = frozenset({"BEGIN", "COMMIT", "START", "END", "SET", "PRAGMA", "LOCK", "UNLOCK", "ANALYZE"})
#: Queries that only set the next id of a table, or a setting of the session.
_IDLE_QUERY = re.compile(r"SELECT\s+(?:pg_catalog\s*\.\s*)?(?:setval|set_config)\s*\(", re.IGNORECASE)
#: Statements that empty tables before their rows.
_CLEANUP = frozenset({"DELETE", "TRUNCATE"})
_DELETED = re.compile(
    r"(?:DELETE\s+FROM|TRUNCATE(?:\s+TABLE)?)\s+(?:ONLY\s+)?(?:\"?\w+\"?\s*\.\s*)?\"?(?P<table>\w+)", re.IGNORECASE
)
#: `x = VALUES(x)` in MySQL's ON DUPLICATE KEY UPDATE.
_OWN_VALUE = re.compile(r"\s*`?(\w+)`?\s*=\s*VALUES\s*\(\s*`?\1`?\s*\)\s*", re.IGNORECASE)
#: The parts of UNION ALL; with another one, such as LIMIT, it has other rows.
_UNION = ("this", "expression")
#: Functions of other databases that return the current time, or their argument.
_TIMES = frozenset({"DATETIME", "NOW", "SYSDATE", "SYSTIMESTAMP", "GETDATE", "LOCALTIMESTAMP"})
_WRAPPERS = frozenset({"TO_CLOB", "TO_NCLOB", "JSON"})


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


@dataclass(frozen=True)
class ToolReference:
    """The id of the tool with this code, which the file looks up by a query."""

    code: str


#: A literal: text, number, boolean, null, NOW, DEFAULT, or the id of a tool.
Literal = str | Number | bool | _Marker | ToolReference | None


@dataclass(frozen=True)
class UnreadableRow:
    """A row that is refused because of one of its values."""

    problem: str


@dataclass(frozen=True)
class SeedStatement:
    """One statement: rows of a table, or why it is refused."""

    line: int
    table: str = ""
    columns: Sequence[str] = ()
    rows: Sequence[Sequence[Literal] | UnreadableRow] = ()
    #: Why it is refused, or blank.
    problem: str = ""
    #: True when it has no rows and can be ignored: BEGIN, COMMIT, SET.
    idle: bool = False
    #: It empties `table`, which can be ignored before the rows of the table.
    is_cleanup: bool = False
    #: It leaves existing rows as they are: ON CONFLICT DO NOTHING, WHERE NOT EXISTS.
    unless_there: bool = False
    #: It replaces existing rows: ON CONFLICT DO UPDATE, INSERT OR REPLACE, ON DUPLICATE KEY UPDATE.
    is_upsert: bool = False


class _Unparsable(ValueError):
    """Why a statement is refused."""


def parse_statements(text: str) -> Iterator[SeedStatement]:
    """The statements of a file in order. Raises FileRefused when the text cannot be split into statements."""
    dialect = _BACKTICKS if _HAS_BACKTICKS.search(text) else _DIALECT
    for tokens in _split_statements(text, dialect):
        line, source = tokens[0].line, text[tokens[0].start : tokens[-1].end + 1]
        shown, word = shorten_line(source, _SHOWN), tokens[0].text.upper()
        if word in _IDLE or _IDLE_QUERY.match(source):
            yield SeedStatement(line, problem=f"{shown} contains no rows.", idle=True)
            continue
        if word in _CLEANUP and (deleted := _DELETED.match(source)):
            problem = f"{shown}: {word} is not supported after rows of the same table."
            yield SeedStatement(line, deleted["table"].lower(), problem=problem, is_cleanup=True)
            continue
        try:
            yield _parse_statement(source, line, _find_duplicate_clause(tokens), dialect)
        except _Unparsable as error:
            yield SeedStatement(line, problem=f"{shown}: {error}")


def _split_statements(text: str, dialect: str) -> Iterator[list[Token]]:
    try:
        tokens = Dialect.get_or_raise(dialect).tokenize(text)
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


def _find_duplicate_clause(tokens: Sequence[Token]) -> int | None:
    """The offset of ON DUPLICATE KEY UPDATE in the statement. Returns None if there is none."""
    words = [token.text.upper() for token in tokens]
    for number in range(len(words) - 3):
        if words[number : number + 4] == ["ON", "DUPLICATE", "KEY", "UPDATE"]:
            return tokens[number].start - tokens[0].start
    return None


def _parse_statement(source: str, line: int, duplicate: int | None, dialect: str) -> SeedStatement:
    replaced = re.match(r"REPLACE\s+(?=INTO\b)", source, re.IGNORECASE)
    if replaced:
        source = f"INSERT {source[replaced.end() :]}"
    if not source[:6].upper() == "INSERT":
        raise _Unparsable("only INSERT is supported. Change rows after the import.")
    if duplicate is not None:
        _check_own_values(source[duplicate:])
        source = source[:duplicate]
    try:
        insert = sqlglot.parse_one(source, dialect=dialect)
    except RecursionError:
        raise _Unparsable(f"this is not valid SQL: {_TOO_DEEP}") from None
    except SqlglotError as error:
        raise _Unparsable(f"this is not valid SQL: {str(error).splitlines()[0]}") from None
    if not isinstance(insert, exp.Insert):
        raise _Unparsable("only INSERT is supported.")
    table, columns = _parse_target(insert)
    conflict = _read_conflict(insert)
    rows, is_conditional = _list_rows(insert.expression, table)
    return SeedStatement(
        line,
        table,
        columns,
        [_parse_row(row, table, columns) for row in rows],
        unless_there=conflict == "NOTHING" or is_conditional,
        is_upsert=conflict == "UPDATE" or duplicate is not None or replaced is not None,
    )


def _check_own_values(clause: str) -> None:
    """Raises _Unparsable when ON DUPLICATE KEY UPDATE stores anything but the values of the row."""
    assignments = re.split(r"\bUPDATE\b", clause, maxsplit=1, flags=re.IGNORECASE)[1].split(",")
    if not all(_OWN_VALUE.fullmatch(each) or each.split("=")[0].strip(" `\n") in STAMPS for each in assignments):
        raise _Unparsable("ON DUPLICATE KEY UPDATE may only take the values of the row: x = VALUES(x).")


def _parse_target(insert: exp.Insert) -> tuple[str, list[str]]:
    parts = {name.strip("_") for name, part in insert.args.items() if part}
    if more := parts - {"this", "expression", "conflict", "alternative", "ignore"}:
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


def _read_conflict(insert: exp.Insert) -> str:
    """What happens to existing rows: UPDATE, NOTHING, or blank for an error."""
    alternative = str(insert.args.get("alternative") or "").upper()
    conflict = insert.args.get("conflict")
    if insert.args.get("ignore"):
        return "NOTHING"
    if conflict is None:
        return {"REPLACE": "UPDATE", "IGNORE": "NOTHING"}.get(alternative, "")
    action = str(conflict.args.get("action")).upper()
    assignments = conflict.args.get("expressions") or ()
    if action == "DO NOTHING" and not assignments:
        return "NOTHING"
    if action != "DO UPDATE" or conflict.args.get("where") or not all(map(_takes_own_value, assignments)):
        raise _Unparsable(
            "ON CONFLICT may only DO NOTHING, or DO UPDATE with the values of the row: SET x = EXCLUDED.x."
        )
    return "UPDATE"


def _takes_own_value(assignment: exp.Expression) -> bool:
    if not isinstance(assignment, exp.EQ) or not isinstance(assignment.this, exp.Column):
        return False
    name, value = assignment.this.name.lower(), assignment.expression
    if name in STAMPS:
        return True
    return isinstance(value, exp.Column) and value.table.upper() == "EXCLUDED" and value.name.lower() == name


class _Row:
    """The values of a row, and the code of the tool that its query looks up, if any."""

    def __init__(self, values: Sequence[exp.Expression], tool: str | None = None) -> None:
        self.values, self.tool = values, tool


def _list_rows(source: Any, target: str) -> tuple[Sequence[_Row], bool]:
    """The rows of VALUES, or of queries of literals; and whether a condition leaves existing rows as they are."""
    if isinstance(source, exp.Values) and all(isinstance(row, exp.Tuple) for row in source.expressions):
        return [_Row(row.expressions) for row in source.expressions], False
    if isinstance(source, exp.Union) and not any(part for name, part in source.args.items() if name not in _UNION):
        (left, left_condition), (right, right_condition) = (
            _list_rows(source.left, target),
            _list_rows(source.right, target),
        )
        return [*left, *right], left_condition or right_condition
    if isinstance(source, exp.Select):
        return _read_query(source, target)
    raise _Unparsable("only VALUES with lists of values is supported, not a query.")


def _read_query(query: exp.Select, target: str = "") -> tuple[Sequence[_Row], bool]:
    """`SELECT 'a', 1 WHERE NOT EXISTS (…)`, `SELECT tool_id, 'a' FROM ce_mcp_tool WHERE tool_code = 'x'`, and
    `SELECT MAX(id) + 1, 'a' FROM` the table itself, which gives one row.
    """
    refused = _Unparsable("only VALUES with lists of values is supported, not a query.")
    parts = {name.strip("_") for name, part in query.args.items() if part}
    if parts - {"expressions", "from", "where", "kind"}:
        raise refused
    conditions = _list_conditions(query)
    others = [each for each in conditions if not (isinstance(each, exp.Not) and isinstance(each.this, exp.Exists))]
    table = _find_table(query)
    tool = _read_tool_condition(others) if table in _TOOL_NAMES else None
    counts_up = table == target and any(_is_next_id(each) for each in query.expressions)
    is_one_row = table in (None, "dual") or counts_up
    if tool is None and (others or not is_one_row):
        raise refused
    return [_Row([each.unalias() for each in query.expressions], tool)], len(others) < len(conditions)


def _list_conditions(query: exp.Select) -> list[Any]:
    where = query.args.get("where")
    if not where:
        return []
    joined = where.this.flatten() if isinstance(where.this, exp.And) else (where.this,)
    return [each.unnest() for each in joined]


def _find_table(query: exp.Select) -> str | None:
    """The table of FROM; blank for anything else there. Returns None without a FROM."""
    source = query.args.get("from_") or query.args.get("from")
    if not source:
        return None
    return source.this.name.lower() if isinstance(source.this, exp.Table) else ""


def _is_next_id(value: exp.Expression) -> bool:
    """True for `COALESCE(MAX(id), 0) + 1`."""
    return value.find(exp.Max) is not None and value.find(exp.Anonymous, exp.Subquery) is None


_TOOL_NAMES = (TOOL, TOOL.replace("_mcp_", "_agent_"))


def _read_tool_condition(conditions: Sequence[Any]) -> str | None:
    """The code of `tool_code = 'x'`, if that is the only condition."""
    match conditions:
        case [exp.EQ(this=exp.Column() as column, expression=exp.Literal() as literal)]:
            return str(literal.this) if column.name.lower() == TOOL_CODE and literal.is_string else None
    return None


def _parse_row(row: _Row, table: str, columns: Sequence[str]) -> list[Literal] | UnreadableRow:
    if len(row.values) != len(columns):
        return UnreadableRow(f"{len(columns)} columns and {len(row.values)} values do not match.")
    literals = []
    for column, value in zip(columns, row.values, strict=True):
        try:
            literals.append(_parse_value(value, table, column, row.tool))
        except RecursionError:
            return UnreadableRow(f"{column}: {_TOO_DEEP}")
        except _Unparsable:
            return UnreadableRow(f"{column}: {shorten_line(value.sql(_DIALECT), _SHOWN)} is not a plain value.")
    return literals


def _parse_value(value: exp.Expression, table: str, column: str, tool: str | None) -> Literal:
    if table in ROW_TYPE_OF and column == ROW_TYPE_OF[table].key and _is_next_id(value):
        return DEFAULT
    return _parse_tool_id(value, tool) if column == TOOL_ID else _parse_literal(value)


def _parse_tool_id(value: exp.Expression, tool: str | None) -> Literal:
    """A literal, or the id of a tool that a query looks up by its code."""
    if tool is not None and isinstance(value, exp.Column) and value.name.lower() == TOOL_ID:
        return ToolReference(tool)
    if isinstance(value, exp.Subquery) and isinstance(value.this, exp.Select):
        [row], _ = _read_query(value.this)
        return _parse_tool_id(row.values[0], row.tool)
    return _parse_literal(value)


def _parse_literal(value: exp.Expression) -> Literal:
    match value:
        case exp.Cast() | exp.Paren():
            # The column's type decides, not the cast.
            return _parse_literal(value.this)
        case exp.Neg() if isinstance(number := _parse_literal(value.this), Number):
            return Number(f"-{number.text}")
        case exp.Literal():
            return value.this if value.is_string else Number(value.this)
        case exp.ByteString() | exp.RawString() | exp.National():
            return str(value.this)
        case exp.DPipe():
            return _join_texts(list(value.flatten()))
        case exp.BitString():
            return Number(str(int(value.this, 2)))
        case exp.Concat():
            # 'one'
            # 'text'
            return _join_texts(value.expressions, skips_null=bool(value.args.get("coalesce")))
        case exp.Boolean():
            return bool(value.this)
        case exp.Null():
            return None
        case exp.CurrentTimestamp():
            return NOW
        case exp.Var() if value.name.upper() == "DEFAULT":
            return DEFAULT
    return _parse_function(value)


def _join_texts(parts: Sequence[Any], *, skips_null: bool = False) -> str | None:
    """Texts and numbers as one text.

    Returns None if one of them is null. `skips_null`: CONCAT of PostgreSQL leaves it out.
    """
    literals = [literal for part in parts if (literal := _parse_literal(part)) is not None or not skips_null]
    texts = [literal.text if isinstance(literal, Number) else literal for literal in literals]
    if any(text is None for text in texts):
        return None
    if not all(isinstance(text, str) for text in texts):
        raise _Unparsable
    return "".join(str(text) for text in texts)


def _parse_function(value: exp.Expression) -> Literal:
    """CHR(10), TO_CLOB('…') and the time functions of other databases."""
    match value:
        case exp.Chr(expressions=[code]) if isinstance(number := _parse_literal(code), Number):
            if re.fullmatch(r"[0-9]{1,5}", number.text) and 0 < int(number.text) < 0xD800:
                return chr(int(number.text))
        case exp.Anonymous(expressions=[wrapped]) if str(value.this).upper() in _WRAPPERS:
            return _parse_literal(wrapped)
        case exp.Anonymous() if str(value.this).upper() in _TIMES:
            if all(isinstance(part, exp.Literal) and part.this == "now" for part in value.expressions):
                return NOW
        case exp.Column() if value.name.upper() in _TIMES:
            return NOW
    raise _Unparsable
