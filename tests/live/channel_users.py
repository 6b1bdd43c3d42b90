"""Users of a messenger that fails now and then, delivers messages up to three times, and notes what its users see."""

import json
import random
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.client import HTTPConnection, HTTPException

from convengine.server.channels.models import CeChannel
from tests.fakes.channel_providers import Request, Telegram
from tests.fakes.http_server import Asked, Reply, serving
from tests.live.processes import Server

#: Shares of the calls to the messenger: refused, and taken without an answer.
_REFUSED, _UNCONFIRMED = 0.06, 0.01
#: A user who has no answer so long writes the next message all the same.
_PATIENCE = 4.0
_PATH = "/channels/shop/"
#: What the shop answers to a text.
ANSWER = "You asked: {}."


@dataclass(frozen=True)
class Seen:
    """A message that a user sees."""

    text: str
    at: float
    #: The messenger said that it took the message.
    is_confirmed: bool


@dataclass
class ImpatientTelegram(Telegram):
    """The API, which refuses some calls, and loses some of its answers."""

    seen: dict[str, list[Seen]] = field(default_factory=dict)
    chance: random.Random = field(default_factory=random.Random)

    def _answer(self, asked: Asked) -> Reply:
        shown = self.read(asked)
        if shown is None:
            return Reply(body=b'{"ok": true}')
        with self.lock:
            chance, name = self.chance.random(), self.make_name()
            if chance < _REFUSED:
                too_many = {"ok": False, "parameters": {"retry_after": 1}}
                return Reply(429, json.dumps(too_many).encode()) if chance < _REFUSED / 2 else Reply(500)
            is_confirmed = chance > _REFUSED + _UNCONFIRMED
            self.seen.setdefault(shown.to, []).append(Seen(shown.text, time.monotonic(), is_confirmed))
        return self.take(name) if is_confirmed else Reply(cut=True)

    def has_seen(self, user: str, text: str) -> bool:
        """Whether a user has an answer."""
        return any(each.text == text for each in tuple(self.seen.get(user, ())))

    def count_seen(self) -> int:
        """How many different answers users have."""
        return sum(len({each.text for each in tuple(seen)}) for seen in tuple(self.seen.values()))


@dataclass
class Users:
    """People who write each to the shop, one message after the other."""

    telegram: ImpatientTelegram
    servers: list[Server]
    #: Seconds until each delivery was acknowledged.
    acknowledged: list[float] = field(default_factory=list)
    deliveries: int = 0

    def talk(self, user: str, texts: list[str]) -> None:
        """Write these texts. Each is delivered once to three times, at once and after the next one."""
        chance, late = random.Random(user), []
        for number, text in enumerate(texts, start=1):
            request = self.telegram.write(user, text, number)
            copies = chance.randrange(3)
            with ThreadPoolExecutor(2) as pool:
                list(pool.map(self.deliver, [request] * (1 + copies // 2)))
            for earlier in late:
                self.deliver(earlier)
            late = [request] if copies else []
            until = time.monotonic() + _PATIENCE
            while time.monotonic() < until and not self.telegram.has_seen(user, ANSWER.format(text)):
                time.sleep(0.1)

    def deliver(self, request: Request) -> None:
        """Deliver until a server has taken it, as the messenger does."""
        self.deliveries += 1
        while True:
            for server in random.sample(self.servers, len(self.servers)):
                began = time.monotonic()
                status = post(server.port, request)
                if status == 200:
                    self.acknowledged.append(time.monotonic() - began)
                    return
                assert status in (None, 503), status
            time.sleep(0.1)


def post(port: int, request: Request) -> int | None:
    """The status of a delivery. None if the server died before it answered."""
    http = HTTPConnection("127.0.0.1", port, timeout=30)
    try:
        http.request("POST", _PATH, request.body, {**request.headers, "Content-Type": request.content_type})
        response = http.getresponse()
        response.read()
        # A server that dies in the middle of its answer says less.
        return response.status if "Content-Length" in response.headers else None
    except (HTTPException, OSError):
        return None
    finally:
        http.close()


@contextmanager
def open_shop() -> Iterator[ImpatientTelegram]:
    """A channel of Telegram, whose API is a server of this test."""
    with serving() as server:
        telegram = ImpatientTelegram(server)
        names = {name: name.upper() for name in telegram.secrets}
        CeChannel.objects.create(name="shop", provider="telegram", secrets=names, settings=telegram.settings)
        yield telegram


#: What servers and workers are told, so that they know the secrets, and may call this machine.
ENVIRONMENT = {
    **{f"CE_CHANNEL_SECRET_{name.upper()}": value for name, value in Telegram.secrets.items()},
    "CE_CHANNEL_HOSTS": "127.0.0.1",
}
