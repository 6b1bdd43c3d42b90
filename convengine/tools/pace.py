"""Time as far as a decision depends on it, on the tape: a replay decides as the turn did, and never waits (R32)."""

from collections.abc import Callable

from convengine.domain.ports import Clock
from convengine.domain.recording import Tape


class TapedPace:
    """The stopwatch of one turn, and its pauses."""

    def __init__(self, clock: Clock, tape: Tape, sleep: Callable[[float], None]) -> None:
        self._clock = clock
        self._tape = tape
        self._sleep = sleep

    def spent_ms(self) -> float:
        """Milliseconds since the turn began."""
        return float(self._tape.ask("pace.spent", None, self._clock.elapsed_ms))

    def wait(self, milliseconds: float) -> None:
        """Let some time go by."""

        def pause() -> None:
            self._sleep(milliseconds / 1000)

        self._tape.ask("pace.wait", milliseconds, pause)
