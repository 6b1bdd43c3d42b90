"""What the two databases say differently, in one place. Everything else of the shell is one text for both."""

import uuid
from datetime import UTC, datetime
from functools import cache
from typing import Any

from django.db import connection

from convengine import conf


class Dialect:
    """Expressions and values for hand-written statements."""

    vendor = "sqlite"
    json = "%s"

    def now(self, plus_seconds: float = 0.0) -> str:
        """The database's time, shifted, or where it stands: what tests and scenarios set is part of it (R88)."""
        seconds = conf.get("CLOCK_OFFSET_SECONDS") + plus_seconds
        stands = conf.get("CLOCK_AT")
        start = stands.strftime("%Y-%m-%d %H:%M:%S.%f")[:-3] if stands else "now"
        return f"strftime('%%Y-%%m-%%d %%H:%%M:%%f', '{start}', '{seconds:+.3f} seconds')"

    def uuid(self, value: str | uuid.UUID) -> Any:
        """A UUID as a column takes it."""
        return uuid.UUID(str(value)).hex

    def time(self, value: datetime) -> Any:
        """A time in UTC as a column takes it."""
        return value.astimezone(UTC).strftime("%Y-%m-%d %H:%M:%S.%f")

    def flag(self, value: bool) -> str:
        """A boolean as a literal: no parameter for what has two values."""
        return str(int(value))

    def read_time(self, value: Any) -> datetime:
        """A time as a cursor gives it: a column comes parsed, an expression as text."""
        parsed = value if isinstance(value, datetime) else datetime.fromisoformat(value)
        return parsed.replace(tzinfo=UTC)

    def soon_durable(self) -> str:
        """An expression that lets the statement's own commit return before it is on disk."""
        return "NULL"

    def alone(self) -> str:
        """A condition that always holds, met by one transaction at a time of those that give the same text.

        Here there is one writer at a time anyway.
        """
        return "%s IS NOT NULL"

    def merged(self, *pairs: str) -> str:
        """A JSON parameter with keys set from expressions: 'key', 'expression', …"""
        sets = ", ".join(f"'$.{key}', {expression}" for key, expression in zip(pairs[::2], pairs[1::2], strict=True))
        return f"json_set(%s, {sets})"

    def member(self, document: str, key: str) -> str:
        """A text in a JSON column, by its key at the top; null when it is not there."""
        return f"json_extract({document}, '$.{key}')"

    def pairs(self, text: str, document: str) -> str:
        """All rows of a text and a JSON column as one JSON text: [[text, document], …]; null or empty for none."""
        return f"json_group_array(json_array({text}, json({document})))"


class Postgres(Dialect):
    """PostgreSQL."""

    vendor = "postgresql"
    json = "%s::jsonb"

    def now(self, plus_seconds: float = 0.0) -> str:
        """The statement's time: a wait inside a transaction must see the clock move."""
        seconds = conf.get("CLOCK_OFFSET_SECONDS") + plus_seconds
        stands = conf.get("CLOCK_AT")
        start = f"timestamptz '{stands.isoformat()}'" if stands else "clock_timestamp()"
        return f"({start} + interval '{seconds:.3f} seconds')" if seconds else start

    def uuid(self, value: str | uuid.UUID) -> Any:
        """A UUID as a column takes it."""
        return str(value)

    def time(self, value: datetime) -> Any:
        """A time in UTC as a column takes it."""
        return value

    def flag(self, value: bool) -> str:
        """A boolean as a literal."""
        return str(value).lower()

    def read_time(self, value: Any) -> datetime:
        """A time as a cursor gives it."""
        return value.astimezone(UTC)  # type: ignore[no-any-return]

    def soon_durable(self) -> str:
        """The same; inside a transaction of somebody's it is that one's business."""
        return "NULL" if connection.in_atomic_block else "set_config('synchronous_commit', 'off', true)"

    def alone(self) -> str:
        """The same, by a lock that ends with the transaction."""
        return "pg_advisory_xact_lock(hashtextextended(%s, 0)) IS NOT NULL"

    def merged(self, *pairs: str) -> str:
        """A JSON parameter with keys set from expressions."""
        sets = ", ".join(f"'{key}', {expression}" for key, expression in zip(pairs[::2], pairs[1::2], strict=True))
        return f"%s::jsonb || jsonb_build_object({sets})"

    def member(self, document: str, key: str) -> str:
        """A text in a JSON column, by its key at the top."""
        return f"({document} ->> '{key}')"

    def pairs(self, text: str, document: str) -> str:
        """All rows of a text and a JSON column as one JSON text."""
        return f"CAST(json_agg(json_build_array({text}, {document})) AS text)"


@cache
def _dialect(vendor: str) -> Dialect:
    return Postgres() if vendor == "postgresql" else Dialect()


def dialect() -> Dialect:
    """The dialect of the default connection, which scenarios put another database behind for a while."""
    return _dialect(connection.vendor)
