"""What every write has in common."""

import re
import threading
import uuid
from collections.abc import Callable
from datetime import datetime
from pathlib import Path
from typing import Any
from zoneinfo import ZoneInfo

import pytest

from config_admin.health.background import CheckRun
from config_admin.models import CeResponse
from config_admin.transfer.import_progress import follow_work
from config_admin.validation.world import World
from convengine.server.database import sql
from convengine.server.database.sql import database_time, release_connections
from convengine.server.extensions.bounded import call_within
from convengine.server.sessions.models import CeConversation, CeConversationHistory
from tests.api import Caller
from tests.builders import make_snapshot
from tests.worlds import create_help_desk

pytestmark = [pytest.mark.django_db, pytest.mark.dialects]
ROOT = Path(sql.__file__).parents[3]
#: All modules that start threads, and why none of their callers waits with a connection in hand.
STARTS_THREADS = {
    "audit/integrity/verify_all.py": "a command; it waits for processes, each with connections of its own",
    "audit/live/hub.py": "waits in the event loop, which has no connection; nobody waits for the thread of the bus",
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


def test_a_text_that_no_database_takes_is_stored_without_it() -> None:
    create_help_desk()
    CeResponse.objects.filter(intent_code="HOURS").update(exact_text='{{ inputParams.z }} {{ "\\ud83d" }}!')
    caller = Caller(conversation_id=str(uuid.uuid4()))

    first = caller.say("hours", inputParams={"z": "q\x00"})
    second = caller.say("hours")

    assert (first["payload"]["value"], first["success"], second["turnNo"]) == ("q\ufffd \ufffd!", True, 2)
    assert "\x00" not in CeConversation.objects.get().context_summary
    assert set(CeConversationHistory.objects.values_list("status", flat=True)) == {"OK"}


@pytest.mark.parametrize("zone", ["Europe/Berlin", "America/New_York", "Asia/Kathmandu", "UTC"])
def test_a_clock_that_stands_may_have_any_zone(settings: Any, zone: str) -> None:
    noon = datetime(2026, 7, 1, 12, tzinfo=ZoneInfo(zone))
    settings.CONVENGINE = {**settings.CONVENGINE, "CLOCK_AT": noon}

    assert database_time() == noon


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
    monkeypatch.setattr(sql, "connections", FakeConnections(connection))
    return connection


def test_a_connection_inside_a_transaction_is_kept(monkeypatch: pytest.MonkeyPatch) -> None:
    busy, idle = FakeConnection(in_atomic_block=True), FakeConnection()
    monkeypatch.setattr(sql, "connections", FakeConnections(busy, idle))

    release_connections()

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
