"""Apply the migrations in one process at a time: servers on several machines start together."""

import copy
import gc
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from typing import Any

import django
from django.core.management import call_command
from django.db import DatabaseError, connection, connections

#: The name of the lock: any number that nothing else locks.
_LOCK = 4_811_023_604


def migrate() -> None:
    """Apply what is missing. Another process that does the same is waited for."""
    with hold_lock():
        call_command("migrate", verbosity=0, interactive=False, skip_checks=False)


@contextmanager
def hold_lock() -> Iterator[None]:
    """While inside, no other process is. SQLite has one writer at a time anyway.

    The lock belongs to a transaction of a connection outside of the pool: a pooler keeps that together as well.
    """
    if connection.vendor != "postgresql":
        yield
        return
    values = copy.deepcopy(connection.settings_dict)
    values["OPTIONS"].pop("pool", None)
    holder: Any = type(connections["default"])(values, "migrations")
    try:
        holder.set_autocommit(False)
        with holder.cursor() as cursor:
            cursor.execute("SELECT pg_advisory_xact_lock(%s)", [_LOCK])
        yield
    finally:
        # The server may have ended a transaction that was idle for long.
        with suppress(DatabaseError):
            holder.close()


if __name__ == "__main__":
    gc.disable()
    django.setup()
    migrate()
