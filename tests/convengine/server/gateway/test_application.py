import asyncio
import threading
from collections.abc import Awaitable, Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import pytest

from convengine.server.gateway import limits
from convengine.server.gateway.application import Gateway
from convengine.server.gateway.threads import RequestThreads

KB = 1024


class Called:
    """A WSGI application that notes what it got, and whether its answer was closed."""

    def __init__(self, *chunks: bytes, status: str = "200 OK") -> None:
        self.chunks = chunks
        self.status = status
        self.bodies: list[bytes] = []
        self.closed = threading.Event()

    def __call__(self, environ: dict[str, Any], start_response: Any) -> Any:
        self.bodies.append(environ["wsgi.input"].read())
        start_response(self.status, [("Content-Type", "text/plain")])
        return self

    def __iter__(self) -> Iterator[bytes]:
        return iter(self.chunks)

    def close(self) -> None:
        self.closed.set()


class Client:
    """One request, and what was answered."""

    def __init__(
        self, *parts: bytes, complete: bool = True, headers: Sequence[tuple[bytes, bytes]] = (), path: str = "/"
    ) -> None:
        self._messages = [
            {"type": "http.request", "body": part, "more_body": not complete or number < len(parts)}
            for number, part in enumerate(parts, 1)
        ]
        self.scope = {
            "type": "http",
            "method": "POST",
            "http_version": "1.1",
            "path": path,
            "query_string": b"",
            "headers": list(headers or ([(b"transfer-encoding", b"chunked")] if parts else [])),
            "client": ("10.0.0.7", 1),
        }
        self.sent: list[Mapping[str, Any]] = []
        #: Seconds between two parts of the request, and before the client takes the next part of the answer.
        self.drip = self.slow = 0.0

    async def receive(self) -> Mapping[str, Any]:
        if self._messages:
            await asyncio.sleep(self.drip)
            return self._messages.pop(0)
        await asyncio.sleep(60)
        raise AssertionError("nobody waits so long")

    async def send(self, message: Mapping[str, Any]) -> None:
        if message.get("more_body"):
            await asyncio.sleep(self.slow)
        self.sent.append(message)

    @property
    def status(self) -> int:
        return int(self.sent[0]["status"])

    @property
    def headers(self) -> dict[bytes, bytes]:
        return dict(self.sent[0]["headers"])

    @property
    def body(self) -> bytes:
        return b"".join(message["body"] for message in self.sent[1:])

    @property
    def is_complete(self) -> bool:
        return not self.sent[-1].get("more_body", self.sent[-1]["type"] == "http.response.start")


Serve = Callable[..., Awaitable[None]]


@pytest.fixture
def serve(settings: Any, monkeypatch: pytest.MonkeyPatch) -> Callable[..., Client]:
    """Serve clients at once with short limits; returns the first."""
    monkeypatch.setattr(limits, "_GRACE", 0.05)
    monkeypatch.setattr(limits, "_SPREAD", 0.0)

    def serve(application: Any, *clients: Client, **values: Any) -> Client:
        short = {"TRANSFER_SECONDS": 0.3, "TRANSFER_BYTES_PER_SECOND": 100 * KB, **values}
        settings.CONVENGINE = {**settings.CONVENGINE, **short}
        gateway = Gateway(application)

        async def run() -> None:
            await asyncio.gather(*(gateway(client.scope, client.receive, client.send) for client in clients))

        asyncio.run(run())
        assert gateway.count()["transfers"]["unfinished"] == 0
        assert gateway.count()["transfers"]["held_bytes"] == 0
        return clients[0]

    return serve


def test_a_request_is_run_when_it_is_complete(serve: Callable[..., Client]) -> None:
    application = Called(b"yes ", b"sir")
    client = serve(application, Client(b"ab", b"cd"))

    assert (client.status, client.body, client.is_complete) == (200, b"yes sir", True)
    assert application.bodies == [b"abcd"]
    assert application.closed.wait(20)


def test_a_request_without_a_body_is_not_waited_for(serve: Callable[..., Client]) -> None:
    assert serve(Called(b"yes"), Client()).body == b"yes"


def test_a_large_body_arrives_whole(serve: Callable[..., Client]) -> None:
    application = Called()
    parts = [bytes([number]) * 50 * KB for number in range(4)]
    serve(application, Client(*parts))

    assert application.bodies == [b"".join(parts)]


