"""Requests that took the whole server once, many of them at once, beside ordinary turns on two processes."""

import json
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager

import pytest

from config_admin.contrib.original.reader import MOST_BYTES
from tests.api import make_key
from tests.live import ledger
from tests.live.client import Talk
from tests.live.load import CONVERSATIONS, NOISE_MS, SECONDS, Load, p99
from tests.live.processes import ROOT, Server
from tests.pace import allow
from tests.worlds import create_help_desk

pytestmark = pytest.mark.nightly
Servers = Callable[..., list[Server]]
#: Seconds in which nothing is measured.
BEGIN = 2.0
#: The turns of the conversation that is saved as a scenario.
TURNS = 10
SQL = "INSERT INTO ce_config VALUES (1);\n" * (2 * MOST_BYTES // 30)


@contextmanager
def repeat(count: int, port: int, seconds: float, request: str) -> Iterator[list[int]]:
    """So many calls at once, each second, from a process of their own, which takes no time of the measurement.

    Gives their statuses, when the block has ended.
    """
    statuses: list[int] = []
    command = [sys.executable, "-m", "tests.live.callers", str(count), str(port), str(seconds)]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, cwd=ROOT) as callers:
        assert callers.stdin
        assert callers.stdout
        callers.stdin.write(request)
        callers.stdin.close()
        yield statuses
        statuses += json.loads(callers.stdout.read())


@pytest.mark.parametrize(
    ("count", "what", "status"),
    [(16, "schema", 200), (2, "scenario", 200), (4, "sql", 400)],
)
def test_costly_requests_cost_ordinary_turns_little(
    servers: Servers, count: int, what: str, status: int, capsys: pytest.CaptureFixture[str]
) -> None:
    create_help_desk()
    (server,) = servers(1, workers=2)
    secret = make_key(scopes=["turns", "audit", "config"])
    load = Load(server.port, [Talk(secret) for _ in range(CONVERSATIONS)])
    recorded = Talk(secret)
    for _ in range(TURNS):
        recorded.say(server.port, "hours")
    method, path, body = {
        "schema": ("GET", "/api/schema/", None),
        "scenario": ("GET", f"/api/v1/conversation/audit/{recorded.conversation_id}/scenario", None),
        "sql": ("POST", "/api/v1/config/import", json.dumps({"sql": SQL})),
    }[what]
    request = json.dumps({"method": method, "path": path, "secret": secret, "body": body})
    # The first calls are not measured: each process writes the OpenAPI document once, which takes half a second.
    with repeat(count, server.port, BEGIN, request):
        load.run(BEGIN)
    alone = list(load.run(SECONDS))
    with repeat(count, server.port, SECONDS, request) as statuses:
        beside = list(load.run(SECONDS))
    with capsys.disabled():
        print(
            f"\n{count} × {what}: p99 {p99(alone):.0f} → {p99(beside):.0f} ms, turns {len(alone)} → {len(beside)}, "
            f"calls {len(statuses)}, failed {load.failed}"
        )

    assert set(statuses) == {status}
    assert load.failed == 0
    assert p99(beside) <= max(3 * p99(alone), allow(NOISE_MS))
    ledger.check([recorded, *load.talks])
