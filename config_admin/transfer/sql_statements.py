"""Parse an SQL file: its INSERT statements as plain values, and why other statements are refused.

A parser reads the text; it never reaches a database. Only a list of constructs is allowed, so nothing in a file can
run.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from config_admin.transfer.document import FileRefused
from convengine.engine.text.compare import shorten_line

if TYPE_CHECKING:
    from sqlglot import Token, exp

_DIALECT = "postgres"
_SHOWN = 60
_TOO_DEEP = "brackets, signs or casts are nested too deeply."


class _Mark:
    """A value that is not a literal but is supported."""

    def __init__(self, text: str) -> None:
        self.text = text

    def __repr__(self) -> str:
        return self.text


NOW, DEFAULT = _Mark("now()"), _Mark("DEFAULT")


@dataclass(frozen=True)
class Number:
    """A number as it is written, so that no digit is lost before its column is known."""

    text: str


#: A literal: text, number, boolean, null, NOW or DEFAULT.
Literal = str | Number | bool | _Mark | None


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


class _NotRead(ValueError):
    """Why a statement is refused."""


def statements(text: str) -> Iterator[Statement]:
    """The statements of a file in order. Raises FileRefused when the text cannot be split into statements."""
    for tokens in _split(text):
        line, source = tokens[0].line, text[tokens[0].start : tokens[-1].end + 1]
        if tokens[0].text.upper() in ("BEGIN", "COMMIT", "START", "END"):
            yield Statement(line, problem=f"{shorten_line(source, _SHOWN)} contains no rows.", idle=True)
            continue
        try:
            yield _read(source, line)
        except _NotRead as error:
            yield Statement(line, problem=f"{shorten_line(source, _SHOWN)}: {error}")


def _split(text: str) -> "Iterator[list[Token]]":
    from sqlglot import TokenType
    from sqlglot.dialects.postgres import Postgres
    from sqlglot.errors import SqlglotError

    try:
        tokens = Postgres.Tokenizer().tokenize(text)
    except SqlglotError as error:
        raise FileRefused("The file", f"the file is not valid SQL: {shorten_line(error, _SHOWN)}") from None
    found: list[Token] = []
    for token in tokens:
        if token.token_type is not TokenType.SEMICOLON:
            found.append(token)
        elif found:
            yield found
            found = []
    if found:
        yield found


def _read(source: str, line: int) -> Statement:
    import sqlglot
    from sqlglot import exp
    from sqlglot.errors import SqlglotError

    if not source[:6].upper() == "INSERT":
        raise _NotRead("only INSERT is supported.")
    try:
        found = sqlglot.parse_one(source, dialect=_DIALECT)
    except (SqlglotError, RecursionError) as error:
        raise _NotRead(f"this is not valid SQL: {_first_line(error)}") from None
    if not isinstance(found, exp.Insert):
        raise _NotRead("only INSERT is supported.")
    table, columns = _target(found)
    return Statement(
        line, table, columns, [_row(row, columns) for row in _rows(found)], unless_there=_skips_existing_rows(found)
    )


def _target(found: "exp.Insert") -> tuple[str, list[str]]:
    from sqlglot import exp

    parts = {name.strip("_") for name, part in found.args.items() if part}
    if more := parts - {"this", "expression", "conflict"}:
        raise _NotRead(f"this statement contains more than rows: {', '.join(sorted(more))}.")
    schema = found.this
    if not isinstance(schema, exp.Schema) or not isinstance(schema.this, exp.Table):
        raise _NotRead("the column names are missing. Add them after the table name.")
    if schema.this.args.get("alias"):
        raise _NotRead("the table has an alias. Remove it.")
    columns = [part.name.lower() for part in schema.expressions]
    if len(set(columns)) != len(columns):
        raise _NotRead("a column occurs twice.")
    return schema.this.name.lower(), columns


def _skips_existing_rows(found: "exp.Insert") -> bool:
    conflict = found.args.get("conflict")
    if conflict is None:
        return False
    if str(conflict.args.get("action")).upper() != "DO NOTHING" or conflict.args.get("expressions"):
        raise _NotRead("ON CONFLICT only supports DO NOTHING.")
    return True


def _rows(found: "exp.Insert") -> "Sequence[exp.Tuple]":
    from sqlglot import exp

    values = found.expression
    if not isinstance(values, exp.Values) or not all(isinstance(row, exp.Tuple) for row in values.expressions):
        raise _NotRead("only VALUES with lists of values is supported, not a query.")
    rows: Sequence[exp.Tuple] = values.expressions
    return rows


def _row(row: "exp.Tuple", columns: Sequence[str]) -> list[Literal]:
    if len(row.expressions) != len(columns):
        raise _NotRead(f"{len(columns)} columns and {len(row.expressions)} values do not match.")
    found = []
    for column, value in zip(columns, row.expressions, strict=True):
        try:
            found.append(_literal(value))
        except RecursionError:
            raise _NotRead(f"{column}: {_TOO_DEEP}") from None
        except _NotRead:
            raise _NotRead(f"{column}: {shorten_line(value.sql(_DIALECT), _SHOWN)} is not a plain value.") from None
    return found


def _literal(value: "exp.Expression") -> Literal:
    from sqlglot import exp

    if isinstance(value, (exp.Cast, exp.Paren)):
        # The column's type decides, not the cast.
        return _literal(value.this)
    if isinstance(value, exp.Neg):
        number = _literal(value.this)
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
    for kind, meaning in _meanings().items():
        if isinstance(value, kind):
            return meaning
    if isinstance(value, exp.Var) and value.name.upper() == "DEFAULT":
        return DEFAULT
    raise _NotRead


def _meanings() -> "Mapping[type[Any], Literal]":
    from sqlglot import exp

    return {exp.Null: None, exp.CurrentTimestamp: NOW}


def _first_line(error: BaseException) -> str:
    if isinstance(error, RecursionError):
        return _TOO_DEEP
    return str(error).splitlines()[0]
