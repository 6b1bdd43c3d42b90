"""What a piece of work asks of the database: statements in order, rows fetched. Works on both databases."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any
from unittest.mock import patch

from django.db import connection
from django.db.backends.utils import CursorWrapper

#: Not counted as statements of a turn (R78).
_FRAME = ("BEGIN", "COMMIT", "SAVEPOINT", "RELEASE SAVEPOINT", "ROLLBACK")


@dataclass
class Work:
    """The statements, COPY included, and how many rows came back."""

    statements: list[str] = field(default_factory=list)
    rows: int = 0


@contextmanager
def counted() -> Iterator[Work]:
    """Count what this thread's connection is asked for inside."""
    work = Work()

    def execute(call: Callable[..., Any], sql: str, params: Any, many: bool, context: dict[str, Any]) -> Any:
        if not sql.startswith(_FRAME):
            work.statements.append(sql)
        return call(sql, params, many, context)

    with connection.execute_wrapper(execute), patch.object(CursorWrapper, "__getattr__", _counting(work)):
        yield work


def _counting(work: Work) -> Callable[[CursorWrapper, str], Any]:
    """Django hands fetches and COPY through to the driver's cursor, by name."""
    original = CursorWrapper.__getattr__

    def handed_through(cursor: CursorWrapper, name: str) -> Any:
        found = original(cursor, name)
        if name == "copy":
            return lambda sql: _copied(work, sql, found)
        if name in ("fetchone", "fetchmany", "fetchall"):
            return lambda *args: _seen(work, found(*args))
        return found

    return handed_through


def _copied(work: Work, sql: str, copy: Callable[[str], Any]) -> Any:
    work.statements.append(sql)
    return copy(sql)


def _seen(work: Work, fetched: Any) -> Any:
    work.rows += len(fetched) if isinstance(fetched, list) else fetched is not None
    return fetched
