"""What a probe reads of the database: on a connection of its own, because the pool may be empty for good reasons."""

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cache

from django.db import connection, connections
from django.db.migrations.loader import MigrationLoader
from django.db.migrations.recorder import MigrationRecorder

from convengine.engine.errors import ConvEngineError
from convengine.server.database.sql import database_time
from convengine.server.interfaces.configuration import configuration
from convengine.server.interfaces.turn_reports import turn_reports
from convengine.server.jobs.models import CeJob
from convengine.server.jobs.running import all_jobs, is_lease_dead
from convengine.server.webhooks.send import read_oldest_waiting

#: Seconds after which the driver gives up an attempt to connect, and an answer on a broken network.
_CONNECT_SECONDS, _NETWORK_MS = 2, 3000


#: Whether no turn can be written, as the database says.
_READ_ONLY = {"postgresql": "SHOW transaction_read_only", "sqlite": "PRAGMA query_only"}


@dataclass
class DatabaseState:
    """What was read so far. Returns None for what was not reached."""

    answers: bool = False
    is_migrated: bool | None = None
    is_configured: bool | None = None
    #: The release for new turns.
    release: int | None = None
    #: How long each job has been due, in seconds.
    overdue: Mapping[str, float] | None = None
    #: How often each job has failed since its last success.
    failures: Mapping[str, int] | None = None
    #: How many alerts fire.
    alerts: int | None = None
    #: How long the oldest delivery of a webhook has waited, in seconds; 0 for none.
    oldest_delivery: float | None = None
    #: False for a standby, and where the server or the login is set to read only: no turn can be stored.
    is_writable: bool | None = None

    def read(self) -> None:
        """Read one after the other. Raises DatabaseError; what was read before stays."""
        with use_own_connection():
            with connection.cursor() as cursor:
                cursor.execute(_READ_ONLY[connection.vendor])
                self.is_writable = cursor.fetchone()[0] in ("off", 0)
            self.answers = True
            self.is_migrated = has_all_migrations()
            if not self.is_migrated:
                return
            try:
                self.release = configuration().current().config_version
                self.is_configured = True
            except ConvEngineError:
                self.is_configured = False
            self.overdue, self.failures = read_jobs()
            self.alerts = turn_reports().count_alerts()
            oldest = read_oldest_waiting()
            self.oldest_delivery = max((database_time() - oldest).total_seconds(), 0.0) if oldest else 0.0


@contextmanager
def use_own_connection() -> Iterator[None]:
    """In this thread, let Django use a connection outside of the pool; it is closed afterwards."""
    usual = connections["default"]
    own = usual.copy()
    options = {name: value for name, value in own.settings_dict["OPTIONS"].items() if name != "pool"}
    if own.vendor == "postgresql":
        options |= {"connect_timeout": _CONNECT_SECONDS, "tcp_user_timeout": _NETWORK_MS}
    own.settings_dict["OPTIONS"] = options
    connections["default"] = own
    try:
        yield
    finally:
        own.close()
        connections["default"] = usual
        usual.close()


def has_all_migrations() -> bool:
    """Whether every app has its last migration."""
    applied = MigrationRecorder(connection).applied_migrations().keys()
    loader = _load_migrations()
    for leaf in loader.graph.leaf_nodes():
        replaced = loader.disk_migrations[leaf].replaces
        if leaf not in applied and not (replaced and applied >= set(replaced)):
            return False
    return True


@cache
def _load_migrations() -> MigrationLoader:
    """The migrations of the installed code."""
    return MigrationLoader(None, ignore_no_migrations=True)


def read_jobs() -> tuple[dict[str, float], dict[str, int]]:
    """How long each job has been due, which is 0 for one that runs; and its failures since the last success."""
    now = database_time()
    rows = list(CeJob.objects.filter(name__in=list(all_jobs())))
    overdue = {
        row.name: max((now - row.due_at).total_seconds(), 0.0) if is_lease_dead(row, now) else 0.0 for row in rows
    }
    return overdue, {row.name: row.failures for row in rows}
