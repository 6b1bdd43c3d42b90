"""A real HTTP server on this machine that answers as a test says, and writes down what it was asked."""

import ssl
import threading
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path


@dataclass
class Reply:
    """One answer."""

    status: int = 200
    body: bytes = b"{}"
    headers: Mapping[str, str] = field(default_factory=dict)
    #: Seconds before the answer begins, and between its bytes.
    wait: float = 0
    drip: float = 0
    #: True: the connection is closed without an answer.
    cut: bool = False


@dataclass
class Asked:
    """One request."""

    method: str
    path: str
    headers: Mapping[str, str]
    body: bytes


@dataclass
class Server:
    """Answers in order; the last one is repeated."""

    port: int
    replies: list[Reply]
    asked: list[Asked] = field(default_factory=list)
    #: Answers instead of these.
    answer: Callable[[Asked], Reply] | None = None
    #: How many requests are being answered, and the most at once so far.
    waiting: int = 0
    most: int = 0
    _lock: threading.Lock = field(default_factory=threading.Lock)

    @property
    def address(self) -> str:
        return f"http://127.0.0.1:{self.port}"

    def next(self) -> Reply:
        return self.replies.pop(0) if len(self.replies) > 1 else self.replies[0]

    def wait(self, seconds: float) -> None:
        with self._lock:
            self.waiting += 1
            self.most = max(self.most, self.waiting)
        time.sleep(seconds)
        with self._lock:
            self.waiting -= 1


@contextmanager
def serving(*replies: Reply, certificate: tuple[Path, Path] | None = None) -> Iterator[Server]:
    """The server, for as long as the block lasts; over TLS with a certificate and its key."""
    server = Server(0, list(replies) or [Reply()])
    listener = ThreadingHTTPServer(("127.0.0.1", 0), _handler(lambda: server))
    listener.daemon_threads = True
    server.port = listener.server_port
    if certificate:
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.load_cert_chain(*certificate)
        listener.socket = context.wrap_socket(listener.socket, server_side=True, do_handshake_on_connect=False)
        listener.handle_error = lambda request, client_address: None  # type: ignore[method-assign]
    thread = threading.Thread(target=listener.serve_forever, kwargs={"poll_interval": 0.01}, daemon=True)
    thread.start()
    try:
        yield server
    finally:
        listener.shutdown()
        listener.server_close()


def _handler(server: Callable[[], Server]) -> type[BaseHTTPRequestHandler]:
    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def _answer(self) -> None:
            length = int(self.headers.get("content-length") or 0)
            body = self.rfile.read(length)
            headers = {name.lower(): value for name, value in self.headers.items()}
            asked = Asked(self.command, self.path, headers, body)
            server().asked.append(asked)
            answer = server().answer
            reply = answer(asked) if answer else server().next()
            server().wait(reply.wait)
            if reply.cut:
                self.close_connection = True
                return
            head = [f"HTTP/1.1 {reply.status} X", f"Content-Length: {len(reply.body)}"]
            head += [f"{name}: {value}" for name, value in reply.headers.items()]
            content = reply.body if self.command != "HEAD" else b""
            start = "\r\n".join([*head, "", ""]).encode()
            try:
                # At once: a head and a body in two small writes cost 40 ms.
                self.wfile.write(start if reply.drip else start + content)
                for byte in content if reply.drip else b"":
                    time.sleep(reply.drip)
                    self.wfile.write(bytes([byte]))
            except OSError:
                self.close_connection = True

        do_GET = do_POST = do_PUT = do_PATCH = do_DELETE = do_HEAD = _answer

        def log_message(self, format: str, *args: object) -> None:
            pass

    return Handler
