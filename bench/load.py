"""Conversations at once on kept-alive connections: one thread and a selector, so that the load itself costs little."""

import json
import selectors
import socket
import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import cycle

_ANSWER_SECONDS = 30


class Refused(Exception):
    """A turn was not answered with 200; the message is the answer."""


@dataclass(frozen=True)
class Conversation:
    """Where turns of one conversation go, and what is said in it."""

    port: int
    path: str
    conversation_id: str
    messages: Sequence[str]
    headers: str = ""

    def requests(self) -> Iterator[bytes]:
        """The requests of turn after turn, without end."""
        return cycle([self._request(message) for message in self.messages])

    def _request(self, message: str) -> bytes:
        body = json.dumps({"conversationId": self.conversation_id, "message": message}).encode()
        head = (
            f"POST {self.path} HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Type: application/json\r\n"
            f"{self.headers}Content-Length: {len(body)}\r\n\r\n"
        )
        return head.encode() + body


class Line:
    """A kept-alive connection that carries one request after the other."""

    def __init__(self, port: int, requests: Iterator[bytes]) -> None:
        self.socket = socket.create_connection(("127.0.0.1", port), timeout=_ANSWER_SECONDS)
        self.socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        self._requests = requests
        self._received = b""
        self._sent = 0.0

    def send(self) -> None:
        """Say the next message."""
        self._sent = time.perf_counter()
        self.socket.sendall(next(self._requests))

    def receive(self) -> float | None:
        """Read what is there; the seconds that the answer took, once it is whole. Raises Refused."""
        part = self.socket.recv(65536)
        if not part:
            raise Refused("The server closed the connection.")
        self._received += part
        head, found, body = self._received.partition(b"\r\n\r\n")
        if not found or not _whole(head, body):
            return None
        took = time.perf_counter() - self._sent
        if not head.startswith(b"HTTP/1.1 200"):
            raise Refused(f"{head.splitlines()[0].decode()}: {body[:500].decode(errors='replace')}")
        self._received = b""
        return took

    def turn(self) -> float:
        """One turn; the seconds that it took. Raises Refused."""
        self.send()
        while (took := self.receive()) is None:
            pass
        return took

    def close(self) -> None:
        """Hang up."""
        self.socket.close()


def _whole(head: bytes, body: bytes) -> bool:
    for line in head.splitlines():
        name, _, value = line.partition(b":")
        if name.lower() == b"content-length":
            return len(body) >= int(value)
    return body.endswith(b"0\r\n\r\n")  # sent in chunks


@dataclass
class Load:
    """What came back within a time."""

    seconds: float
    #: Turns answered within the time; the last ones in flight are waited for, and count in `latencies` only.
    turns: int = 0
    #: Seconds of each turn.
    latencies: list[float] = field(default_factory=list)


def run(conversations: Sequence[Conversation], seconds: float) -> Load:
    """Let all conversations talk at once for some seconds, each turn as soon as the one before is answered."""
    lines = [Line(conversation.port, conversation.requests()) for conversation in conversations]
    try:
        return _talk(lines, seconds)
    finally:
        for line in lines:
            line.close()


def _talk(lines: Sequence[Line], seconds: float) -> Load:
    load = Load(seconds)
    with selectors.DefaultSelector() as selector:
        for line in lines:
            selector.register(line.socket, selectors.EVENT_READ, line)
        end = time.perf_counter() + seconds
        for line in lines:
            line.send()
        running = len(lines)
        while running:
            ready = selector.select(_ANSWER_SECONDS)
            if not ready:
                raise Refused(f"No answer within {_ANSWER_SECONDS} s.")
            for key, _ in ready:
                running -= _answered(load, key.data, end)
    return load


def _answered(load: Load, line: Line, end: float) -> bool:
    """Note an answer and say the next message; true when the time is over for this line."""
    took = line.receive()
    if took is None:
        return False
    load.latencies.append(took)
    if time.perf_counter() >= end:
        return True
    load.turns += 1
    line.send()
    return False


def interleaved(lines: Mapping[str, Line], turns: int, burst: int = 5) -> dict[str, list[float]]:
    """Some turns on each line, a few at a time by turns, so that what drifts meets all alike; seconds of each turn."""
    took: dict[str, list[float]] = {name: [] for name in lines}
    for _ in range(turns // burst):
        for name, line in lines.items():
            took[name] += [line.turn() for _ in range(burst)]
    return took
