"""The executor of group DB: the statement of `ce_mcp_db_tool` on SQLite or PostgreSQL, read-only and limited."""

import sqlite3
import time
from collections.abc import Collection, Iterable, Mapping, Sequence
from contextlib import closing, suppress
from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING, Any, Protocol
from urllib.parse import quote, unquote, urlsplit

from convengine.engine.steps.tools.settings import RESULT_MAX_BYTES
from convengine.engine.text.wording import join_names
from convengine.engine.tools.arguments import cap_result
from convengine.engine.tools.fault import ToolFault
from convengine.engine.turn import live_settings, rows
from convengine.engine.turn.codec import dumps, to_strict
from convengine.engine.turn.enums import SqlDialect
from convengine.engine.turn.ports import ToolAnswer
from convengine.json_value import Json
from convengine.server.deployment import conf
from convengine.server.deployment.secrets import mask_secrets
from convengine.server.executors.job import ToolJob
from convengine.server.executors.settings import DB_CONNECTION, STATEMENT_TIMEOUT_MS
from convengine.server.executors.sql_guard import (
    NOT_READONLY,
    Readable,
    SqlRefused,
    fill_identifiers,
    list_allowed_names,
    readable,
)
from convengine.server.resilience.time_left import clip_seconds

if TYPE_CHECKING:
    from psycopg_pool import ConnectionPool

#: Maximum size of a result, whatever its number of rows.
_MAX_BYTES = 1024 * 1024
_CONNECT_SECONDS = 3
_READING = frozenset({sqlite3.SQLITE_SELECT, sqlite3.SQLITE_READ, sqlite3.SQLITE_FUNCTION, sqlite3.SQLITE_RECURSIVE})


@dataclass(frozen=True)
class Fetched:
    """The rows of a query, and whether there were more."""

    rows: list[dict[str, Json]]
    truncated: bool


class Database(Protocol):
    """A database for reading."""

    dialect: SqlDialect

    def fetch(self, statement: Readable, values: Mapping[str, Json], rows: int, milliseconds: int) -> Fetched:
        """At most `rows` rows. Raises ToolFault: DB_UNREACHABLE, DB_TIMEOUT, DB_ERROR."""


@cache
def database(url: str) -> Database:
    """The database of an address: postgresql://… or sqlite:///file. Raises ToolFault DATABASE_UNKNOWN for another."""
    # Some brackets in an address are refused.
    with suppress(ValueError):
        parts = urlsplit(url)
        if parts.scheme in ("postgres", "postgresql"):
            return PostgreSql(url)
        if parts.scheme == "sqlite":
            return Sqlite(unquote(parts.path)[1:])
    raise ToolFault("DATABASE_UNKNOWN", "The address of a tool database must begin with postgresql:// or sqlite:///.")


class Sqlite:
    """A SQLite file, opened for reading; an authorizer refuses everything else."""

    dialect = SqlDialect.SQLITE

    def __init__(self, path: str) -> None:
        self._uri = f"file:{quote(path)}?mode=ro"

    def fetch(self, statement: Readable, values: Mapping[str, Json], rows: int, milliseconds: int) -> Fetched:
        """At most `rows` rows."""
        end = time.monotonic() + milliseconds / 1000
        try:
            connection = sqlite3.connect(self._uri, uri=True, timeout=milliseconds / 1000, isolation_level=None)
        except sqlite3.Error as error:
            raise ToolFault("DB_UNREACHABLE", f"The tool database cannot be opened: {error}.") from error
        with closing(connection):
            connection.setlimit(sqlite3.SQLITE_LIMIT_LENGTH, _MAX_BYTES)
            connection.setlimit(sqlite3.SQLITE_LIMIT_ATTACHED, 0)
            connection.set_authorizer(_authorize)
            connection.set_progress_handler(lambda: int(time.monotonic() > end), 1000)
            try:
                # SQLite has no lists and objects: they are passed as JSON texts, for json_each and the like.
                bound = {
                    name: dumps(value) if isinstance(value := values.get(name), (dict, list, tuple)) else value
                    for name in statement.params
                }
                cursor = connection.execute(statement.sql, bound)
                names = [column[0] for column in cursor.description or ()]
                return collect_rows(names, cursor, rows)
            # Half of a character is no text of a database.
            except (sqlite3.Error, OverflowError, UnicodeError) as error:
                if time.monotonic() > end:
                    raise _make_timeout(milliseconds) from error
                raise ToolFault("DB_ERROR", f"The database rejected the statement: {error}.") from error


def _authorize(action: int, first: str | None, second: str | None, *where: str | None) -> int:
    """SQLite's authorizer: only reading, and no function that loads an extension."""
    harmless = action in _READING and not (action == sqlite3.SQLITE_FUNCTION and second == "load_extension")
    return sqlite3.SQLITE_OK if harmless else sqlite3.SQLITE_DENY


