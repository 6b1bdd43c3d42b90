import hashlib
import sys
import threading
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from datetime import datetime, timedelta

import pytest
from django.db import OperationalError, connection, connections, transaction

from audit.integrity.verify import verify_other_tables
from convengine.engine.understanding.phrases import models
from convengine.engine.understanding.phrases.classifier import Content, Example, Weights
from convengine.engine.understanding.phrases.models import get_classifier, load_vectors, name_model, name_vector
from convengine.server.database.sql import database_time
from convengine.server.phrase_models import store as stores
from convengine.server.phrase_models.models import CePhraseModel, CePhraseVector, list_refused
from convengine.server.phrase_models.store import DatabaseStore
from tests.database import in_another_process

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.dialects]

CONTENT = Content((Example("PARCEL", "Where is my parcel?"), Example("REFUND", "I want my money back")))
NAME = name_model(CONTENT)
#: Prints the hash of the weights, how often this process trained, and what it decides.
PROGRAM = f"""
import hashlib
from audit.integrity.verify import verify_other_tables
from convengine.engine.understanding.phrases import models
from convengine.engine.understanding.phrases.classifier import Content, Example
from convengine.server.phrase_models.models import CePhraseModel
trained, train = [], models.train
models.train = lambda texts: trained.append(texts) or train(texts)
content = Content(tuple(map(Example._make, {[tuple(example) for example in CONTENT.examples]!r})))
ranked = models.get_classifier(content, models.name_model(content)).rank("has the parcel been sent", 3)
row = CePhraseModel.objects.get()
print(hashlib.sha256(bytes(row.weights)).hexdigest(), len(trained), ranked)
"""


@pytest.mark.long
def test_two_processes_that_meet_a_release_at_once_make_its_classifier_once_and_the_same_as_later(
    store: DatabaseStore,
) -> None:
    with ThreadPoolExecutor(2) as pool:
        printed = [*pool.map(in_another_process, [PROGRAM] * 2)]

    (first, *decided), (second, *same) = (line.split(" ", 2) for line in printed)
    assert first == second == hashlib.sha256(bytes(CePhraseModel.objects.get().weights)).hexdigest()
    assert {decided[0], same[0]} == {"0", "1"}
    assert decided[1] == same[1] == repr(get_classifier(CONTENT, NAME).rank("has the parcel been sent", 3))

    CePhraseModel.objects.all().delete()
    assert in_another_process(PROGRAM) == f"{first} 1 {same[1]}"


def test_an_edit_encodes_only_what_is_new(store: DatabaseStore, monkeypatch: pytest.MonkeyPatch) -> None:
    get_classifier(CONTENT, NAME)
    models._models.kept.clear()
    encoded: list[str] = []
    encode = models.encode_texts
    monkeypatch.setattr(models, "encode_texts", lambda name, texts: encoded.extend(texts) or encode(name, texts))
    new = Example("REFUND", "Please pay me back")

    edited = Content((*CONTENT.examples, new))
    get_classifier(edited, name_model(edited))

    assert encoded == [new.text]
    assert CePhraseVector.objects.filter(name=name_vector(new.text)).exists()
    assert load_vectors([new.text], models.NoStore())[new.text].shape == (512,)


def test_another_process_takes_over_from_one_that_died(store: DatabaseStore) -> None:
    now = database_time()
    CePhraseModel.objects.create(name=NAME, claimed_until=now + timedelta(seconds=0.5), used_at=now)

    get_classifier(CONTENT, NAME)

    assert CePhraseModel.objects.get().weights


@pytest.mark.parametrize("until", [timedelta(seconds=131), timedelta(days=400), -timedelta(days=1), None])
def test_a_claim_that_nobody_can_have_made_now_keeps_nobody_waiting(
    store: DatabaseStore, until: timedelta | None
) -> None:
    """The clock of the database was set back, or the row was damaged."""
    now = database_time()
    CePhraseModel.objects.create(name="name", claimed_until=until and now + until, used_at=now)

    began = time.monotonic()
    assert store.load_or_make("name", lambda: b"made") == b"made"

    assert time.monotonic() - began < 5
    assert CePhraseModel.objects.get().content == b"made"


