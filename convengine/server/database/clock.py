"""The clock: the database's time, for a turn that of its first statement; and a stopwatch (R88)."""

import time
from dataclasses import dataclass, field
from datetime import datetime

from django.db import connection

from convengine.server.database.dialect import dialect


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