class PostgreSql:
    """A PostgreSQL, read through a cursor in a read-only transaction, which the server enforces."""

    dialect = SqlDialect.POSTGRES

    def __init__(self, url: str) -> None:
        self._url = url
        self._opened: ConnectionPool[Any] | None = None

    def fetch(self, statement: Readable, values: Mapping[str, Json], rows: int, milliseconds: int) -> Fetched:
        """At most `rows` rows."""
        import psycopg
        from psycopg_pool import PoolTimeout

        try:
            with self._pool().connection(timeout=_CONNECT_SECONDS) as connection:
                return _read(connection, statement, values, rows, milliseconds)
        except psycopg.errors.QueryCanceled as error:
            raise _make_timeout(milliseconds) from error
        except (PoolTimeout, psycopg.OperationalError) as error:
            raise ToolFault("DB_UNREACHABLE", f"The tool database cannot be reached: {_first_line(error)}") from error
        except (psycopg.Error, UnicodeError) as error:
            raise ToolFault("DB_ERROR", f"The database rejected the statement: {_first_line(error)}") from error

    def _pool(self) -> "ConnectionPool[Any]":
        if self._opened is None:
            self._opened = _open_pool(self._url)
        return self._opened


@cache
def _open_pool(url: str) -> "ConnectionPool[Any]":
    """The pool of connections to an address, which is made once and closed at exit. Its connections are read-only."""
    import atexit

    from psycopg_pool import ConnectionPool

    pool: ConnectionPool[Any] = ConnectionPool(
        url,
        min_size=0,
        max_size=4,
        open=True,
        max_idle=60,
        reconnect_timeout=_CONNECT_SECONDS,
        check=ConnectionPool.check_connection,
        configure=_configure,
        kwargs={"connect_timeout": _CONNECT_SECONDS},
    )
    atexit.register(pool.close)
    return pool


def _configure(connection: Any) -> None:
    """Make each connection of the pool read-only."""
    connection.read_only = True


def _read(connection: Any, statement: Readable, values: Mapping[str, Json], rows: int, milliseconds: int) -> Fetched:
    """Run the statement with a time limit, in a read-only transaction that is rolled back.

    Raises ToolFault SQL_NOT_READONLY for a function that is called like a column, and errors of psycopg.
    """
    from psycopg import RawServerCursor

    with connection.transaction(force_rollback=True):
        connection.execute(f"SET LOCAL statement_timeout = {int(milliseconds)}")
        connection.execute("SET LOCAL standard_conforming_strings = on")
        _refuse_calls(connection, statement.attributes)
        with RawServerCursor(connection, "tool") as cursor:
            # A cursor fetches only the needed rows, and accepts only a query.
            cursor.execute(statement.sql, [_adapt(values.get(name)) for name in statement.params])
            names = [column.name for column in cursor.description or ()]
            return collect_rows(names, cursor.fetchmany(rows + 1), rows)


#: Functions of people that take one row, or a value of any type: those that `table.name` calls.
_CALLED_AS_COLUMNS = """
    SELECT p.proname FROM pg_catalog.pg_proc p JOIN pg_catalog.pg_type t ON t.oid = p.proargtypes[0]
    WHERE p.proname = ANY(%s) AND t.typtype IN ('c', 'd', 'p') AND p.pronamespace <> 'pg_catalog'::regnamespace
"""


def _refuse_calls(connection: Any, attributes: Collection[str]) -> None:
    """Raises ToolFault SQL_NOT_READONLY for a function that is called like a column: `o.name` instead of `name(o)`."""
    called = connection.execute(_CALLED_AS_COLUMNS, [list(attributes)]).fetchone() if attributes else None
    if called:
        raise ToolFault(
            NOT_READONLY,
            f"{called[0]} is a function of the database, which a column of that name would call. If it changes "
            "nothing and waits for nothing, a guardrail row ALLOW_FUNCTION can allow it.",
        )


def _adapt(value: Json) -> Json:
    from psycopg.types.json import Jsonb

    return Jsonb(value) if isinstance(value, Mapping) else value


def collect_rows(names: Sequence[str], rows: Iterable[Sequence[Any]], limit: int) -> Fetched:
    """The rows as objects of JSON values: at most `limit`, and at most `_MAX_BYTES` together."""
    collected: list[dict[str, Json]] = []
    size = 0
    for row in rows:
        if len(collected) == limit:
            return Fetched(collected, True)
        made = {name: _convert_cell(value) for name, value in zip(names, row, strict=True)}
        size += len(dumps(made))
        if size > _MAX_BYTES:
            return Fetched(collected, True)
        collected.append(made)
    return Fetched(collected, False)


def _convert_cell(value: Any) -> Json:
    """A value of a column as JSON. Bytes become a text with their number, a decimal a number, all else its text."""
    if isinstance(value, (str, int, float, bool, dict, list, type(None))):
        return value
    if isinstance(value, (bytes, memoryview)):
        return f"<{len(value)} bytes>"
    from decimal import Decimal

    if isinstance(value, Decimal) and value.is_finite():
        return int(value) if value == value.to_integral_value() else float(value)
    return str(value)


