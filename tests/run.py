"""All that must hold, in two lanes beside each other: the checks, and all tests, on SQLite and on a real PostgreSQL.

Tests with browsers and servers wait much of their time; meanwhile the other lane has the processor.
"""

import os
import subprocess
import sys
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from itertools import chain
from threading import Event

#: Where tests with a browser are: only there they are looked for.
BROWSER_FOLDERS = ("tests/browser", "tests/demo")
#: What pytest gives when nothing was asked for that this part has.
NOTHING_TO_RUN = 5


@dataclass(frozen=True)
class Part:
    """Something that is run by itself, with an answer of its own."""

    name: str
    command: tuple[str, ...]
    environment: dict[str, str] = field(default_factory=dict)
    #: What was asked for may have nothing to do with this part.
    may_be_empty: bool = False

    def run(self, *, at_once: bool) -> bool:
        """True when it holds. It is told as it goes, or `at_once` when it is done."""
        told = subprocess.run(
            [sys.executable, "-m", *self.command],
            # What one process compiled, the others need not: there are dozens, of workers and of servers.
            env={**os.environ, "CE_DEBUG": "true", "PYTHONDONTWRITEBYTECODE": "", **self.environment},
            stdout=subprocess.PIPE if at_once else None,
            stderr=subprocess.STDOUT if at_once else None,
            text=True,
            check=False,
        )
        holds = told.returncode == 0 or (self.may_be_empty and told.returncode == NOTHING_TO_RUN)
        if at_once:
            print(f"\n== {self.name} ==\n{told.stdout}", end="", flush=True)
        return holds


def lanes(arguments: Sequence[str]) -> tuple[tuple[Part, ...], tuple[Part, ...]]:
    """The parts, each lane in its order. With arguments for pytest it is only tests."""
    # One by one, so that no worker keeps tests to itself while another idles; in order, as some empty the database.
    pytest = ("pytest", "-n", "2", "--maxschedchunk", "1", "-m")

    def tests(name: str, marked: str, paths: Sequence[str] = (), **environment: str) -> Part:
        return Part(name, (*pytest, marked, *(arguments or paths)), environment, may_be_empty=bool(arguments))

    checks = () if arguments else (Part("checks", ("tests.check",)),)
    browser = tests("browser", "browser", BROWSER_FOLDERS)
    sqlite = tests("sqlite", "not browser", CE_TEST_DATABASE="sqlite")
    # Pure tests say the same on every database; once is enough.
    postgres = tests("postgres", "not browser", CE_TEST_DATABASE="postgres", CE_TEST_DATABASE_ONLY="true")
    return (*checks, sqlite), (browser, postgres)


def main(arguments: Sequence[str]) -> int:
    """0 only when all parts hold."""

    interrupted = Event()

    def run(lane: tuple[Part, ...], at_once: bool) -> list[tuple[str, bool]]:
        return [(part.name, not interrupted.is_set() and part.run(at_once=at_once)) for part in lane]

    with ThreadPoolExecutor() as beside:
        try:
            results = dict(chain(*beside.map(run, lanes(arguments), (False, True))))
        except KeyboardInterrupt:
            # It reaches the processes that run; none is begun after them.
            interrupted.set()
            raise
    print("\n" + ", ".join(f"{name}: {'passed' if holds else 'FAILED'}" for name, holds in results.items()))
    return 0 if all(results.values()) else 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
