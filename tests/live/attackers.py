"""Clients that hold a server's connections: `python -m tests.live.attackers KIND COUNT PORT SECONDS`.

They print `ready` when all are connected. A connection that the server ends is opened again five seconds later. At the
end they print what the server answered, by status.
"""

import heapq
import json
import selectors
import socket
import sys
import time
from collections import Counter
from dataclasses import dataclass, field

#: Anybody may sign in, and the sign-in reads the body of a request with such a cookie.
_HEAD = (
    "POST /admin/login/ HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Type: application/x-www-form-urlencoded\r\n"
    f"Cookie: csrftoken={'a' * 32}\r\n"
)
_AGAIN_SECONDS = 5.0
_LARGE = "/static/unfold/fonts/material-symbols/Material-Symbols-Outlined.woff2"
KINDS = ("silent", "drip", "endless", "reader")


@dataclass
class Attackers:
    """Connections of one kind."""

    kind: str
    port: int
    answers: Counter[str] = field(default_factory=Counter)
    selector: selectors.BaseSelector = field(default_factory=selectors.DefaultSelector)
    #: When a connection sends its next bytes, or a new one is opened.
    due: list[tuple[float, int, socket.socket | None]] = field(default_factory=list)

    def open(self) -> None:
        """Connect, and send the beginning of a request."""
        client = socket.socket()
        if self.kind == "reader":
            client.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 2048)
        try:
            client.connect(("127.0.0.1", self.port))
            client.sendall(self.first())
        except OSError:
            self.end(client, "refused")
            return
        client.setblocking(False)
        if self.kind != "reader":
            self.selector.register(client, selectors.EVENT_READ)
        if self.kind in ("drip", "endless"):
            self.plan(1.0, client)

    def first(self) -> bytes:
        if self.kind == "reader":
            return f"GET {_LARGE} HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n".encode()
        if self.kind == "endless":
            return f"{_HEAD}Transfer-Encoding: chunked\r\n\r\n".encode() + self.next()
        return f"{_HEAD}Content-Length: 5000\r\n\r\nname=".encode()

    def next(self) -> bytes:
        """What follows each second: one byte, or a chunk that is just fast enough."""
        return b"2800\r\n" + b"x" * 10240 + b"\r\n" if self.kind == "endless" else b"x"

    def plan(self, seconds: float, client: socket.socket | None) -> None:
        heapq.heappush(self.due, (time.monotonic() + seconds, id(client) + len(self.due), client))

    def end(self, client: socket.socket, answer: str) -> None:
        self.answers[answer] += 1
        if client.fileno() in self.selector.get_map():
            self.selector.unregister(client)
        client.close()
        self.plan(_AGAIN_SECONDS, None)

    def run(self, seconds: float) -> None:
        """Go on for some seconds."""
        until = time.monotonic() + seconds
        while (now := time.monotonic()) < until:
            for key, _ in self.selector.select(0.05):
                self.read(key.fileobj)  # type: ignore[arg-type]
            while self.due and self.due[0][0] <= now:
                client = heapq.heappop(self.due)[2]
                if client is None:
                    self.open()
                elif client.fileno() >= 0:
                    self.send(client)

    def send(self, client: socket.socket) -> None:
        try:
            client.send(self.next())
        except BlockingIOError:
            pass
        except OSError:
            self.end(client, "closed")
            return
        self.plan(1.0, client)

    def read(self, client: socket.socket) -> None:
        try:
            answer = client.recv(65536)
        except OSError:
            answer = b""
        self.end(client, answer[9:12].decode() or "closed")


def main() -> None:
    kind, count, port, seconds = sys.argv[1], int(sys.argv[2]), int(sys.argv[3]), float(sys.argv[4])
    if sys.platform != "win32":
        import resource

        most = resource.getrlimit(resource.RLIMIT_NOFILE)[1]
        resource.setrlimit(resource.RLIMIT_NOFILE, (most, most))
    attackers = Attackers(kind, port)
    for _ in range(count):
        attackers.open()
    print("ready", flush=True)
    attackers.run(seconds)
    print(json.dumps(attackers.answers), flush=True)


if __name__ == "__main__":
    main()
