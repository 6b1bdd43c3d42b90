"""Turns that stand still or last long: the conversation goes on, and one of two turns counts."""

import os
import signal
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path

import pytest
from django.conf import settings
from django.db import connection, transaction

from tests.api import make_key
from tests.live import ledger
from tests.live.client import Talk
from tests.live.configuration import configure
from tests.live.processes import Server
from tests.worlds import create_help_desk

LEASE_SECONDS = 5
ON_POSTGRES = settings.DATABASES["default"]["ENGINE"].endswith("postgresql")


@pytest.fixture
def talk() -> Talk:
    create_help_desk()
    configure("Session/LEASE_SECONDS", LEASE_SECONDS)
    return Talk(make_key())


@pytest.fixture
def background() -> Iterator[ThreadPoolExecutor]:
    with ThreadPoolExecutor(1) as pool:
        yield pool


def wait_for_stalled_process(struck: Path, number: str) -> int:
    """Wait until the turn stands where it was told to; gives its process."""
    deadline = time.monotonic() + 20
    note = struck / number
    while not (note.exists() and note.read_text()):
        assert time.monotonic() < deadline
        time.sleep(0.02)
    return int(note.read_text())


@pytest.mark.slow
@pytest.mark.parametrize(
    "flush", [pytest.param("TURN", marks=pytest.mark.long), pytest.param("STEP", marks=pytest.mark.nightly)]
)
def test_a_process_that_wakes_up_after_its_lease_stores_nothing(
    doomed: Callable[..., Server],
    servers: Callable[..., list[Server]],
    talk: Talk,
    tmp_path: Path,
    background: ThreadPoolExecutor,
    flush: str,
) -> None:
    configure("AUDIT/FLUSH", flush)
    sleeper, (server,) = doomed(), servers(1)
    talk.say(sleeper.port, "hours")

    late = background.submit(talk.say, sleeper.port, "fees", doom="1 stop before RulesStep")
    process = wait_for_stalled_process(tmp_path, "1")
    meanwhile = talk.say(server.port, "hours")
    os.kill(process, signal.SIGCONT)

    assert meanwhile
    assert (meanwhile.status, meanwhile.body["turnNo"]) == (200, 3)
    refused = late.result()
    assert refused
    assert (refused.status, refused.body["errorCode"]) == (409, "TURN_CONFLICT")
    assert ledger.check([talk]) == {"OK": 2, "LEASE_EXPIRED": 1}


@pytest.mark.long
def test_a_turn_that_lasts_longer_than_its_lease_keeps_it(
    doomed: Callable[..., Server], talk: Talk, tmp_path: Path, background: ThreadPoolExecutor
) -> None:
    configure("Session/LEASE_WAIT_SECONDS", 30)
    server = doomed(CE_TEST_SLEEP_SECONDS=str(LEASE_SECONDS + 2))

    long = background.submit(talk.say, server.port, "fees", doom="1 sleep before RulesStep")
    wait_for_stalled_process(tmp_path, "1")
    next_one = talk.say(server.port, "hours")

    first = long.result()
    assert first
    assert next_one
    assert (first.status, first.body["turnNo"]) == (200, 1)
    assert (next_one.status, next_one.body["turnNo"]) == (200, 2)
    assert ledger.check([talk]) == {"OK": 2}


@contextmanager
def stalled_commits() -> Iterator[None]:
    """Meanwhile, whoever writes a turn waits for the advisory lock 1 in the middle of the commit."""
    with connection.cursor() as cursor:
        cursor.execute(
            "CREATE FUNCTION ce_test_stall() RETURNS trigger LANGUAGE plpgsql AS "
            "'BEGIN PERFORM pg_advisory_xact_lock(1); RETURN NEW; END'"
        )
        cursor.execute(
            "CREATE TRIGGER ce_test_stall BEFORE INSERT ON ce_conversation_history "
            "FOR EACH ROW EXECUTE FUNCTION ce_test_stall()"
        )
    yield
    with connection.cursor() as cursor:
        cursor.execute("DROP FUNCTION ce_test_stall CASCADE")


@pytest.mark.long
@pytest.mark.skipif(not ON_POSTGRES, reason="SQLite has one lock for the whole database, which a frozen commit keeps")
def test_a_commit_that_stands_still_is_neither_waited_for_nor_taken_for_dead(
    servers: Callable[..., list[Server]], talk: Talk, background: ThreadPoolExecutor
) -> None:
    configure("Session/LEASE_WAIT_SECONDS", 1)
    slow, server = servers(2)
    talk.say(slow.port, "hours")

    with stalled_commits(), transaction.atomic():
        with connection.cursor() as cursor:
            cursor.execute("SELECT pg_advisory_xact_lock(1)")
        late = background.submit(talk.say, slow.port, "fees")
        time.sleep(LEASE_SECONDS + 0.5)
        began = time.monotonic()
        meanwhile = talk.say(server.port, "hours")
        waited = time.monotonic() - began

    assert meanwhile
    assert (meanwhile.status, meanwhile.body["errorCode"]) == (409, "TURN_IN_PROGRESS")
    assert waited < 4
    done = late.result()
    assert done
    assert (done.status, done.body["turnNo"]) == (200, 2)
    assert ledger.check([talk]) == {"OK": 2}
