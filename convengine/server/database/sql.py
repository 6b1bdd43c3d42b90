"""Hand-written SQL: the differences between the two databases, their time, and statements executed together.

All other SQL of the server is the same for both databases.
"""

import time
import uuid
from collections.abc import Iterator, Sequence
from contextlib import nullcontext
from dataclasses import dataclass, field
from datetime import UTC, datetime
from decimal import Decimal
from functools import cache
from typing import Any

from django.db import DataError, IntegrityError, connection, connections, transaction
from django.db.models import QuerySet

from convengine.engine.turn.job import Counts
from convengine.server.deployment import conf

#: How many rows a statement removes.
_ROWS = 500


class Dialect:
    """Expressions and values for hand-written statements."""

    vendor = "sqlite"
    json = "%s"

    def now(self, plus_seconds: float = 0.0) -> str:
        """The database's time, shifted, or fixed by tests and scenarios."""
        seconds = conf.get("CLOCK_OFFSET_SECONDS") + plus_seconds
        stands = conf.get("CLOCK_AT")
        start = self.time_param(stands)[:-3] if stands else "now"
        return f"strftime('%%Y-%%m-%%d %%H:%%M:%%f', '{start}', '{seconds:+.3f} seconds')"

    def uuid_param(self, value: str | uuid.UUID) -> Any:
        return uuid.UUID(str(value)).hex

    def time_param(self, value: datetime) -> Any:
        return value.astimezone(UTC).strftime("%Y-%m-%d %H:%M:%S.%f")

    def decimal_param(self, value: Decimal) -> Any:
        return str(value)

    def read_time(self, value: Any) -> datetime:
        """A time from a cursor: a column comes parsed, an expression as text."""
        parsed = value if isinstance(value, datetime) else datetime.fromisoformat(value)
        return parsed.replace(tzinfo=UTC)

    def relax_durability(self) -> str:
        """An expression that lets the statement's own commit return before it is on disk."""
        return "NULL"

    def advisory_lock(self) -> str:
        """A condition that is always true, but only one transaction with the same text can pass at a time.

        SQLite has one writer at a time anyway.
        """
        return "%s IS NOT NULL"

    def json_merge(self, *pairs: str) -> str:
        """A JSON parameter with keys set from expressions: 'key', 'expression', …"""
        sets = ", ".join(f"'$.{key}', {expression}" for key, expression in zip(pairs[::2], pairs[1::2], strict=True))
        return f"json_set(%s, {sets})"

    def json_member(self, document: str, key: str) -> str:
        """A top-level text in a JSON column, or null, also of a damaged one."""
        return f"CASE WHEN json_valid({document}) THEN json_extract({document}, '$.{key}') END"

    def json_pairs(self, text: str, document: str) -> str:
        """All rows of a text and a JSON column as one JSON text: [[text, document], …]; null or empty for none."""
        return f"json_group_array(json_array({text}, json({document})))"


class Postgres(Dialect):
    vendor = "postgresql"
    json = "%s::jsonb"

    def now(self, plus_seconds: float = 0.0) -> str:
        """The statement's time, because a wait inside a transaction must see the clock move."""
        seconds = conf.get("CLOCK_OFFSET_SECONDS") + plus_seconds
        stands = conf.get("CLOCK_AT")
        start = f"timestamptz '{stands.isoformat()}'" if stands else "clock_timestamp()"
        return f"({start} + interval '{seconds:.3f} seconds')" if seconds else start

    def uuid_param(self, value: str | uuid.UUID) -> Any:
        return str(value)

    def time_param(self, value: datetime) -> Any:
        return value

    def decimal_param(self, value: Decimal) -> Any:
        return value

    def read_time(self, value: Any) -> datetime:
        return value.astimezone(UTC)  # type: ignore[no-any-return]

    def relax_durability(self) -> str:
        """An expression that relaxes the statement's own commit. Inside another transaction, that one decides."""
        return "NULL" if connection.in_atomic_block else "set_config('synchronous_commit', 'off', true)"

    def advisory_lock(self) -> str:
        """A condition that takes a lock, which ends with the transaction."""
        return "pg_advisory_xact_lock(hashtextextended(%s, 0)) IS NOT NULL"

    def json_merge(self, *pairs: str) -> str:
        sets = ", ".join(f"'{key}', {expression}" for key, expression in zip(pairs[::2], pairs[1::2], strict=True))
        return f"%s::jsonb || jsonb_build_object({sets})"

    def json_member(self, document: str, key: str) -> str:
        return f"({document} ->> '{key}')"

    def json_pairs(self, text: str, document: str) -> str:
        return f"CAST(json_agg(json_build_array({text}, {document})) AS text)"


