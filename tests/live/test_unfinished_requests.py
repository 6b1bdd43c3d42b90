"""Requests that never end and answers that nobody reads, beside ordinary turns on two processes."""

import statistics
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from tests.api import make_key
from tests.live import ledger
from tests.live.attackers import KINDS
from tests.live.client import Talk
from tests.live.load import CONVERSATIONS, NOISE_MS, SECONDS, Load, p99
from tests.live.processes import ROOT, Server
from tests.pace import allow
from tests.worlds import create_help_desk

Servers = Callable[..., list[Server]]
#: Seconds in which nothing is judged by its ratio: the first turns, of a new server and beside attackers who connect.
BEGIN = 2.0
#: A turn that arrives with 1,000 requests is answered among them; one that waits for an attacker waits for the 5 s that
#: a request may take.
FIRST_MS = 2500.0


@contextmanager
def attack(kind: str, count: int, port: int) -> Iterator[list[str]]:
    """Attackers in a process of their own, for as long as the block lasts; then what they were answered."""
    command = [sys.executable, "-m", "tests.live.attackers", kind, str(count), str(port), str(BEGIN + SECONDS + 6)]
    answers: list[str] = []
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True, cwd=ROOT) as process:
        assert process.stdout
        assert process.stdout.readline() == "ready\n"
        yield answers
        answers.append(process.stdout.readline().strip())


def memory_mb(server: Server) -> float:
    """The resident memory of a server's processes."""
    pids = [server.pid, *map(int, Path(f"/proc/{server.pid}/task/{server.pid}/children").read_text().split())]
    lines = [line for pid in pids for line in Path(f"/proc/{pid}/status").read_text().splitlines()]
    return sum(int(line.split()[1]) for line in lines if line.startswith("VmRSS")) / 1024


@pytest.mark.long
@pytest.mark.nightly
@pytest.mark.parametrize("count", [40, 1000])
@pytest.mark.parametrize("kind", KINDS)
def test_requests_that_never_end_cost_ordinary_turns_nothing(
    servers: Servers, kind: str, count: int, capsys: pytest.CaptureFixture[str]
) -> None:
    create_help_desk()
    (server,) = servers(1, workers=2)
    secret = make_key()
    load = Load(server.port, [Talk(secret) for _ in range(CONVERSATIONS)])
    load.run(BEGIN)
    before, alone = memory_mb(server), list(load.run(SECONDS))
    with attack(kind, count, server.port) as answers:
        # One turn of each conversation arrives with all attackers, and these are more than one of a hundred.
        first = list(load.run(BEGIN))
        beside = list(load.run(SECONDS))
        during = memory_mb(server)
    if p99(beside) > max(2 * p99(alone), allow(NOISE_MS)):
        # One pause of the machine is a turn of each conversation, and these are one of a hundred. It comes once; a turn
        # that waits for an attacker waits each time.
        with attack(kind, count, server.port):
            load.run(BEGIN)
            beside = list(load.run(SECONDS))
    with capsys.disabled():
        print(
            f"\n{count} {kind}: p50 {statistics.median(alone):.0f} → {statistics.median(beside or [0]):.0f} ms, "
            f"p99 {p99(alone):.0f} → {p99([*beside, 0, 0]):.0f} ms, turns {len(alone)} → {len(beside)}, "
            f"first ones at most {max(first, default=0):.0f} ms, failed {load.failed}, "
            f"memory {before:.0f} → {during:.0f} MB, attackers were answered {answers[0]}"
        )

    assert load.failed == 0
    assert max(first) <= allow(FIRST_MS)
    assert p99(beside) <= max(2 * p99(alone), allow(NOISE_MS))
    ledger.check(load.talks)
