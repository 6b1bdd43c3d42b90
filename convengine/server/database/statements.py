"""Statements that are built first and executed together, in one transaction (R23, R78)."""

from collections.abc import Sequence
from contextlib import nullcontext
from dataclasses import dataclass
from typing import Any

from django.db import DataError, IntegrityError, connection, transaction

from convengine.engine.text.compare import storable
from convengine.server.database.dialect import dialect


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
    """Execute one statement; true when it matched a row. Needs an open transaction.

    Characters that no database takes in a text are replaced here, wherever the text came from.
    """
    params = [storable(value) if isinstance(value, str) else value for value in statement.params]
    with connection.cursor() as cursor:
        cursor.execute(statement.sql, params)
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
    parts, counts, params = [], ["1"], []
    for number, statement in enumerate(statements):
        parts.append(f"s{number} AS ({statement.sql}{' RETURNING 1' * statement.must_match})")
        params += [storable(value) if isinstance(value, str) else value for value in statement.params]
        if statement.must_match:
            counts.append(f"ce_require_match((SELECT count(*) FROM s{number}))")
    inside_another = transaction.atomic() if connection.in_atomic_block else nullcontext()
    with inside_another, connection.cursor() as cursor:
        cursor.execute(f"WITH {', '.join(parts)} SELECT {', '.join(counts)}", params)
