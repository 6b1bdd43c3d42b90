"""The product on a world: its database, its server, its conversations."""

import tempfile
import uuid
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import repeat
from pathlib import Path

from bench.inside import Call, inside
from bench.load import Conversation
from bench.postgres import Postgres
from bench.servers import Server, start_server

PATH = "/api/v1/conversation/message"
AUDIT = "/api/v1/conversation/audit"
#: The database with tables and a key only, from which the worlds are copied.
_EMPTY = "empty"


@dataclass(frozen=True)
class Product:
    """A served world."""

    server: Server
    database: str
    secret: str
    messages: list[str]
    call: Call

    def conversation(self, conversation_id: str | None = None) -> Conversation:
        """A conversation; a new one without an id."""
        headers = f"Authorization: Api-Key {self.secret}\r\n"
        return Conversation(self.server.port, PATH, conversation_id or str(uuid.uuid4()), self.messages, headers)

    def pages(self, conversation_id: str, query: str) -> Iterator[bytes]:
        """The request for one page of a conversation's events, repeated."""
        head = (
            f"GET {AUDIT}/{conversation_id}{query} HTTP/1.1\r\nHost: 127.0.0.1\r\n"
            f"Authorization: Api-Key {self.secret}\r\n\r\n"
        )
        return repeat(head.encode())


@dataclass(frozen=True)
class Products:
    """Makes served worlds on one PostgreSQL."""

    postgres: Postgres
    secret: str
    folder: Path

    @contextmanager
    def world(
        self, rules: int, patterns: int, *, workers: int = 2, threads: int = 4, people: bool = False
    ) -> Iterator[Product]:
        """A world of this size, served inside the block. `people`: the world of `bench/people.py`."""
        database = f"rules_{rules}_{'people' if people else f'patterns_{patterns}'}"
        self.postgres.create(database, _EMPTY)
        environment = _environment(self.postgres, database, self.folder)
        with (
            inside(environment) as call,
            start_server(
                database,
                "convengine.asgi:without_streams",
                environment,
                workers=workers,
                threads=threads,
                asgi=True,
            ) as server,
        ):
            messages = call("load_people", rules=rules) if people else call("load", rules=rules, patterns=patterns)
            yield Product(server, database, self.secret, messages, call)


@contextmanager
def products(postgres: Postgres) -> Iterator[Products]:
    """Migrate the empty database once."""
    with tempfile.TemporaryDirectory(prefix="ceb-var-") as folder:
        postgres.create(_EMPTY)
        with inside(_environment(postgres, _EMPTY, Path(folder))) as call:
            secret = call("prepare")
        yield Products(postgres, secret, Path(folder))


def _environment(postgres: Postgres, database: str, folder: Path) -> dict[str, str]:
    return {
        "DJANGO_SETTINGS_MODULE": "convengine.settings",
        "DATABASE_URL": postgres.url(database),
        "CE_SECRET_KEY": "only-for-the-bench",
        "CE_DEBUG": "false",
        "CE_VAR_DIR": str(folder),
    }
