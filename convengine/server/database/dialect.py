"""The differences between the two databases. All other SQL of the server is the same for both."""

import uuid
from datetime import UTC, datetime
from functools import cache
from typing import Any

from django.db import connection

from convengine.server.deployment import conf


class Dialect:
    """Expressions and values for hand-written statements."""

    vendor = "sqlite"
    json = "%s"

    def now(self, plus_seconds: float = 0.0) -> str:
        """The database's time, shifted, or fixed by tests and scenarios (R88)."""
        seconds = conf.get("CLOCK_OFFSET_SECONDS") + plus_seconds
        stands = conf.get("CLOCK_AT")
        start = stands.strftime("%Y-%m-%d %H:%M:%S.%f")[:-3] if stands else "now"
        return f"strftime('%%Y-%%m-%%d %%H:%%M:%%f', '{start}', '{seconds:+.3f} seconds')"

    def uuid_param(self, value: str | uuid.UUID) -> Any:
        return uuid.UUID(str(value)).hex

    def time_param(self, value: datetime) -> Any:
        return value.astimezone(UTC).strftime("%Y-%m-%d %H:%M:%S.%f")

    def boolean_literal(self, value: bool) -> str:
        """A boolean as a literal, because a parameter is not worth it for two values."""
        return str(int(value))

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
        """A top-level text in a JSON column, or null."""
        return f"json_extract({document}, '$.{key}')"

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

    def boolean_literal(self, value: bool) -> str:
        return str(value).lower()

    def read_time(self, value: Any) -> datetime:
        return value.astimezone(UTC)  # type: ignore[no-any-return]

    def relax_durability(self) -> str:
        """The same; inside another transaction, that transaction decides."""
        return "NULL" if connection.in_atomic_block else "set_config('synchronous_commit', 'off', true)"

    def advisory_lock(self) -> str:
        """The same, by a lock that ends with the transaction."""
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
