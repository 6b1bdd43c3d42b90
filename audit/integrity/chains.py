"""Verify the tables that are chained: the access log, feedback, the ledger, and the states of rows that may change."""

import heapq
from collections.abc import Generator, Iterable, Iterator, Mapping
from typing import Any, NamedTuple

from django.db.models import Exists, OuterRef

from audit.integrity.findings import IntegrityFinding, create_table_finding
from audit.integrity.read_record import Ledger
from audit.models import CeAccessLog, CeChain, CeLedger, CeMcpUserFeedback, CeSealedState
from audit.record.sealed_states import hash_rows, list_models
from audit.seal import ERASED, read_seal
from convengine.server.database.unreadable import UNREADABLE, format_minute, iterate_values, read_rows
from convengine.server.interfaces.sealed_states import SealedStateModel

_CHAINS = CeChain._meta.db_table


class _Link(NamedTuple):
    """An entry, or the gap that a recorded removal left."""

    pk: int
    #: None for an entry without a readable seal.
    previous: bytes | None
    hash: bytes | None
    is_whole: bool = True


def verify_chains(ledger: Ledger) -> Iterator[IntegrityFinding]:
    """Verify all chains, and the rows whose states they have."""
    chains = {row.pk: row for row in read_rows(CeChain.objects.all())}
    for entries in list_entries():
        for name in sorted(_list_names(entries, chains)):
            own = entries.filter(table_name=name) if entries.model is CeSealedState else entries
            yield from _verify_chain(name, own, chains.get(name), ledger)
    yield from _verify_states()
    # Feedback counts as replaced only when the same person rated the turn again.
    feedback = CeMcpUserFeedback.objects
    later = feedback.filter(turn_id=OuterRef("turn_id"), author=OuterRef("author"), pk__gt=OuterRef("pk"))
    for pk in feedback.exclude(replaced_at=None).exclude(Exists(later)).values_list("pk", flat=True):
        text = "It is marked as replaced, but nobody rated the turn again."
        yield create_table_finding("LOG_CHANGED", CeMcpUserFeedback._meta.db_table, pk, text)


def list_entries() -> list[Any]:
    """The tables that are chained, as queries."""
    return [model._default_manager.all() for model in (CeAccessLog, CeMcpUserFeedback, CeLedger, CeSealedState)]


def _list_names(entries: Any, chains: Mapping[str, CeChain]) -> set[str]:
    """The chains of a table: one of its own name, or one for each table whose states it has."""
    if entries.model is not CeSealedState:
        return {entries.model._meta.db_table}
    return {
        *chains.keys() & {model._meta.db_table for model in list_models()},
        *CeSealedState.objects.order_by().values_list("table_name", flat=True).distinct(),
    }


def _verify_chain(name: str, entries: Any, chain: CeChain | None, ledger: Ledger) -> Iterator[IntegrityFinding]:
    """Verify the entries of one chain against each other, against its stored end, and against the ledger.

    `chain` is the row with that end, None if it does not exist.
    """
    table, listed = entries.model._meta.db_table, ledger.list_ends(name)
    if chain is None:
        if listed or entries.exists():
            yield create_table_finding("LOG_MISSING", table, name, f"The end of the chain of {name} was removed.")
        return
    if not chain.is_genuine():
        yield create_table_finding("LOG_CHANGED", _CHAINS, name, f"The end of the chain of {name} was changed.")
    gaps = (_Link(*removed) for removed in ledger.list_removed(name) if removed[0] > chain.removed_to)
    links = heapq.merge(_read_links(entries, ledger.list_emptied(table)), gaps, key=lambda link: link.pk)
    last = yield from _verify_links(table, bytes(chain.base), links, listed)
    # A last link without a readable seal cannot be compared. What retention removed is no damage.
    if last is not None and last != bytes(chain.head):
        text = f"The last entries of {name}, up to {chain.last}, were removed or replaced."
        yield create_table_finding("LOG_MISSING", table, chain.last, text)
    for pk in sorted(pk for pk in listed if pk > chain.removed_to):
        yield create_table_finding("LOG_MISSING", table, pk, "The ledger lists this entry, which was removed.")


def _verify_links(
    table: str, last: bytes | None, links: Iterable[_Link], listed: dict[int, bytes]
) -> Generator[IntegrityFinding, None, bytes | None]:
    """Verify each entry, and that it follows from the one before it. Returns the hash of the last link.

    `last` is the hash before the first one. `listed` has the ends that the ledger lists; those that exist are taken
    out of it.
    """
    for link in links:
        if not link.is_whole:
            yield create_table_finding("LOG_CHANGED", table, link.pk, "It does not match its seal.")
        if None not in (link.previous, last) and link.previous != last:
            yield create_table_finding("LOG_MISSING", table, link.pk, "Entries before it were removed, or it was added")
        last = link.hash
        wanted = listed.pop(link.pk, None)
        if wanted and last not in (wanted, None):
            yield create_table_finding("LEDGER_DIFFERS", table, link.pk, "The ledger lists another entry.")
    return last


def _read_links(entries: Any, emptied: set[int]) -> Iterator[_Link]:
    """The entries, each with the result of its own seal. An erasure may have emptied only the entries in `emptied`."""
    model = entries.model
    for row in iterate_values(entries, "seal", *model.SEALED, *model.ERASABLE):
        # None for a value that cannot be read, and for bytes that are no seal.
        seal = read_seal(row["seal"]) if "seal" in row else None
        if seal is None:
            yield _Link(row["pk"], None, None, is_whole=False)
            continue
        is_lawful = not seal.cuts or (seal.cuts == ERASED and row["pk"] in emptied)
        yield _Link(row["pk"], seal.previous, seal.hash, is_lawful and seal.matches(model.encode_values(row)))


def _verify_states() -> Iterator[IntegrityFinding]:
    """Verify rows that may change: each change began with the state before it, and the last one made the row."""
    models = {model._meta.db_table: model for model in list_models()}
    states: dict[str, dict[str, str | None]] = {table: {} for table in models}
    for entry in iterate_values(CeSealedState.objects.all(), "created_at", "table_name", "hashes"):
        table = str(entry.get("table_name"))
        for key, before, after in _list_changes(entry.get("hashes")) if table in models else ():
            when = f", which its next change showed on {format_minute(entry.get('created_at', UNREADABLE))}"
            yield from _compare_states(models[table], key, states[table].get(key), before, when)
            states[table][key] = after
    for table, model in models.items():
        present = dict(hash_rows(model._default_manager.all()))
        for key in {**states[table], **present}:
            yield from _compare_states(model, key, states[table].get(key), present.get(key))


def _list_changes(hashes: Any) -> Iterator[tuple[str, str | None, str | None]]:
    """What an entry says of each row; a changed entry may say anything."""
    for key, pair in hashes.items() if isinstance(hashes, dict) else ():
        if isinstance(pair, list) and len(pair) == 2:
            yield key, *pair


def _compare_states(
    model: type[SealedStateModel], key: str, sealed: str | None, actual: str | None, when: str = ""
) -> Iterator[IntegrityFinding]:
    """Report a row that is not in its sealed state. A state is a hash, or None for a row that does not exist.

    `when` ends the sentence of the finding, and begins with a comma.
    """
    if sealed == actual:
        return
    code, verb = "ROW_CHANGED", "change"
    if sealed is None:
        code, verb = "ROW_ADDED", "make"
    elif actual is None:
        code, verb = "ROW_MISSING", "remove"
    text = f"The product did not {verb} this {model._meta.verbose_name}{when}."
    yield create_table_finding(code, model._meta.db_table, key, text)