def test_a_body_of_http_2_is_read_although_no_header_announces_it(serve: Callable[..., Client]) -> None:
    application, client = Called(), Client(b"ab", b"cd", headers=[(b"accept", b"*/*")])
    client.scope["http_version"] = "2"
    serve(application, client)

    assert application.bodies == [b"abcd"]


def test_a_body_that_is_announced_too_large_is_not_read(serve: Callable[..., Client]) -> None:
    application = Called()
    client = serve(application, Client(b"x", headers=[(b"content-length", b"99999999")], path="/api/v1/x"))

    assert client.status == 413
    assert b"REQUEST_TOO_LARGE" in client.body
    assert application.bodies == []


def test_a_body_in_chunks_is_counted(serve: Callable[..., Client]) -> None:
    client = serve(Called(), Client(*[b"x" * 100 * KB] * 4), MAX_REQUEST_BYTES=KB, MAX_IMPORT_BYTES=200 * KB)

    assert client.status == 413


@pytest.mark.parametrize("drip", [0.0, 0.02])
def test_a_body_that_does_not_end_is_given_up(serve: Callable[..., Client], drip: float) -> None:
    application = Called()
    client = Client(*[b"x"] * 1000, complete=False, path="/api/v1/x")
    client.drip = drip
    serve(application, client)

    assert (client.status, client.headers[b"connection"]) == (408, b"close")
    assert b"REQUEST_TIMEOUT" in client.body
    assert application.bodies == []


def test_a_body_that_breaks_off_or_has_a_wrong_chunk_is_refused(serve: Callable[..., Client]) -> None:
    application, client = Called(), Client(b"x", complete=False, path="/api/v1/x")
    # So the server reports either.
    client._messages.append({"type": "http.disconnect"})
    serve(application, client)

    assert (client.status, client.headers[b"connection"]) == (400, b"close")
    assert b"VALIDATION_ERROR" in client.body
    assert application.bodies == []


def test_a_body_that_comes_fast_enough_has_more_time(serve: Callable[..., Client]) -> None:
    client = Client(*[b"x" * 10 * KB] * 6)
    client.drip = 0.1

    assert serve(Called(b"yes"), client).status == 200


def test_only_so_many_requests_may_be_unfinished(serve: Callable[..., Client]) -> None:
    clients = [Client(b"x", complete=False) for _ in range(5)]
    serve(Called(), *clients, MAX_UNFINISHED_PER_ADDRESS=2)

    assert sorted(client.status for client in clients) == [408, 408, 503, 503, 503]
    refused = next(client for client in clients if client.status == 503)
    assert refused.headers[b"retry-after"] == b"1"


def send_unfinished(serve: Callable[..., Client], headers: Sequence[tuple[bytes, bytes]], **values: Any) -> list[int]:
    """The answers to a request of each header, none of which ends."""
    clients = [Client(b"x", complete=False, headers=[(b"content-length", b"9"), header]) for header in headers]
    serve(Called(), *clients, **values)
    return [client.status for client in clients]


def test_the_caller_of_a_trusted_proxy_counts(serve: Callable[..., Client]) -> None:
    callers = [(b"x-forwarded-for", f"1.1.1.1, 192.0.2.{number}".encode()) for number in (1, 1, 2)]

    assert send_unfinished(serve, callers, MAX_UNFINISHED_PER_ADDRESS=1, TRUSTED_PROXIES=1) == [408, 503, 408]
    # What a caller writes itself is not believed.
    assert send_unfinished(serve, callers, MAX_UNFINISHED_PER_ADDRESS=1, TRUSTED_PROXIES=0) == [408, 503, 503]
    assert send_unfinished(serve, callers, MAX_UNFINISHED_PER_ADDRESS=1, TRUSTED_PROXIES=2) == [408, 503, 503]


def test_only_so_many_requests_of_one_key_may_be_unfinished(serve: Callable[..., Client]) -> None:
    keys = [(b"authorization", b"Api-Key " + key) for key in (b"a", b"a", b"b")]

    assert send_unfinished(serve, keys, MAX_UNFINISHED_PER_KEY=1) == [408, 503, 408]
    assert send_unfinished(serve, [(b"accept", b"*/*")] * 2, MAX_UNFINISHED_PER_KEY=1) == [408, 408]


