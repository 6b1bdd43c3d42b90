"""A turn's writes: made one by one, sent together (R23, R78)."""

from collections.abc import Sequence
from contextlib import nullcontext
from dataclasses import dataclass
from typing import Any

from django.db import DataError, connection, transaction

from convengine.domain.text import storable
from convengine.sessions.sql import dialect


@dataclass(frozen=True)
class Write:
    """One INSERT or UPDATE of a commit."""

    sql: str
    params: Sequence[Any]
    #: Nothing of the commit may stand when this one meets no row.
    must: bool = False


class Refused(Exception):
    """A write that had to meet a row met none, or the database refused what a write holds; nothing was written."""


def execute(write: Write) -> bool:
    """Make one write; true when it met a row. Needs an open transaction.

    What no database takes in a text is replaced here, wherever the text came from.
    """
    params = [storable(value) if isinstance(value, str) else value for value in write.params]
    with connection.cursor() as cursor:
        cursor.execute(write.sql, params)
        return bool(cursor.rowcount)


def together(writes: Sequence[Write]) -> None:
    """Make all writes or none. Raises Refused.

    On PostgreSQL they are one statement: one way to the database instead of one for each, and two for BEGIN and COMMIT.
    """
    one_by_one = dialect().vendor != "postgresql"
    # Inside a transaction of somebody's, a refusal must not be the end of it.
    whole = transaction.atomic() if one_by_one or connection.in_atomic_block else nullcontext()
    try:
        with whole:
            if not one_by_one:
                execute(_joined(writes))
            elif not all(execute(write) or not write.must for write in writes):
                raise Refused
    except DataError as refused:
        raise Refused from refused


def _joined(writes: Sequence[Write]) -> Write:
    """One statement of all. One that had to meet a row and met none divides by zero, which undoes the statement."""
    parts = [f"w{place} AS ({write.sql}{' RETURNING 1' * write.must})" for place, write in enumerate(writes)]
    checks = [f"1 / (SELECT count(*) FROM w{place})" for place, write in enumerate(writes) if write.must]
    params = [value for write in writes for value in write.params]
    return Write(f"WITH {', '.join(parts)} SELECT {', '.join(checks) or '1'}", params)
