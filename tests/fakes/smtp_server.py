"""A mail server that keeps what it gets, or refuses it."""

import socketserver
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from email import message_from_bytes
from email.message import Message
from typing import Any


@dataclass
class Mailbox:
    """The mails of a server, and how many more it refuses."""

    port: int
    mails: list[Message] = field(default_factory=list)
    refused: int = 0


class _Handler(socketserver.StreamRequestHandler):
    mailbox: Mailbox

    def handle(self) -> None:
        self._answer("220 ready")
        while line := self.rfile.readline():
            word = line.split()[0].upper() if line.split() else b""
            if word in (b"EHLO", b"HELO"):
                self._answer("250 hello")
            elif word == b"DATA":
                self._answer("354 go on")
                self._read_mail()
            elif word == b"QUIT":
                self._answer("221 bye")
                return
            elif word == b"RCPT" and self.mailbox.refused:
                self.mailbox.refused -= 1
                self._answer("451 try again later")
            else:
                self._answer("250 ok")

    def _read_mail(self) -> None:
        lines = []
        while (line := self.rfile.readline()) not in (b".\r\n", b""):
            lines.append(line)
        self.mailbox.mails.append(message_from_bytes(b"".join(lines)))
        self._answer("250 stored")

    def _answer(self, text: str) -> None:
        self.wfile.write(f"{text}\r\n".encode())


@contextmanager
def serve_mail() -> Iterator[Mailbox]:
    """A mail server on a free port of this machine."""
    handler: Any = type("Handler", (_Handler,), {})
    server = socketserver.ThreadingTCPServer(("127.0.0.1", 0), handler)
    handler.mailbox = Mailbox(server.server_address[1])
    threading.Thread(target=server.serve_forever, args=(0.05,), daemon=True).start()
    try:
        yield handler.mailbox
    finally:
        server.shutdown()
        server.server_close()
