"""Share classifiers and vectors through the database, where it can be reached; else a process makes its own.

A process that misses a classifier claims it by its row, and renews the claim while it makes it. Others wait for the
weights, each with a limit. If the process dies, its claim expires, and another one takes over. No
transaction is open meanwhile. Inside of a transaction nothing is claimed and nobody is waited for, and what was made is
stored after the commit. A row whose proof does not fit is never used: it is made again, and told.
"""

import threading
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, nullcontext
from datetime import datetime, timedelta
from typing import TypeVar

import structlog
from django.db import DatabaseError, IntegrityError, InterfaceError, connection, connections, transaction
from django.db.models import Q

from convengine.engine.understanding.phrases.classifier import Content
from convengine.server.database.sql import database_time, release_connections
from convengine.server.database.unreadable import read_rows
from convengine.server.jobs.background import Background
from convengine.server.phrase_models.models import CePhraseModel, CePhraseVector, DerivedRow
from convengine.server.phrase_models.training import LONGEST_TRAINING, train_in_process

log = structlog.get_logger(__name__)
Row = TypeVar("Row", bound=DerivedRow)
#: How long a claim holds that nobody renews, and how often it is renewed, in seconds.
_CLAIM, _RENEW = 10, 3
#: How often a process looks whether the weights are there, and how long at most, in seconds.
_LOOK, _LONGEST_WAIT = 0.2, 30
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
        known: dict[str, bytes] = {}
        with _tolerate_faults():
            for start in range(0, len(names), _ROWS):
                rows = CePhraseVector.objects.filter(name__in=names[start : start + _ROWS]).only("vector", "proof")
                known |= {row.name: row.content for row in _drop_changed(read_rows(rows)) if row.content is not None}
        return known

    def save_vectors(self, vectors: Mapping[str, bytes]) -> None:
        """Keep vectors that were not known; after the commit, if a transaction is open."""

        def save() -> None:
            with _tolerate_faults():
                now = database_time()
                # In one order, so that two processes do not wait for each other.
                _store(CePhraseVector(name=name, vector=vectors[name], made_at=now) for name in sorted(vectors))

        transaction.on_commit(save)

    def load(self, name: str) -> bytes | None:
        known: dict[str, bytes | None] = {}
        with _tolerate_faults():
            known[name] = _read(name)
        return known.get(name)

    def load_or_make(self, name: str, make: Callable[[], bytes], *, takes_long: bool = False) -> bytes:
        """The weights of a name; one process makes those that are missing, while others wait for it."""
        weights, longest = None, LONGEST_TRAINING if takes_long else _LONGEST_WAIT
        with _tolerate_faults():
            weights = _read(name) if connection.in_atomic_block else _read_or_claim(name, longest)
        if weights is not None:
            return weights
        with nullcontext() if connection.in_atomic_block else _hold_claim(name):
            made = make()

        def save() -> None:
            with _tolerate_faults():
                _store([CePhraseModel(name=name, weights=made, used_at=database_time())])

        transaction.on_commit(save)
        return made

    def train(self, content: Content) -> bytes:
        """What very many phrases teach, learned in a process of its own. Raises TrainingFailed."""
        release_connections()
        return train_in_process(content)

    def start(self, work: Callable[[], None]) -> bool:
        """Do work in the background of this process; false if too much of it waits."""
        return self._background.submit(work)

    def finish(self) -> None:
        """Wait until all that was started is done."""
        self._background.finish()


def _read(name: str) -> bytes | None:
    """The weights, if they are there and as the product wrote them. Those of a changed row are removed."""
    row: CePhraseModel | None = next(iter(read_rows(CePhraseModel.objects.filter(name=name))), None)
    if row is None or row.weights is None:
        return None
    if not _drop_changed([row]):
        CePhraseModel.objects.filter(name=name).update(weights=None, claimed_until=None)
        return None
    if not connection.in_atomic_block:
        now = database_time()
        if not isinstance(row.used_at, datetime) or row.used_at < now - _HOUR:
            CePhraseModel.objects.filter(name=name).update(used_at=now)
    return row.content


def _drop_changed(rows: Iterable[Row]) -> list[Row]:
    """The rows as the product wrote them. Of others it is noted when they were found, for people."""
    genuine = list[Row]()
    for row in rows:
        if row.is_genuine():
            genuine.append(row)
            continue
        log.error(
            "a stored row was changed outside of the product; it is not used, and made again",
            table=row._meta.db_table,
            row=row.name,
        )
        type(row)._default_manager.filter(pk=row.pk).update(refused_at=database_time())
    return genuine


def _store(rows: Iterable[DerivedRow]) -> None:
    """Store rows with their proofs, in the place of those of the same names."""
    signed = list(rows)
    for row in signed:
        row.sign()
    if signed:
        model = type(signed[0])
        columns = [column.name for column in model._meta.concrete_fields if column.name not in ("name", "refused_at")]
        model._default_manager.bulk_create(
            signed, batch_size=_ROWS, update_conflicts=True, unique_fields=["name"], update_fields=columns
        )


def _read_or_claim(name: str, longest: float) -> bytes | None:
    """The weights. Returns None if this process is to make them. Waits while another one makes them."""
    ends = time.monotonic() + longest
    while True:
        weights = _read(name)
        if weights is not None or _claim(name):
            return weights
        if time.monotonic() > ends:
            log.warning("classifier of phrases not shared in time, made here too", row=name, seconds=longest)
            return None
        release_connections()
        time.sleep(_LOOK)


def _claim(name: str) -> bool:
    """True if this process is to make the weights: nobody does, or who did has died.

    A claim that ends much later than a new one would was made before the clock of the database was set back. It may end
    a little later: its process may renew it after this one has read the clock.
    """
    now = database_time()
    ends = _get_claim_end(now)
    try:
        with transaction.atomic():
            CePhraseModel.objects.create(name=name, claimed_until=ends, used_at=now)
        return True
    except IntegrityError:
        is_free = Q(claimed_until=None) | Q(claimed_until__lt=now) | Q(claimed_until__gt=_get_claim_end(ends))
        return bool(CePhraseModel.objects.filter(is_free, name=name, weights=None).update(claimed_until=ends))


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