def _make_timeout(milliseconds: int) -> ToolFault:
    return ToolFault("DB_TIMEOUT", f"The statement took longer than {milliseconds} ms and was cancelled.")


def _first_line(error: BaseException) -> str:
    """The first line of a database error, without secrets."""
    return mask_secrets(str(error).strip().split("\n")[0])


_STAGE = "MCP_DB_SQL_EXECUTION"
#: Number of rows without a limit.
_DEFAULT_LIMIT = 200


def run(job: ToolJob) -> ToolAnswer:
    """`{rows, rowCount, truncated}`. Raises ToolFault; a refused statement is not sent to a database."""
    tool = job.tool
    row = job.snapshot.row(rows.DbTool, tool.tool_id) if tool else None
    if row is None:
        raise ToolFault(
            "NO_SQL", f"The tool {job.tool_code or job.group} has no statement; add one to its database tool."
        )
    statement = check_statement(job, row)
    source = _find_database(job, row)
    limit, values = _limit_rows(row, job.args)
    timeout = int(clip_seconds(live_settings.read(job.snapshot, STATEMENT_TIMEOUT_MS).value / 1000) * 1000)
    sent = {name: values.get(name) for name in statement.params}
    about = {"tool_code": job.tool_code, "tool_group": job.group, "sql": statement.sql, "params": to_strict(sent)}
    try:
        fetched = source.fetch(statement, values, limit, timeout)
    except ToolFault as fault:
        raise ToolFault(fault.code, fault.message, {_STAGE: {**about, **_describe_failure(fault)}}) from fault
    result = to_strict({"rows": fetched.rows, "rowCount": len(fetched.rows), "truncated": fetched.truncated})
    shown = cap_result(result["rows"], live_settings.read(job.snapshot, RESULT_MAX_BYTES).value)
    success = {"status": "SUCCESS", "error": None, "row_count": len(fetched.rows), "rows": shown}
    return ToolAnswer(result, stage_payloads={_STAGE: {**about, **success}})


def check_statement(job: ToolJob, row: rows.DbTool) -> Readable:
    """The statement to run. Raises ToolFault SAFE_MODE_REQUIRED, IDENTIFIER_REFUSED or SQL_NOT_READONLY."""
    if not row.safe_mode and not conf.get("UNSAFE_SQL_TOOLS"):
        raise ToolFault(
            "SAFE_MODE_REQUIRED", ("This installation only allows statements that read. Turn safe mode on.")
        )
    try:
        sql = fill_identifiers(row.sql_template, job.args, row.allowed_identifiers)
    except SqlRefused as refused:
        raise ToolFault("IDENTIFIER_REFUSED", str(refused)) from refused
    try:
        return readable(sql, row.dialect, list_allowed_names(job.snapshot, row), row.safe_mode)
    except SqlRefused as refused:
        raise ToolFault(NOT_READONLY, str(refused)) from refused


def _find_database(job: ToolJob, row: rows.DbTool) -> Database:
    """The database of a tool. Raises ToolFault DATABASE_UNKNOWN and DIALECT_MISMATCH."""
    urls: Mapping[str, str] = conf.get("TOOL_DATABASES")
    name = live_settings.read(job.snapshot, DB_CONNECTION, job.tool_code).value or (
        next(iter(urls)) if len(urls) == 1 else ""
    )
    if name not in urls:
        known = join_names(urls)
        hint = "" if name else " Choose one in McpDbExecutor / CONNECTION."
        raise ToolFault(
            "DATABASE_UNKNOWN", f"The tool database {name or '(none chosen)'} does not exist. Known: {known}.{hint}"
        )
    source = database(urls[name])
    if source.dialect != SqlDialect.read(row.dialect):
        raise ToolFault(
            "DIALECT_MISMATCH", f"The statement is for {row.dialect}, but the database {name} is {source.dialect}."
        )
    return source


def _limit_rows(row: rows.DbTool, args: Mapping[str, Json]) -> tuple[int, dict[str, Json]]:
    """The row limit, and the arguments with the bound `limit`.

    Unless the limit is the caller's own, one row more is fetched to see whether there are more.
    """
    given = args.get("limit")
    if isinstance(given, bool) or not isinstance(given, int) or given < 0:
        given = None
    row_limit = min(row.max_rows, _DEFAULT_LIMIT if given is None else given)
    return row_limit, {**args, "limit": row_limit if given == row_limit else row_limit + 1}


def _describe_failure(fault: ToolFault) -> dict[str, Json]:
    """What the audit says about a failed statement, with the database's own error as the root cause."""
    cause = fault.__cause__ or fault
    return {
        "status": "ERROR",
        "error": fault.message,
        "row_count": 0,
        "rows": [],
        "error_class": fault.code,
        "error_message": fault.message,
        "root_cause_class": type(cause).__name__,
        "root_cause_message": _first_line(cause),
        "sql_state": getattr(cause, "sqlstate", None),
        "sql_error_code": getattr(cause, "sqlite_errorname", None),
    }
