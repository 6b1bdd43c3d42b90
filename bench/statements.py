"""The statements and fetched rows of a piece of work. Works on both databases."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any
from unittest.mock import patch

from django.db import connection
from django.db.backends.utils import CursorWrapper

#: Not counted as statements of a turn.
_FRAME = ("BEGIN", "COMMIT", "SAVEPOINT", "RELEASE SAVEPOINT", "ROLLBACK")


@dataclass
class Work:
    """The statements, including COPY, and the number of fetched rows."""

    statements: list[str] = field(default_factory=list)
    rows: int = 0


@contextmanager
def count_statements() -> Iterator[Work]:
    """Count the statements of this thread's connection inside the block."""
    work = Work()

    def execute(call: Callable[..., Any], sql: str, params: Any, many: bool, context: dict[str, Any]) -> Any:
        if not sql.startswith(_FRAME):
            work.statements.append(sql)
        return call(sql, params, many, context)

    with connection.execute_wrapper(execute), patch.object(CursorWrapper, "__getattr__", _count_statement(work)):
        yield work


def _count_statement(work: Work) -> Callable[[CursorWrapper, str], Any]:
    """Django passes fetches and COPY to the driver's cursor, by name."""
    original = CursorWrapper.__getattr__

    def handed_through(cursor: CursorWrapper, name: str) -> Any:
        attribute = original(cursor, name)
        if name == "copy":
            return lambda sql: _count_copy(work, sql, attribute)
        if name in ("fetchone", "fetchmany", "fetchall"):
            return lambda *args: _count_rows(work, attribute(*args))
        return attribute

    return handed_through


def _count_copy(work: Work, sql: str, copy: Callable[[str], Any]) -> Any:
    work.statements.append(sql)
    return copy(sql)


def _count_rows(work: Work, fetched: Any) -> Any:
    work.rows += len(fetched) if isinstance(fetched, list) else fetched is not None
    return fetched
