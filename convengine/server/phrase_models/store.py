"""Share classifiers and vectors through the database, where it can be reached; else a process makes its own.

A process that misses a classifier claims it by its row, and renews the claim while it makes it. Others wait for the
weights. If the process dies, its claim expires, and another one takes over. No transaction is open meanwhile. Inside of
a transaction nothing is claimed and nobody is waited for, and what was made is stored after the commit.
"""

import threading
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, nullcontext
from datetime import datetime, timedelta

import structlog
from django.db import DatabaseError, IntegrityError, InterfaceError, connection, connections, transaction

from convengine.server.database.release import release_connections
from convengine.server.database.sql import database_time
from convengine.server.jobs.background import Background
from convengine.server.phrase_models.models import CePhraseModel, CePhraseVector

log = structlog.get_logger(__name__)
#: How long a claim holds that nobody renews, and how often it is renewed, in seconds.
_CLAIM, _RENEW = 10, 3
#: How often a process looks whether the weights are there, in seconds.
_LOOK = 0.2
_ROWS = 500
#: Loading a classifier stores when it was used, unless that is known to the hour.
_HOUR = timedelta(hours=1)
#: Classifiers that wait to be made in the background of this process.
_WAITING = 20


class DatabaseStore:
    """The tables of classifiers and vectors. It never fails its caller."""

    def __init__(self) -> None:
        self._background = Background(threads=1, waiting=_WAITING)

    def load_vectors(self, names: Sequence[str]) -> Mapping[str, bytes]:
        """Those of the vectors that are known."""
        known: Mapping[str, CePhraseVector] = {}
        with _tolerate_faults():
            known = CePhraseVector.objects.in_bulk(names)
        return {name: bytes(row.vector) for name, row in known.items()}

    def save_vectors(self, vectors: Mapping[str, bytes]) -> None:
        """Keep vectors that were not known; after the commit, if a transaction is open."""

        def save() -> None:
            with _tolerate_faults():
                now = database_time()
                # In one order, so that two processes do not wait for each other.
                rows = [CePhraseVector(name=name, vector=vectors[name], made_at=now) for name in sorted(vectors)]
                CePhraseVector.objects.bulk_create(rows, batch_size=_ROWS, ignore_conflicts=True)

        transaction.on_commit(save)

    def load(self, name: str) -> bytes | None:
        """The weights of a name, if they are there."""
        known: dict[str, bytes | None] = {}
        with _tolerate_faults():
            known[name] = _read(name)
        return known.get(name)

    def load_or_make(self, name: str, make: Callable[[], bytes]) -> bytes:
        """The weights of a name; one process makes those that are missing, while others wait for it."""
        weights = None
        with _tolerate_faults():
            weights = _read(name) if connection.in_atomic_block else _read_or_claim(name)
        if weights is not None:
            return weights
        with nullcontext() if connection.in_atomic_block else _hold_claim(name):
            made = make()

        def save() -> None:
            with _tolerate_faults():
                values = {"weights": made, "claimed_until": None, "used_at": database_time()}
                CePhraseModel.objects.update_or_create(name=name, defaults=values)

        transaction.on_commit(save)
        return made

    def start(self, work: Callable[[], None]) -> bool:
        """Do work in the background of this process; false if too much of it waits."""
        return self._background.submit(work)

    def finish(self) -> None:
        """Wait until all that was started is done."""
        self._background.finish()


def _read(name: str) -> bytes | None:
    """The weights, if they are there."""
    row = CePhraseModel.objects.filter(name=name).first()
    if row is None or row.weights is None:
        return None
    if not connection.in_atomic_block:
        now = database_time()
        if row.used_at < now - _HOUR:
            CePhraseModel.objects.filter(name=name).update(used_at=now)
    return bytes(row.weights)


def _read_or_claim(name: str) -> bytes | None:
    """The weights. Returns None if this process has claimed to make them. Waits while another one makes them."""
    while True:
        weights = _read(name)
        if weights is not None or _claim(name):
            return weights
        release_connections()
        time.sleep(_LOOK)


def _claim(name: str) -> bool:
    """True if this process is to make the weights: nobody does, or who did has died."""
    now = database_time()
    try:
        with transaction.atomic():
            CePhraseModel.objects.create(name=name, claimed_until=_get_claim_end(now), used_at=now)
        return True
    except IntegrityError:
        expired = CePhraseModel.objects.filter(name=name, weights=None, claimed_until__lt=now)
        return bool(expired.update(claimed_until=_get_claim_end(now)))


def _get_claim_end(now: datetime) -> datetime:
    return now + timedelta(seconds=_CLAIM)


@contextmanager
def _hold_claim(name: str) -> Iterator[None]:
    """Renew the claim meanwhile; after a failure another process may try at once."""
    ended = threading.Event()
    claim = CePhraseModel.objects.filter(name=name, weights=None)

    def renew() -> None:
        while not ended.wait(_RENEW):
            with _tolerate_faults():
                claim.update(claimed_until=_get_claim_end(database_time()))
            connections.close_all()

    release_connections()
    thread = threading.Thread(target=renew, name="phrase-model", daemon=True)
    thread.start()
    try:
        yield
    except BaseException:
        with _tolerate_faults():
            claim.delete()
        raise
    finally:
        ended.set()


@contextmanager
def _tolerate_faults() -> Iterator[None]:
    """Log a fault of the database. A transaction that is open goes on."""
    try:
        with transaction.atomic() if connection.in_atomic_block else nullcontext():
            yield
    except (DatabaseError, InterfaceError) as error:
        log.warning("classifiers of phrases cannot be shared", error=f"{type(error).__name__}: {error}".strip())
        release_connections()
