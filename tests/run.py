"""All that must hold, in parts: some run beside each other, and where one ends, the next begins.

Tests with browsers and servers wait much of their time, so two parts run for each processor. Most tests are dealt out
to several processes, each of which collects only its own files and needs nobody to give it the next test.
`--quick` runs what a change of the engine breaks first. `--long` runs what takes too long for every change: servers
that are killed, walks through the pages, what differs on SQLite. `--ci` runs it beside all that must hold.
`--nightly` runs the rest: load, tables of 10,000 rows, variants, more examples.
"""

import os
import subprocess
import sys
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field, replace
from itertools import chain, repeat
from threading import Event

from tests.kinds import list_files
from tests.migrated import get_run_folder

#: The engine, the worlds that are played, and a smoke test: a few tests through everything.
QUICK = (
    *("tests/convengine/engine", "tests/scenarios", "tests/demo/test_readme.py"),
    *("tests/convengine/server/api/test_turn.py", "tests/config_admin/releases/test_make_release.py"),
    *("tests/config_admin/admin/test_every_change.py", "tests/audit/timeline/test_turn.py"),
)


_LESS = ("nice", "-n", "3")


@dataclass(frozen=True)
class Part:
    """Something that is run by itself, with an answer of its own."""

    name: str
    command: tuple[str, ...]
    environment: dict[str, str] = field(default_factory=dict)
    #: It gets half as much of a busy processor as others, some of whose tests have deadlines.
    is_patient: bool = False

    def run(self, *, at_once: bool) -> bool:
        """True when it holds. Its output is printed as it comes, or `at_once` when it has ended."""
        ended = subprocess.run(
            [*(_LESS if self.is_patient else ()), sys.executable, "-m", *self.command],
            # What one process compiled, the others need not: there are dozens, of workers and of servers.
            env={**os.environ, "CE_DEBUG": "true", "PYTHONDONTWRITEBYTECODE": "", **self.environment},
            stdout=subprocess.PIPE if at_once else None,
            stderr=subprocess.STDOUT if at_once else None,
            text=True,
            check=False,
        )
        if at_once:
            print(f"\n== {self.name} ==\n{ended.stdout}", end="", flush=True)
        return ended.returncode == 0


#: The processes that share most tests. Each costs seconds to start; with three, a processor was idle at the end.
SHARES = 4
QUICK_SHARES = 2
CHECKS = Part("checks", ("tests.check",))


def _tests(name: str, marked: str, paths: Sequence[str], database: str = "sqlite") -> Part:
    return Part(name, ("pytest", "-n0", "-m", marked, *paths), {"CE_TEST_DATABASE": database})


def _shares(name: str, count: int, marked: str, paths: Sequence[str], database: str = "sqlite") -> list[Part]:
    """The same tests in so many parts, each with a share of the files."""
    shares = [f"{number}/{count}" for number in range(1, count + 1)]
    parts = [_tests(f"{name} {share}", marked, paths, database) for share in shares]
    for part, share in zip(parts, shares, strict=True):
        part.environment["CE_TEST_SHARE"] = share
    return parts


def _workers(name: str, marked: str, paths: Sequence[str], database: str = "sqlite") -> Part:
    # Two processes take file by file, as some take minutes: what its tests share is made once.
    by_file = ("-n", "2", "--dist", "loadfile", "--no-loadscope-reorder")
    return Part(name, ("pytest", *by_file, "-m", marked, *paths), {"CE_TEST_DATABASE": database})


def list_parts(arguments: Sequence[str] = ()) -> list[Part]:
    """The parts, in the order in which they begin: the short ones last, to fill what the others leave."""
    if "--quick" in arguments:
        return [*_shares("quick", QUICK_SHARES, "not slow and not long", QUICK), CHECKS]
    if "--long" in arguments:
        servers = _workers("servers", "long and not nightly and not browser", ["tests"], "postgres")
        walks = _workers("walks", "long and not nightly and browser", list_files("browser"))
        # What differs on SQLite; on PostgreSQL, the servers' part and `make test` run these tests.
        dialects = _tests("dialects", "dialects and not nightly", list_files("dialects"))
        return [servers, replace(walks, is_patient=True), replace(dialects, is_patient=True)]
    if "--ci" in arguments:
        # The servers' tests wait much of their time, and have deadlines; all others take what they leave.
        servers, *others = [*list_parts(["--long"]), *list_parts()]
        return [servers, *(replace(part, is_patient=True) for part in others)]
    if "--nightly" in arguments:
        examples = _workers("examples", "hypothesis and not long and not transactional", ["tests"], "postgres")
        examples.environment["CE_TEST_EXAMPLES"] = "all"
        servers = _workers("servers", "nightly and not browser", ["tests"], "postgres")
        return [servers, _workers("browser", "nightly and browser", list_files("browser")), examples]
    tests = _shares("tests", SHARES, "not browser and not transactional and not long", ["tests"], "postgres")
    transactional = _tests("transactional", "transactional and not long", list_files("transactional"), "postgres")
    # All of its files; whoever has a share has a database of the same server, which is started and migrated once.
    transactional.environment["CE_TEST_SHARE"] = "1/1"
    browser = _tests("browser", "browser and not long", list_files("browser"))
    return [browser, transactional, *tests, CHECKS]


def count_at_once(arguments: Sequence[str] = ()) -> int:
    """How many parts run beside each other: two where servers are killed, whose tests have deadlines.

    Of `--nightly`, which measures load, one.
    """
    if "--nightly" in arguments:
        return 1
    return 2 if {"--long", "--ci"} & {*arguments} else 2 * (os.cpu_count() or 1)


def main(arguments: Sequence[str]) -> int:
    """0 only when all parts hold."""
    interrupted = Event()
    get_run_folder()

    def run(part: Part, at_once: bool) -> tuple[str, bool]:
        return part.name, not interrupted.is_set() and part.run(at_once=at_once)

    beside = count_at_once(arguments)
    with ThreadPoolExecutor(beside) as pool:
        try:
            results = dict(pool.map(run, list_parts(arguments), chain([False], repeat(beside > 1))))
        except KeyboardInterrupt:
            # It reaches the processes that run; none is begun after them.
            interrupted.set()
            raise
    print("\n" + ", ".join(f"{name}: {'passed' if holds else 'FAILED'}" for name, holds in results.items()))
    return 0 if all(results.values()) else 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
