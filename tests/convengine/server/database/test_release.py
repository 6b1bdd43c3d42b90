"""Who waits for another thread holds no connection: the pool of a process has two."""

import re
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from config_admin.health.background import CheckRun
from config_admin.transfer.import_progress import follow_work
from config_admin.validation.world import World
from convengine.server.database import release
from convengine.server.extensions.bounded import call_within
from tests.builders import make_snapshot

ROOT = Path(release.__file__).parents[3]
#: All modules that start threads, and why none of their callers waits with a connection in hand.
STARTS_THREADS = {
    "audit/integrity/verify_all.py": "a command; it waits for processes, each with connections of its own",
    "audit/live/hub.py": "nobody waits for the bus; the hub waits in the event loop, which has no connection",
    "config_admin/health/background.py": "releases",
    "config_admin/transfer/import_progress.py": "releases",
    "convengine/server/database/postgresql/watch.py": "nobody waits for it",
    "convengine/server/extensions/bounded.py": "releases",
    "convengine/server/jobs/background.py": "nobody waits for it",
    "convengine/server/jobs/in_process.py": "nobody waits for it",
    "convengine/server/mcp_server/server.py": "waits in the event loop, which has no connection",
    "convengine/server/outgoing/loop.py": "ports of a turn, `send` and the outbox release first",
    "convengine/server/observability/sampler.py": "nobody waits for it",
    "convengine/server/phrase_models/store.py": "releases",
    "convengine/server/probes/readiness.py": "its callers are probes, which have no connection",
    "convengine/server/turns/acquire.py": "nobody waits for it",
    "convengine/server/turns/watchdog.py": "nobody waits for it",
}


class FakeConnection:
    """Open until it is closed."""

    def __init__(self, *, in_atomic_block: bool = False) -> None:
        self.in_atomic_block = in_atomic_block
        self.closed = threading.Event()

    def close(self) -> None:
        self.closed.set()


class FakeConnections:
    def __init__(self, *connections: FakeConnection) -> None:
        self._connections = connections

    def all(self, *, initialized_only: bool) -> tuple[FakeConnection, ...]:
        return self._connections


@pytest.fixture
def held(monkeypatch: pytest.MonkeyPatch) -> FakeConnection:
    connection = FakeConnection()
    monkeypatch.setattr(release, "connections", FakeConnections(connection))
    return connection


def test_a_connection_inside_a_transaction_is_kept(monkeypatch: pytest.MonkeyPatch) -> None:
    busy, idle = FakeConnection(in_atomic_block=True), FakeConnection()
    monkeypatch.setattr(release, "connections", FakeConnections(busy, idle))

    release.release_connections()

    assert (busy.closed.is_set(), idle.closed.is_set()) == (False, True)


def _wait_for_check(work: Callable[[], bool]) -> bool:
    run = CheckRun(make_snapshot(), World())
    threading.Thread(target=lambda: (setattr(run, "health", work()), run.ended.set())).start()
    return bool(run.wait(10))


def _wait_for_import(work: Callable[[], bool]) -> bool:
    return [news.result for news in follow_work(lambda progress: work())][-1]  # type: ignore[union-attr]


def _wait_for_registered_code(work: Callable[[], bool]) -> bool:
    return call_within(10_000, work)


@pytest.mark.parametrize("wait", [_wait_for_check, _wait_for_import, _wait_for_registered_code])
def test_work_that_somebody_waits_for_finds_the_waiting_connection_in_the_pool(wait: Any, held: FakeConnection) -> None:
    assert wait(lambda: held.closed.wait(10))


def test_every_module_that_starts_threads_is_known() -> None:
    pattern = re.compile(r"threading\.Thread\(|PoolExecutor\(")
    found = {
        str(file.relative_to(ROOT))
        for app in ("convengine", "config_admin", "audit")
        for file in (ROOT / app).rglob("*.py")
        if pattern.search(file.read_text("utf-8"))
    }

    assert found == STARTS_THREADS.keys()
