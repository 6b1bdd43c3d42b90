"""Ordinary turns, beside which a test does what must not disturb them."""

import statistics
import threading
import time
from collections.abc import Sequence
from dataclasses import dataclass, field

from tests.live.client import Talk

#: Ordinary load: so many conversations, with a pause after each answer.
CONVERSATIONS, PAUSE, SECONDS = 4, 0.05, 8.0
#: A machine that does other things is never exact; a turn that waits for somebody else's request takes seconds.
NOISE_MS = 500.0


@dataclass
class Load:
    """Ordinary turns, and how long each took."""

    port: int
    talks: list[Talk]
    milliseconds: list[float] = field(default_factory=list)
    failed: int = 0

    def run(self, seconds: float) -> Sequence[float]:
        """The milliseconds of all turns in that time."""
        self.milliseconds = []
        until = time.monotonic() + seconds
        threads = [threading.Thread(target=self._talk, args=(talk, until)) for talk in self.talks]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        return self.milliseconds

    def _talk(self, talk: Talk, until: float) -> None:
        while time.monotonic() < until:
            started = time.perf_counter()
            reply = talk.say(self.port, "hours")
            took = (time.perf_counter() - started) * 1000
            if reply and reply.said == "Nine to five.":
                self.milliseconds.append(took)
            else:
                self.failed += 1
            time.sleep(PAUSE)


def p99(milliseconds: Sequence[float]) -> float:
    return statistics.quantiles(milliseconds, n=100)[98]
