"""The turn's clock: the database's time at the turn's first statement, and a stopwatch (R88)."""

import time
from dataclasses import dataclass, field
from datetime import datetime


@dataclass(frozen=True)
class TurnClock:
    """One turn's time. `now` stays the same for the whole turn; `elapsed_ms` runs."""

    started_at: datetime
    _started: float = field(default_factory=time.perf_counter)

    def now(self) -> datetime:
        """The time of the turn's first statement, in UTC."""
        return self.started_at

    def elapsed_ms(self) -> float:
        """Milliseconds since the turn began."""
        return (time.perf_counter() - self._started) * 1000
