"""Parallel conversations on keep-alive connections: one thread and a selector, so that the load itself costs little."""

import json
import selectors
import socket
import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import cycle

_ANSWER_SECONDS = 30


class Refused(Exception):
    """The answer was not 200; it is the message."""


@dataclass(frozen=True)
class Conversation:
    """The address of a conversation, and its messages."""

    port: int
    path: str
    conversation_id: str
    messages: Sequence[str]
    headers: str = ""

    def requests(self) -> Iterator[bytes]:
        """The requests of turn after turn, without end."""
        bodies = [{"conversationId": self.conversation_id, "message": message} for message in self.messages]
        return cycle([self.build_request(body) for body in bodies])

    def build_request(self, document: Mapping[str, str]) -> bytes:
        """The request with this document."""
        body = json.dumps(document).encode()
        head = (
            f"POST {self.path} HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Type: application/json\r\n"
            f"{self.headers}Content-Length: {len(body)}\r\n\r\n"
        )
        return head.encode() + body


class Line:
    """A keep-alive connection that sends one request after the other."""

    def __init__(self, port: int, requests: Iterator[bytes]) -> None:
        self.socket = socket.create_connection(("127.0.0.1", port), timeout=_ANSWER_SECONDS)
        self.socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        self._requests = requests
        self._received = b""
        self._sent = 0.0

    def send(self) -> None:
        """Send the next message."""
        self._sent = time.perf_counter()
        self.socket.sendall(next(self._requests))

    def receive(self) -> float | None:
        """Read what has arrived; returns the seconds of a complete answer. Raises Refused."""
        part = self.socket.recv(65536)
        if not part:
            raise Refused("The server closed the connection.")
        self._received += part
        head, separator, body = self._received.partition(b"\r\n\r\n")
        if not separator or not _whole(head, body):
            return None
        took = time.perf_counter() - self._sent
        if not head.startswith(b"HTTP/1.1 200"):
            raise Refused(f"{head.splitlines()[0].decode()}: {body[:500].decode(errors='replace')}")
        self._received = b""
        return took

    def turn(self) -> float:
        """Take one turn; returns its seconds. Raises Refused."""
        self.send()
        while (took := self.receive()) is None:
            pass
        return took

    def close(self) -> None:
        self.socket.close()


def _whole(head: bytes, body: bytes) -> bool:
    for line in head.splitlines():
        name, _, value = line.partition(b":")
        if name.lower() == b"content-length":
            return len(body) >= int(value)
    return body.endswith(b"0\r\n\r\n")  # sent in chunks


@dataclass
class Load:
    """The results of a measurement."""

    seconds: float
    #: Turns answered in time; later ones count in `latencies` only.
    turns: int = 0
    #: Seconds of each turn.
    latencies: list[float] = field(default_factory=list)


def run(conversations: Sequence[Conversation], seconds: float) -> Load:
    """Run all conversations in parallel for some seconds, each turn right after the one before."""
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
                running -= _read_answer(load, key.data, end)
    return load


def _read_answer(load: Load, line: Line, end: float) -> bool:
    """Record an answer and send the next message; true when the time is over for this line."""
    took = line.receive()
    if took is None:
        return False
    load.latencies.append(took)
    if time.perf_counter() >= end:
        return True
    load.turns += 1
    line.send()
    return False


def interleave_lines(lines: Mapping[str, Line], turns: int, burst: int = 5) -> dict[str, list[float]]:
    """Some turns on each line, alternating in small groups, so that changes of the machine affect all; seconds of each
    turn.
    """
    took: dict[str, list[float]] = {name: [] for name in lines}
    for _ in range(turns // burst):
        for name, line in lines.items():
            took[name] += [line.turn() for _ in range(burst)]
    return took
