"""Return database connections before a thread waits: the pool has few, and what is waited for may need one."""

from django.db import connections


def release_connections() -> None:
    """Return every connection of this thread that is not inside a transaction; the next query takes one again."""
    for connection in connections.all(initialized_only=True):
        if not connection.in_atomic_block:
            connection.close()