@cache
def _dialect(vendor: str) -> Dialect:
    return Postgres() if vendor == "postgresql" else Dialect()


def dialect() -> Dialect:
    """The dialect of the default connection, which scenarios replace temporarily."""
    return _dialect(connection.vendor)


def is_connection_broken() -> bool:
    """True when the server, or what leads to it, ended the default connection."""
    return connection.vendor == "postgresql" and connection.connection is not None and connection.connection.closed


#: In the errors of PostgreSQL and PgBouncer; the first two are in "authentication" in the languages of the server.
_SIGN_IN_WORDS = ("uthenti", "utenti", "pg_hba.conf", "no such user")


def is_sign_in_refused(error: object) -> bool:
    """True for the error of a database that answers, but does not accept the user and password of this server."""
    return any(words in str(error) for words in _SIGN_IN_WORDS)


def describe_fault(error: BaseException) -> str:
    """A fault of the database on one line, for the log: its type, and the first line of its text."""
    return f"{type(error).__name__}: {str(error).strip().partition(chr(10))[0]}"


def database_time() -> datetime:
    """The present time in UTC, outside of turns."""
    sql = dialect()
    with connection.cursor() as cursor:
        cursor.execute(f"SELECT {sql.now()}", [])
        return sql.read_time(cursor.fetchone()[0])


@dataclass(frozen=True)
class TurnClock:
    """The time of one turn. `now` is constant during the turn; `elapsed_ms` runs."""

    started_at: datetime
    _started: float = field(default_factory=time.perf_counter)

    def now(self) -> datetime:
        """The time of the turn's first statement, in UTC."""
        return self.started_at

    def elapsed_ms(self) -> float:
        """Milliseconds since the turn began."""
        return (time.perf_counter() - self._started) * 1000


@dataclass(frozen=True)
class Statement:
    """One INSERT, UPDATE or DELETE with its parameters; built, not executed."""

    sql: str
    params: Sequence[Any]
    #: When it matches no row, the transaction is rolled back.
    must_match: bool = False


class StatementRefused(Exception):
    """A statement matched no row although it must, or the database refused a value; nothing was written."""


def execute(statement: Statement) -> bool:
    """Execute one statement; true when it matched a row. Needs an open transaction."""
    with connection.cursor() as cursor:
        cursor.execute(statement.sql, statement.params)
        return bool(cursor.rowcount)


def execute_all(statements: Sequence[Statement]) -> None:
    """Execute all statements or none. Raises StatementRefused.

    PostgreSQL gets them as one statement: one round trip instead of one for each.
    """
    try:
        if dialect().vendor == "postgresql":
            _execute_in_one_statement(statements)
            return
        with transaction.atomic():
            if not all(execute(statement) or not statement.must_match for statement in statements):
                raise StatementRefused
    except (DataError, IntegrityError) as error:
        # A turn that lost its lease meets the record of the call that recovered the lease: the key exists twice.
        raise StatementRefused from error


def _execute_in_one_statement(statements: Sequence[Statement]) -> None:
    """All statements as one, which is a transaction of its own and fails when one that must match a row does not."""
    parts, counts = [], ["1"]
    params: list[Any] = []
    for number, statement in enumerate(statements):
        parts.append(f"s{number} AS ({statement.sql}{' RETURNING 1' * statement.must_match})")
        params += statement.params
        if statement.must_match:
            counts.append(f"ce_require_match((SELECT count(*) FROM s{number}))")
    inside_another = transaction.atomic() if connection.in_atomic_block else nullcontext()
    with inside_another, connection.cursor() as cursor:
        cursor.execute(f"WITH {', '.join(parts)} SELECT {', '.join(counts)}", params)
    # A project's own backend does not know.
    refuse = getattr(connection, "refuse_unreplicated_commit", None)
    if refuse is not None and not connection.in_atomic_block:
        refuse()


def release_connections() -> None:
    """Return every connection of this thread that is not inside a transaction; the next query takes one again.

    Before a thread waits: the pool has few, and what is waited for may need one.
    """
    for each in connections.all(initialized_only=True):
        if not each.in_atomic_block:
            each.close()


def remove_in_batches(rows: QuerySet[Any], name: str) -> Iterator[Counts]:
    """Delete rows in the order of the query, and count those of each batch under a name."""
    while keys := list(rows.values_list("pk", flat=True)[:_ROWS]):
        rows.model._default_manager.filter(pk__in=keys).delete()
        yield {name: len(keys)}
