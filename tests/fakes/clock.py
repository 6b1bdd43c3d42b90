"""A clock that moves only when told to."""

from dataclasses import dataclass
from datetime import UTC, datetime

NOON = datetime(2026, 1, 15, 12, 0, tzinfo=UTC)


@dataclass
class FrozenClock:
    """The time of a turn, and a stopwatch that tests set."""

    at: datetime = NOON
    elapsed: float = 0.0

    def now(self) -> datetime:
        return self.at

    def elapsed_ms(self) -> float:
        return self.elapsed