def test_nobody_waits_longer_than_a_limit_for_another_process(
    store: DatabaseStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(stores, "_LONGEST_WAIT", 0.3)
    now = database_time()
    CePhraseModel.objects.create(name="name", claimed_until=now + timedelta(seconds=9), used_at=now)

    began = time.monotonic()
    assert store.load_or_make("name", lambda: b"made here") == b"made here"

    assert time.monotonic() - began < 5


def _swap_weights(row: CePhraseModel) -> None:
    """Put the weights of other phrases there, with their proof."""
    other = Content(
        tuple(Example(example.intent, text) for example, text in zip(CONTENT.examples, ("a", "b"), strict=True))
    )
    get_classifier(other, name_model(other))
    donor = CePhraseModel.objects.get(pk=name_model(other))
    CePhraseModel.objects.filter(pk=row.pk).update(weights=donor.weights, proof=donor.proof)


def _reverse_weights(row: CePhraseModel) -> None:
    """Exchange what speaks for each intent."""
    weights = Weights.unpack(bytes(row.weights))
    swapped = weights._replace(by_row=weights.by_row[:, ::-1]).pack()
    CePhraseModel.objects.filter(pk=row.pk).update(weights=swapped)


CHANGES: dict[str, Callable[[CePhraseModel], object]] = {
    "garbage": lambda row: CePhraseModel.objects.filter(pk=row.pk).update(weights=b"garbage"),
    "nothing": lambda row: CePhraseModel.objects.filter(pk=row.pk).update(weights=b""),
    "reversed": _reverse_weights,
    "of other phrases": _swap_weights,
    "without a proof": lambda row: CePhraseModel.objects.filter(pk=row.pk).update(proof=""),
    "cut off": lambda row: CePhraseModel.objects.filter(pk=row.pk).update(weights=bytes(row.weights)[:-40]),
    "vectors exchanged": lambda row: CePhraseVector.objects.update(vector=CePhraseVector.objects.all()[0].vector),
    "a vector of garbage": lambda row: CePhraseVector.objects.update(vector=b"\0"),
}


@pytest.mark.parametrize("change", CHANGES)
def test_what_somebody_changed_is_reported_not_used_made_again_and_told(store: DatabaseStore, change: str) -> None:
    expected = get_classifier(CONTENT, NAME).rank("has the parcel been sent", 2)
    row = CePhraseModel.objects.get()
    assert verify_other_tables().intact

    CHANGES[change](row)

    table = "ce_phrase_vector" if "vector" in change else "ce_phrase_model"
    reported = {(finding.table, finding.row) for finding in verify_other_tables().findings}
    assert {found for found, _ in reported} == {table}
    assert ("ce_phrase_vector" in table) or reported == {(table, NAME)}

    models._models.kept.clear()
    assert get_classifier(CONTENT, NAME).rank("has the parcel been sent", 2) == expected

    assert verify_other_tables().intact
    assert {told._meta.db_table for told in list_refused(database_time() - timedelta(minutes=5))} == {table}


def test_a_claim_holds_as_long_as_its_process_works(store: DatabaseStore, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(stores, "_CLAIM", 1.5)
    monkeypatch.setattr(stores, "_RENEW", 0.1)
    began, may_end = threading.Event(), threading.Event()

    def make_slowly() -> bytes:
        began.set()
        assert may_end.wait(30)
        return b"slow"

    def load(make: object) -> bytes:
        try:
            return store.load_or_make("name", make)  # type: ignore[arg-type]
        finally:
            connections.close_all()

    with ThreadPoolExecutor(2) as pool:
        slow = pool.submit(load, make_slowly)
        assert began.wait(30)
        waiting = pool.submit(load, lambda: b"made twice")
        assert not may_end.wait(2.5)
        may_end.set()
        assert (slow.result(30), waiting.result(30)) == (b"slow", b"slow")


def test_a_claim_that_is_renewed_while_another_process_looks_at_it_holds(
    store: DatabaseStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    now = database_time()
    claim = CePhraseModel.objects.create(name="name", claimed_until=stores._get_claim_end(now), used_at=now)

    def read_clock_before_renewal() -> datetime:
        seen = database_time()
        CePhraseModel.objects.update(claimed_until=stores._get_claim_end(database_time()))
        return seen

    monkeypatch.setattr(stores, "database_time", read_clock_before_renewal)

    assert not stores._claim(claim.name)


def test_what_could_not_be_made_is_tried_again_at_once(store: DatabaseStore) -> None:
    def fail() -> bytes:
        raise MemoryError

    with pytest.raises(MemoryError):
        store.load_or_make("name", fail)

    assert store.load_or_make("name", lambda: b"made") == b"made"


def test_a_transaction_neither_claims_nor_waits_and_stores_at_its_commit(store: DatabaseStore) -> None:
    now = database_time()
    CePhraseModel.objects.create(name="name", claimed_until=now + timedelta(hours=1), used_at=now)

    with transaction.atomic():
        assert store.load_or_make("name", lambda: b"made here") == b"made here"
        assert CePhraseModel.objects.get().weights is None

    assert bytes(CePhraseModel.objects.get().weights) == b"made here"


def test_what_a_transaction_that_fails_has_made_is_not_stored(store: DatabaseStore) -> None:
    with transaction.atomic():
        get_classifier(CONTENT, NAME)
        transaction.set_rollback(True)

    assert not CePhraseModel.objects.exists()
    assert not CePhraseVector.objects.exists()


@pytest.mark.parametrize("in_transaction", [False, True])
def test_without_its_tables_a_process_makes_its_own(store: DatabaseStore, in_transaction: bool) -> None:
    tables = ("ce_phrase_model", "ce_phrase_vector")
    with connection.cursor() as cursor:
        for table in tables:
            cursor.execute(f"ALTER TABLE {table} RENAME TO {table}_gone")
    try:
        if in_transaction:
            with transaction.atomic():
                ranked = get_classifier(CONTENT, NAME).rank("where is that parcel", 1)
                assert database_time()
        else:
            ranked = get_classifier(CONTENT, NAME).rank("where is that parcel", 1)
    finally:
        with connection.cursor() as cursor:
            for table in tables:
                cursor.execute(f"ALTER TABLE {table}_gone RENAME TO {table}")

    assert ranked[0].intent == "PARCEL"


def test_without_a_database_a_process_makes_its_own(store: DatabaseStore, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*_: object) -> None:
        raise OperationalError("connection refused")

    for name in ("_read", "_claim", "database_time"):
        monkeypatch.setattr(stores, name, refuse)

    assert store.load_or_make("name", lambda: b"made") == b"made"


def test_a_store_holds_no_pickle_and_no_text(store: DatabaseStore) -> None:
    get_classifier(CONTENT, NAME)

    stored = bytes(CePhraseModel.objects.get().weights)
    assert stored.startswith(b"PK")
    assert b"parcel" not in stored.lower()
    assert sys.getsizeof(stored) < 100_000


def test_the_use_of_a_classifier_is_known_to_the_hour(store: DatabaseStore) -> None:
    store.load_or_make("name", lambda: b"made")
    first = CePhraseModel.objects.get().used_at
    store.load_or_make("name", lambda: b"other")
    assert CePhraseModel.objects.get().used_at == first

    CePhraseModel.objects.update(used_at=first - timedelta(hours=2))
    store.load_or_make("name", lambda: b"other")

    assert CePhraseModel.objects.get().used_at >= first
