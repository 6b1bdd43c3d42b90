"""The server is killed inside turns: nothing acknowledged is lost, nothing is half-written."""

import random
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from queue import Empty, Queue
from threading import Lock

import pytest
from django.db import connection

from convengine.server import wiring
from tests.api import make_key
from tests.live import ledger
from tests.live.client import Talk
from tests.live.configuration import configure
from tests.live.processes import Server
from tests.worlds import create_help_desk

LEASE_SECONDS = 5
CLIENTS = 3


def step_places() -> list[str]:
    # Nobody has the conversations, they are in one language, and no answer has buttons.
    inactive = ("HandOverStep", "LanguageStep", "ButtonStep")
    names = [step.name for step in wiring.engine().steps if step.name not in inactive]
    return [f"{when} {name}" for name in names for when in ("before", "after")]


def commit_places(*, audit: bool) -> list[str]:
    """Around a commit with an idempotency key.

    On PostgreSQL it is one statement: before it, in the middle of it, after it. Elsewhere before each statement —
    conversation, stored answer, events when they are written by then, deciding rows, turn record — and around COMMIT.
    """
    if connection.vendor == "postgresql":
        return ["commit 0", *["commit under way"] * 3, "committed"]
    return [*(f"commit {n}" for n in range(4 + audit)), "commit", "committed"]


class Massacre:
    """Clients that talk side by side to a server, of which some messages kill it."""

    def __init__(self, server: Server, struck: Path, places: list[str]) -> None:
        self.server, self.struck, self.secret = server, struck, make_key()
        self.places: Queue[str] = Queue()
        self.talks: list[Talk] = []
        self.killed: dict[str, str] = {}
        self._lock = Lock()
        for place in places:
            self.places.put(place)

    def run(self) -> None:
        with ThreadPoolExecutor(CLIENTS) as pool:
            list(pool.map(lambda _: self._client(), range(CLIENTS)))

    def _client(self) -> None:
        for place in self._next_places():
            talk = Talk(self.secret)
            with self._lock:
                self.talks.append(talk)
                number = str(len(self.talks))
            # Either message may also die of what a neighbour's does: then the place has its turn again.
            if talk.say(self.server.port, "hours") is None:
                self.places.put(place)
                continue
            reply = talk.say(self.server.port, "fees", doom=f"{number} kill {place}", key=talk.conversation_id)
            assert reply is None, f"A turn never came to the place {place!r}: {reply}"
            if (self.struck / number).exists():
                self.killed[number] = place
            else:
                self.places.put(place)

    def _next_places(self) -> Iterator[str]:
        while True:
            try:
                yield self.places.get_nowait()
            except Empty:
                return

    def go_on(self) -> None:
        """Every client sends its message again, as a client does that got no answer."""
        with ThreadPoolExecutor(4 * CLIENTS) as pool:
            list(pool.map(self._retry, self.talks))

    def _retry(self, talk: Talk) -> None:
        reply = talk.say(self.server.port, "fees", key=talk.conversation_id)
        assert reply
        assert (reply.status, reply.said) == (200, "No fees.")


@pytest.fixture
def massacre(doomed: Callable[..., Server], tmp_path: Path) -> Callable[[list[str]], Massacre]:
    create_help_desk()
    configure("Session/LEASE_SECONDS", LEASE_SECONDS)
    # A step that is idle unless it is asked for.
    configure("AUDIT/CACHE_INSPECTOR", "true")
    return lambda places: Massacre(doomed(), tmp_path, places)


@pytest.mark.slow
@pytest.mark.parametrize(
    "kills", [pytest.param(15, marks=pytest.mark.long), pytest.param(50, marks=pytest.mark.nightly)]
)
def test_kills_lose_no_acknowledged_turn_and_leave_none_half_written(
    massacre: Callable[[list[str]], Massacre], kills: int
) -> None:
    seed = random.randrange(1_000_000)
    print(f"seed {seed}")
    at_random = random.Random(seed).choices(step_places(), k=kills)
    places = ["lease", *commit_places(audit=True), *at_random]
    random.Random(seed).shuffle(places)
    killing = massacre(places)

    killing.run()
    killing.go_on()

    assert sorted(killing.killed.values()) == sorted(places)
    counted = ledger.check(killing.talks)
    # The database may finish a commit after the server that asked for it has died.
    unfinished = [place for place in places if place not in {"commit under way", "commit", "committed"}]
    assert counted["LEASE_EXPIRED"] >= len(unfinished)


@pytest.mark.nightly
def test_kills_of_turns_that_store_step_by_step_leave_a_whole_trail(massacre: Callable[[list[str]], Massacre]) -> None:
    configure("AUDIT/FLUSH", "STEP")
    places = ["lease", *step_places()[::3], *commit_places(audit=False)]
    killing = massacre(places)

    killing.run()
    killing.go_on()

    assert sorted(killing.killed.values()) == sorted(places)
    ledger.check(killing.talks)


@pytest.mark.long
def test_a_conversation_whose_turn_died_goes_on_within_the_lease_time(
    massacre: Callable[[list[str]], Massacre],
) -> None:
    killing, talk = massacre([]), Talk(make_key())
    began = time.monotonic()
    talk.say(killing.server.port, "hours")
    ordinary = time.monotonic() - began

    talk.say(killing.server.port, "fees", doom="1 kill before RulesStep")
    killed = time.monotonic()
    reply = talk.say(killing.server.port, "fees")

    assert reply
    assert (reply.status, reply.body["turnNo"]) == (200, 3)
    assert time.monotonic() - killed < LEASE_SECONDS + 1 + 5 * ordinary
    assert ledger.check([talk]) == {"OK": 2, "LEASE_EXPIRED": 1}
