"""Rows that change after they were written: verify the proof of each, and that those which a root lists are there.

These are runs of actions, deliveries of webhooks, threads and stored answers. Writing one waits for no other, as an
entry of a chain would. Classifiers and vectors of phrases have proofs, too; one that is missing is made again. Records
of removals have proofs, without which they explain nothing.
"""

import json
import uuid
import zlib
from collections.abc import Callable, Iterator, Mapping
from datetime import UTC, datetime, timedelta
from itertools import islice
from typing import Any, NamedTuple

from audit.integrity.findings import IntegrityFinding, create_table_finding
from audit.integrity.read_record import Ledger, RetentionCuts
from audit.models import CeChainBase, CeChainCut, CeErasure, CeSealedState
from convengine.server.database.signed_rows import SignedState
from convengine.server.database.sql import database_time
from convengine.server.database.unreadable import iterate_values, read_rows
from convengine.server.phrase_models.models import CePhraseModel, CePhraseVector
from convengine.server.sessions.models import CeConversation, CeIdempotency, CePendingActionExecution, CeThread
from convengine.server.webhooks.models import CeWebhook, CeWebhookDelivery

#: Rows per read, and per line of a root.
_ROWS, _LINE = 2000, 500
#: Rows per read where a row has megabytes.
_FEW_ROWS = 5
#: Numbers are assigned before a transaction commits; after this time no smaller one appears any more.
_SETTLED = timedelta(hours=1)
#: Rows of a turn are written a little after its beginning, and are removed with it.
_LONGEST_TURN = timedelta(hours=1)


class _Lifetime(NamedTuple):
    """How long the rows of a table are kept."""

    model: type[SignedState]
    #: The column with the time when a row was written, and the one that decides when it is removed.
    written: str
    deciding: str
    #: True when a row with that time may have been removed by rule: by the recorded cuts, or at this time.
    is_over: Callable[[datetime, RetentionCuts, datetime], bool]
    #: The column of the row that it belongs to and is removed with, and its table.
    owner: str = ""
    owner_table: str = ""


def _goes_with_its_turn(at: datetime, cuts: RetentionCuts, now: datetime) -> bool:
    """True when retention may have removed the turn that wrote a row at this time."""
    return cuts.explains_missing_turn(at - _LONGEST_TURN)


def _expires(at: datetime, cuts: RetentionCuts, now: datetime) -> bool:
    """True when a row that was kept until this time may have been removed."""
    return at <= now


def _stays(at: datetime, cuts: RetentionCuts, now: datetime) -> bool:
    """False: no rule removes these rows."""
    return False


_LIFETIMES = {
    lifetime.model._meta.db_table: lifetime
    for lifetime in (
        _Lifetime(CePendingActionExecution, "started_at", "started_at", _goes_with_its_turn),
        _Lifetime(
            CeWebhookDelivery,
            "created_at",
            "created_at",
            _goes_with_its_turn,
            "webhook_id",
            CeWebhook._meta.db_table,
        ),
        _Lifetime(CeThread, "created_at", "created_at", _stays),
        _Lifetime(CeIdempotency, "created_at", "expires_at", _expires),
    )
}


def pack_new_rows(listed_to: Mapping[str, int]) -> tuple[dict[str, int], bytes]:
    """The rows after the last listed one of each table, for a root: the last ones now, and the lines, compressed."""
    packer, parts, reached = zlib.compressobj(), [], dict(listed_to)
    before = database_time() - _SETTLED
    for table, lifetime in _LIFETIMES.items():
        settled = _list_settled(lifetime, listed_to.get(table, 0), before)
        while rows := list(islice(settled, _LINE)):
            reached[table] = rows[-1][0]
            parts.append(packer.compress(f"{json.dumps([table, rows], separators=(',', ':'))}\n".encode()))
    return reached, b"".join([*parts, packer.flush()]) if parts else b""


