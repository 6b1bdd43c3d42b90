"""A reader of an event stream over real HTTP, who loses the connection when a test says so, and comes again."""

import json
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, field
from http.client import HTTPConnection, HTTPException, HTTPResponse
from socket import SHUT_RDWR
from threading import Event, Thread
from typing import Any


@dataclass(frozen=True)
class Message:
    """One message of a stream."""

    name: str
    id: str
    data: dict[str, Any]


@dataclass
class Watcher:
    """Reads in a thread of its own, and goes on from the last id when the connection ends."""

    port: int
    secret: str
    conversation_id: str
    query: str = ""
    #: The first connection goes on from here; blank for what happens next.
    last_id: str = ""
    messages: list[Message] = field(default_factory=list)
    statuses: list[int] = field(default_factory=list)
    connected: Event = field(default_factory=Event)
    _over: bool = False
    _http: HTTPConnection | None = None

    def start(self) -> "Watcher":
        """Begin to read, and return when the stream has begun."""
        self._thread = Thread(target=self._read, daemon=True)
        self._thread.start()
        assert self.connected.wait(20), self.statuses
        return self

    def break_off(self) -> None:
        """Lose the connection in the middle of whatever it brings, and come again."""
        times = len(self.statuses)
        self._hang_up()
        assert self.until(lambda: len(self.statuses) > times), (self.statuses, len(self.messages))

    def end(self) -> None:
        """Stop reading."""
        self._over = True
        self._hang_up()
        self._thread.join(10)

    def until(self, enough: Callable[[], bool], seconds: float = 20) -> bool:
        """Wait for something that the messages show."""
        pause = Event()
        for _ in range(int(seconds / 0.02)):
            if enough():
                return True
            pause.wait(0.02)
        return False

    @property
    def events(self) -> list[Message]:
        """The events of the trail."""
        return [one for one in self.messages if one.data.get("eventType") == "AUDIT"]

    def _hang_up(self) -> None:
        if self._http and self._http.sock:
            with suppress(OSError):
                self._http.sock.shutdown(SHUT_RDWR)

    def _read(self) -> None:
        while not self._over:
            http = self._http = HTTPConnection("127.0.0.1", self.port, timeout=60)
            try:
                headers = {"Authorization": f"Api-Key {self.secret}"}
                if self.last_id:
                    headers["Last-Event-ID"] = self.last_id
                http.request("GET", f"/api/v1/conversation/stream/{self.conversation_id}{self.query}", headers=headers)
                response = http.getresponse()
                self.statuses.append(response.status)
                if response.status != 200:
                    return
                self._take(response)
            except (OSError, ValueError, HTTPException, AssertionError):
                # http.client asserts where its socket is gone: that is what was asked for.
                pass
            finally:
                http.close()

    def _take(self, response: HTTPResponse) -> None:
        """Messages until the connection ends; one that is cut off counts as not received."""
        fields: dict[str, str] = {}
        while line := response.readline().decode():
            if line != "\n":
                name, _, value = line.rstrip("\n").partition(": ")
                fields[name] = value
                continue
            if "event" in fields:
                self.last_id = fields.get("id", self.last_id)
                self.messages.append(Message(fields["event"], fields.get("id", ""), json.loads(fields["data"])))
                self.connected.set()
            fields = {}
