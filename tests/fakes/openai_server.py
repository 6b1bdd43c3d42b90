"""A real HTTP server that speaks the OpenAI protocol, and says and does what a test wants."""

import json
import socket
import threading
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any


@dataclass(frozen=True)
class Says:
    """One answer: the text of a completion, or bytes of any kind."""

    text: str | None = "fine"
    status: int = 200
    seconds: float = 0.0
    #: Instead of a completion.
    raw: bytes | None = None
    headers: Mapping[str, str] = field(default_factory=dict)
    #: Send this often, a little apart, instead of all at once.
    pieces: int = 1
    piece_seconds: float = 0.0
    #: End the connection without an answer.
    hangs_up: bool = False
    finish_reason: str = "stop"
    #: More of the message, such as a refusal.
    message: Mapping[str, Any] = field(default_factory=dict)

    def body(self, model: str) -> bytes:
        if self.raw is not None:
            return self.raw
        if self.status != 200:
            return json.dumps({"error": {"message": self.text, "type": "test"}}).encode()
        return json.dumps(
            {
                "id": "c1",
                "object": "chat.completion",
                "created": 1,
                "model": model,
                "choices": [
                    {
                        "index": 0,
                        "finish_reason": self.finish_reason,
                        "message": {"role": "assistant", "content": self.text, **self.message},
                    }
                ],
                "usage": {"prompt_tokens": 12, "completion_tokens": 5, "total_tokens": 17},
            }
        ).encode()


@dataclass
class ModelServer:
    """A running server; `answers` is used up in order, the last one for ever, or it is a function of the request."""

    port: int
    answers: "list[Says] | Callable[[dict[str, Any]], Says]"
    #: Bodies and headers of all requests, in order.
    requests: list[dict[str, Any]] = field(default_factory=list)
    headers: list[Mapping[str, str]] = field(default_factory=list)
    #: How many requests are being answered, and the most at once so far.
    waiting: int = 0
    most: int = 0
    _lock: threading.Lock = field(default_factory=threading.Lock)

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}/v1"

    def enter(self, body: dict[str, Any], headers: Mapping[str, str]) -> Says:
        with self._lock:
            self.requests.append(body)
            self.headers.append(headers)
            self.waiting += 1
            self.most = max(self.most, self.waiting)
            if callable(self.answers):
                return self.answers(body)
            return self.answers[min(len(self.requests), len(self.answers)) - 1]

    def leave(self) -> None:
        with self._lock:
            self.waiting -= 1


class _Server(ThreadingHTTPServer):
    request_queue_size = 128
    daemon_threads = True

    def handle_error(self, request: Any, client_address: Any) -> None:
        """A client that gave up is what some tests are about."""


@contextmanager
def model_server(*answers: Says, by: Callable[[dict[str, Any]], Says] | None = None) -> Iterator[ModelServer]:
    """A server on a free port, for as long as the block lasts."""

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def do_POST(self) -> None:
            body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
            said = running.enter(body, {name.lower(): text for name, text in self.headers.items()})
            try:
                time.sleep(said.seconds)
                if said.hangs_up:
                    self.connection.shutdown(socket.SHUT_RDWR)
                    return
                self._send(said, said.body(body["model"]))
            finally:
                running.leave()

        def _send(self, said: Says, body: bytes) -> None:
            # One write for all: headers and body in two small ones would wait for each other.
            headers = {"Content-Type": "application/json", "Content-Length": str(len(body)), **said.headers}
            head = "".join(f"{name}: {value}\r\n" for name, value in headers.items())
            size = -(-len(body) // said.pieces)
            parts = [body[start : start + size] for start in range(0, len(body), size)] or [b""]
            self.wfile.write(f"HTTP/1.1 {said.status} -\r\n{head}\r\n".encode() + parts[0])
            for part in parts[1:]:
                time.sleep(said.piece_seconds)
                self.wfile.write(part)

        def log_message(self, *arguments: Any) -> None:
            pass

    server = _Server(("127.0.0.1", 0), Handler)
    running = ModelServer(server.server_address[1], by or list(answers or [Says()]))
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02}, daemon=True)
    thread.start()
    try:
        yield running
    finally:
        server.shutdown()
        server.server_close()
        thread.join()


def say_vectors(encode: Callable[[str], Sequence[float]]) -> Callable[[dict[str, Any]], Says]:
    """Answers for embeddings, the last text first, as the protocol allows."""

    def answer(body: dict[str, Any]) -> Says:
        vectors = [
            {"object": "embedding", "index": index, "embedding": [*encode(text)]}
            for index, text in enumerate(body["input"])
        ]
        usage = {"prompt_tokens": 7, "total_tokens": 7}
        document = {"object": "list", "model": body["model"], "data": vectors[::-1], "usage": usage}
        return Says(raw=json.dumps(document).encode())

    return answer
