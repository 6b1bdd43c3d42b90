"""The databases that tools may read: always read-only, each query with a time limit (pipeline-2 4.7).

`CE_TOOL_DATABASE_URLS` names them. None of them is the product's own connection.
"""

import sqlite3
import time
from collections.abc import Iterable, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING, Any, Protocol
from urllib.parse import quote, unquote, urlsplit

from convengine.engine.steps.tools.fault import ToolFault
from convengine.engine.turn.codec import dumps
from convengine.engine.turn.enums import SqlDialect
from convengine.server.executors.sql_guard import Readable

if TYPE_CHECKING:
    from psycopg_pool import ConnectionPool

Json = Any
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
    parts = urlsplit(url)
    if parts.scheme in ("postgres", "postgresql"):
        return PostgreSql(url)
    if parts.scheme == "sqlite":
        return Sqlite(unquote(parts.path)[1:])
    raise ToolFault("DATABASE_UNKNOWN", "The address of a tool database begins with postgresql:// or sqlite:///.")


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
            connection.set_authorizer(_only_reading)
            connection.set_progress_handler(lambda: int(time.monotonic() > end), 1000)
            try:
                cursor = connection.execute(
                    statement.sql, {name: _bindable(values.get(name)) for name in statement.params}
                )
                names = [column[0] for column in cursor.description or ()]
                return collect_rows(names, cursor, rows)
            except (sqlite3.Error, OverflowError) as error:
                if time.monotonic() > end:
                    raise _timeout(milliseconds) from error
                raise ToolFault("DB_ERROR", f"The database rejected the statement: {error}.") from error


def _only_reading(action: int, first: str | None, second: str | None, *where: str | None) -> int:
    harmless = action in _READING and not (action == sqlite3.SQLITE_FUNCTION and second == "load_extension")
    return sqlite3.SQLITE_OK if harmless else sqlite3.SQLITE_DENY


def _bindable(value: Json) -> Json:
    """SQLite has no lists and objects: they are passed as JSON texts, for json_each and the like."""
    return dumps(value) if isinstance(value, (dict, list, tuple)) else value


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
            raise _timeout(milliseconds) from error
        except (PoolTimeout, psycopg.OperationalError) as error:
            raise ToolFault("DB_UNREACHABLE", f"The tool database cannot be reached: {_first_line(error)}") from error
        except psycopg.Error as error:
            raise ToolFault("DB_ERROR", f"The database rejected the statement: {_first_line(error)}") from error

    def _pool(self) -> "ConnectionPool[Any]":
        if self._opened is None:
            self._opened = _pool_of(self._url)
        return self._opened


@cache
def _pool_of(url: str) -> "ConnectionPool[Any]":
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
    connection.read_only = True


def _read(connection: Any, statement: Readable, values: Mapping[str, Json], rows: int, milliseconds: int) -> Fetched:
    from psycopg import RawServerCursor

    with connection.transaction(force_rollback=True):
        connection.execute(f"SET LOCAL statement_timeout = {int(milliseconds)}")
        connection.execute("SET LOCAL standard_conforming_strings = on")
        with RawServerCursor(connection, "tool") as cursor:
            # A cursor fetches only the needed rows, and accepts only a query.
            cursor.execute(statement.sql, [_adapt(values.get(name)) for name in statement.params])
            names = [column.name for column in cursor.description or ()]
            return collect_rows(names, cursor.fetchmany(rows + 1), rows)


def _adapt(value: Json) -> Json:
    from psycopg.types.json import Jsonb

    return Jsonb(value) if isinstance(value, Mapping) else value


def collect_rows(names: Sequence[str], found: Iterable[Sequence[Any]], limit: int) -> Fetched:
    """The rows as objects of JSON values, within the limits."""
    kept: list[dict[str, Json]] = []
    size = 0
    for row in found:
        if len(kept) == limit:
            return Fetched(kept, True)
        made = {name: _cell(value) for name, value in zip(names, row, strict=True)}
        size += len(dumps(made))
        if size > _MAX_BYTES:
            return Fetched(kept, True)
        kept.append(made)
    return Fetched(kept, False)


def _cell(value: Any) -> Json:
    if isinstance(value, (bytes, memoryview)):
        return f"<{len(value)} bytes>"
    return value if isinstance(value, (str, int, float, bool, dict, list, type(None))) else _other(value)


def _other(value: Any) -> Json:
    from decimal import Decimal

    if isinstance(value, Decimal) and value.is_finite():
        return int(value) if value == value.to_integral_value() else float(value)
    return str(value)


def _timeout(milliseconds: int) -> ToolFault:
    return ToolFault("DB_TIMEOUT", f"The statement took longer than {milliseconds} ms and was cancelled.")


def _first_line(error: Exception) -> str:
    return str(error).strip().split("\n")[0]
