"""Record lawful removals, so that what is absent is no damage.

The ledger says how much was removed, the hash of the ids, who, and why; cuts and bases say where chains begin now.
"""

import json
import uuid
from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any

from django.db.models import Max

from audit.models import CeChainBase, CeChainCut, CeLedger, CeMcpUserFeedback, CeTurnIndex
from audit.models.ledger import hash_ids
from audit.models.sealed import ChainedRow
from audit.seal import HEADER, JSON_COLUMNS, WORDS, read_seal
from convengine.server.database.sql import database_time
from convengine.server.sessions.models import CeConversationHistory

#: Who removes by age.
RETENTION_BY = "retention"
Kind = CeLedger.Kind


def note_removal(
    kind: CeLedger.Kind, table: str, ids: Sequence[object], by: str, reason: str, **detail: Sequence[Any]
) -> None:
    """Record a removal of rows. Needs an open transaction.

    The `detail` explains what is absent: entries of a chain that were `removed` between others, entries that were
    `emptied`, and rows with proofs that were `erased`. Rows that are `undecided` are still there.
    """
    CeLedger.objects.create(
        created_at=database_time(),
        kind=kind,
        by=by,
        reason=reason,
        table_name=table,
        count=len(ids),
        ids_hash=hash_ids(ids),
        detail=json.dumps(detail, separators=(",", ":")),
    )


def list_allowed_changes(vendor: str) -> str:
    """The SQL condition under which a turn's row may change: contents are removed, and the events may get shorter.

    Columns that it does not name, such as the seal, may change too.
    """
    same = "IS NOT DISTINCT FROM" if vendor == "postgresql" else "IS"
    removable = (*WORDS, *JSON_COLUMNS, "recording")
    return " AND ".join(
        [
            *(f"NEW.{name} {same} OLD.{name}" for name in HEADER),
            *(f"(NEW.{name} IS NULL OR NEW.{name} {same} OLD.{name})" for name in removable),
            f"(NEW.events IS NULL OR NEW.events {same} OLD.events OR length(NEW.events) < length(OLD.events))",
        ]
    )


def note_undecided(rows: Mapping[str, Sequence[Any]], by: str, reason: str) -> None:
    """Record rows by table. A person must decide whether an erasure includes them."""
    for table, keys in rows.items():
        note_removal(Kind.ERASURE, table, (), by, reason, undecided=list(keys))


def remove_entries(
    model: type[ChainedRow], conversations: Sequence[uuid.UUID], kind: CeLedger.Kind, by: str, reason: str
) -> None:
    """Remove all entries of a log about some conversations, and record it. Needs an open transaction."""
    log: Any = model._default_manager
    entries = list(log.filter(conversation_id__in=conversations).order_by("pk"))
    if entries:
        keys = [entry.pk for entry in entries]
        log.filter(pk__in=keys).delete()
        seals = [(entry, seal) for entry in entries if (seal := read_seal(entry.seal))]
        removed = [[entry.get_chain_name(), entry.pk, seal.previous.hex(), seal.hash.hex()] for entry, seal in seals]
        note_removal(kind, model._meta.db_table, keys, by, reason, removed=removed)


def note_cut(kind: CeChainCut.Kind, before: datetime, last: int = 0) -> None:
    """Record a removal of data older than `before`: ahead of it, and again afterwards with the last examined row."""
    cut = CeChainCut(kind=kind, before=before, looked_to=last)
    cut.sign()
    cut.save()


def turns_removed_before(before: datetime) -> None:
    """Record that older turns and sessions are removed."""
    note_cut(CeChainCut.Kind.TURNS, before)


def last_checked_row(kind: CeChainCut.Kind) -> int:
    """The number of the last examined row of a kind; 0 if none was."""
    return CeChainCut.objects.filter(kind=kind).aggregate(last=Max("looked_to"))["last"] or 0


def turns_leave(keys: Sequence[int]) -> None:
    """Record where chains begin whose oldest turns are about to be removed. Needs an open transaction."""
    if keys:
        reason = "old turns of conversations in use"
        note_removal(Kind.RETENTION, "ce_conversation_history", keys, RETENTION_BY, reason)
    newest: dict[uuid.UUID, tuple[int, bytes]] = {}
    rows = CeConversationHistory.objects.filter(pk__in=keys).order_by("turn_no")
    for key, turn_no, seal in rows.values_list("conversation_id", "turn_no", "seal"):
        if whole := read_seal(seal):
            newest[key] = turn_no, whole.hash
    bases = [CeChainBase(conversation_id=key, turn_no=turn_no, hash=head) for key, (turn_no, head) in newest.items()]
    for base in bases:
        base.sign()
    columns = ["turn_no", "hash", "created_at", "proof"]
    CeChainBase.objects.bulk_create(
        bases, update_conflicts=True, unique_fields=["conversation_id"], update_fields=columns
    )


def conversations_leave(keys: Sequence[uuid.UUID], *, by: str, reason: str) -> None:
    """Record whole conversations that are about to be removed, and remove what the record has besides their turns.

    Needs an open transaction.
    """
    turns = CeConversationHistory.objects.filter(conversation_id__in=keys)
    CeTurnIndex.objects.filter(turn_id__in=list(turns.values_list("turn_id", flat=True))).purge()
    remove_entries(CeMcpUserFeedback, keys, Kind.RETENTION, by, reason)
    note_removal(Kind.RETENTION, "ce_conversation", keys, by, reason)