def test_the_bytes_of_all_bodies_are_limited(serve: Callable[..., Client]) -> None:
    clients = [Client(*[b"x" * 60 * KB] * 3, complete=False) for _ in range(3)]
    serve(Called(), *clients, MAX_HELD_BYTES=300 * KB)

    assert sorted(client.status for client in clients)[-1] == 503


def test_a_request_beyond_the_queue_is_refused(serve: Callable[..., Client]) -> None:
    release = threading.Event()

    def waits(environ: dict[str, Any], start_response: Any) -> Any:
        release.wait(0.3)
        start_response("200 OK", [])
        return [b""]

    clients = [Client() for _ in range(4)]
    serve(waits, *clients, THREADS=1, MAX_QUEUED=1)

    assert sorted(client.status for client in clients) == [200, 200, 503, 503]


def test_a_large_answer_is_sent_in_parts_and_its_thread_does_not_wait_for_the_reader(
    serve: Callable[..., Client],
) -> None:
    application = Called(*[b"x" * 50 * KB] * 10)
    client = Client()
    client.slow = 0.02
    serve(application, client)

    assert (client.body, client.is_complete) == (b"x" * 500 * KB, True)
    assert application.closed.wait(20)


def test_an_answer_that_is_not_read_is_given_up(serve: Callable[..., Client]) -> None:
    application = Called(*[b"x" * 50 * KB] * 10)
    client = Client()
    client.slow = 5
    serve(application, client)

    assert not client.is_complete
    assert application.closed.wait(20)


def test_a_file_is_read_by_the_event_loop(serve: Callable[..., Client], tmp_path: Path) -> None:
    (tmp_path / "file").write_bytes(b"0123456789" * 20 * KB)

    class FileAnswer:
        def __init__(self) -> None:
            self.file_to_stream = (tmp_path / "file").open("rb")

        def close(self) -> None:
            self.file_to_stream.close()

    def application(environ: dict[str, Any], start_response: Any) -> Any:
        start_response("200 OK", [])
        return FileAnswer()

    assert serve(application, Client()).body == b"0123456789" * 20 * KB


@pytest.mark.parametrize("fault", [ValueError, SystemExit, asyncio.CancelledError])
def test_an_application_that_raises_is_an_error_of_the_server(
    serve: Callable[..., Client], fault: type[BaseException]
) -> None:
    def broken(environ: dict[str, Any], start_response: Any) -> Any:
        raise fault("broken")

    assert serve(broken, Client()).status == 500


def test_an_answer_that_breaks_off_is_not_complete(serve: Callable[..., Client]) -> None:
    def application(environ: dict[str, Any], start_response: Any) -> Iterator[bytes]:
        start_response("200 OK", [])
        yield b"x" * 100 * KB
        raise ValueError("broken")

    client = serve(application, Client())

    assert (client.status, client.is_complete) == (200, False)


def test_other_kinds_of_connections_are_ignored() -> None:
    async def nothing(*_: Any) -> Any:
        raise AssertionError

    asyncio.run(Gateway(Called())({"type": "lifespan"}, nothing, nothing))


@pytest.mark.parametrize("hangs", ["/", "/readyz", "/metrics"])
def test_a_probe_is_answered_while_all_threads_and_other_probes_are_busy(hangs: str) -> None:
    busy, go_on = threading.Event(), threading.Event()

    def work(environ: dict[str, Any], start_response: Any) -> Any:
        if environ["PATH_INFO"] != "/livez":
            busy.set()
            go_on.wait(20)
        start_response("200 OK", [])
        return [b"done"]

    async def run() -> tuple[int, bool]:
        gateway = Gateway(work)
        gateway._threads = RequestThreads(1, 0)
        slow, others, probe = Client(path=hangs), [Client(path=hangs) for _ in range(5)], Client(path="/livez")
        task = asyncio.create_task(gateway(slow.scope, slow.receive, slow.send))
        more = [asyncio.create_task(gateway(other.scope, other.receive, other.send)) for other in others]
        await asyncio.to_thread(busy.wait, 20)
        await gateway(probe.scope, probe.receive, probe.send)
        was_waiting = not slow.sent
        go_on.set()
        await asyncio.gather(task, *more)
        return probe.status, was_waiting

    assert asyncio.run(run()) == (200, True)