def _list_settled(lifetime: _Lifetime, last: int, before: datetime) -> Iterator[tuple[int, int, int]]:
    """Key, time in seconds, and owner or 0 of the rows after a key that were written before a time."""
    columns = {lifetime.written, lifetime.deciding, *filter(None, [lifetime.owner])}
    for row in iterate_values(lifetime.model._base_manager.filter(pk__gt=last), *columns):
        # What cannot be read has no valid proof, and is reported for that.
        if row.keys() >= columns:
            if row[lifetime.written] >= before:
                return
            yield row["pk"], int(row[lifetime.deciding].timestamp()), row.get(lifetime.owner, 0)


def verify_rows(ledger: Ledger) -> Iterator[IntegrityFinding]:
    """Verify the proofs of all rows, and report rows that roots list and that are missing without a reason."""
    for lifetime in _LIFETIMES.values():
        yield from _verify_proofs(lifetime.model._base_manager.all())
    for model in (CePhraseVector, CeChainBase, CeChainCut, CeErasure):
        yield from _verify_proofs(model._base_manager.all())
    yield from _verify_proofs(CePhraseModel._base_manager.exclude(weights=None), _FEW_ROWS)
    yield from _find_missing(ledger)


def verify_rows_of(conversation_id: uuid.UUID) -> Iterator[IntegrityFinding]:
    """Verify the proofs of the rows that belong to a conversation, with the thread of its participant."""
    for model in (CePendingActionExecution, CeIdempotency):
        yield from _verify_proofs(model._base_manager.filter(conversation_id=conversation_id))
    yield from _verify_proofs(CeWebhookDelivery._base_manager.filter(conversation_id=str(conversation_id)))
    names = CeConversation.objects.filter(pk=conversation_id).values("workspace_id", "channel", "remote_jid")
    for thread in names:
        yield from _verify_proofs(CeThread._base_manager.filter(**thread))


def _verify_proofs(rows: Any, most: int = _ROWS) -> Iterator[IntegrityFinding]:
    """Verify the proof of each row of a query, page by page. A row without one was not written by the product."""
    table, name = rows.model._meta.db_table, rows.model._meta.verbose_name
    page = read_rows(rows.order_by("pk")[:most])
    while page:
        for row in page:
            if not row.is_genuine():
                code, text = "ROW_CHANGED", f"The product did not write this {name} as it is."
                if not row.proof:
                    code, text = "ROW_ADDED", f"The product did not write this {name}: it has no proof."
                yield create_table_finding(code, table, row.pk, text)
        page = read_rows(rows.filter(pk__gt=page[-1].pk).order_by("pk")[:most])


def _find_missing(ledger: Ledger) -> Iterator[IntegrityFinding]:
    """Report listed rows that are gone, except for those that were erased, too old, or removed with their owner."""
    cuts, now = RetentionCuts.read(), database_time()
    erased = {table: ledger.list_erased(table) for table in _LIFETIMES}
    removed_owners = {table: _list_removed(lifetime.owner_table) for table, lifetime in _LIFETIMES.items()}
    for root in ledger.roots:
        for table, rows in map(json.loads, root.list_rows()):
            lifetime = _LIFETIMES[table]
            stored = lifetime.model._base_manager.filter(pk__in=[pk for pk, _, _ in rows])
            known = erased[table] | set(stored.values_list("pk", flat=True))
            for pk, at, owner in rows:
                is_over = lifetime.is_over(datetime.fromtimestamp(at, UTC), cuts, now)
                if not (pk in known or is_over or str(owner) in removed_owners[table]):
                    text = f"The ledger lists this {lifetime.model._meta.verbose_name}, which was removed."
                    yield create_table_finding("ROW_MISSING", table, pk, text)


def _list_removed(table: str) -> set[str]:
    """The rows of a table that the product removed, by its sealed states."""
    states = CeSealedState.objects.filter(table_name=table) if table else CeSealedState.objects.none()
    removed: set[str] = set()
    for hashes in states.values_list("hashes", flat=True):
        removed |= {key for key, (_, after) in hashes.items() if after is None}
    return removed
