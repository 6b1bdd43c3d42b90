"""Read what verification compares: the rows of the record, facts of their conversations, and the genuine ledger.

Turns are read one after another, in few statements. Some hundred turns fit into memory; a conversation need not.
"""

import uuid
from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

from django.db import connection
from django.db.models import BooleanField, QuerySet, TextField
from django.db.models.expressions import RawSQL

from audit import seal as seals
from audit.models import CeChainBase, CeChainCut, CeErasure, CeLedger
from audit.seal import SEALED
from convengine.server.database.sql import dialect
from convengine.server.database.unreadable import read_rows, read_values
from convengine.server.sessions.models import ADDITION, CeConversation, CeConversationHistory, CePendingActionExecution

#: Turns per read.
TURNS = 400
LAST = 2**31 - 1
#: A position in the order of all turns: conversation and turn.
TurnKey = tuple[uuid.UUID, int]
#: A row of the record, by column.
Row = dict[str, Any]
_IS_WANTED = (
    f"source <> '{ADDITION}' AND (conversation_id, turn_no) > (%s, %s) AND (conversation_id, turn_no) <= (%s, %s)"
)
#: The index entries of a row's turn, in order, as one JSON text. This name is no column.
INDEX = "index_entries"
_INDEX_SQL = {
    "postgresql": (
        "SELECT CAST(json_agg(json_build_array(kind, value, role) ORDER BY id) AS text)"
        " FROM ce_turn_index i WHERE i.turn_id = ce_conversation_history.turn_id"
    ),
    "sqlite": (
        "SELECT json_group_array(json_array(kind || '', value || '', role || ''))"
        " FROM (SELECT * FROM ce_turn_index i WHERE i.turn_id = ce_conversation_history.turn_id ORDER BY id)"
    ),
}


def read_chunks(first: uuid.UUID | None, last: uuid.UUID, only: bool = False) -> Iterator[list[Row]]:
    """The turns of the conversations after `first` up to `last`, in order; with `only`, of `last` alone.

    Without `first`, from the beginning. Each chunk has TURNS turns; only the last one has fewer, or none.
    """
    last_key: TurnKey = (last, -1) if only else (first or uuid.UUID(int=0), LAST if first else 0)
    while True:
        # In this form, PostgreSQL reads the index in order also when it plans without the values; otherwise it would
        # sort all later turns each time.
        params = [dialect().uuid_param(last_key[0]), last_key[1], dialect().uuid_param(last), LAST]
        is_wanted = RawSQL(_IS_WANTED, params, output_field=BooleanField())  # noqa: S611 - fixed text
        wanted = CeConversationHistory._base_manager.filter(is_wanted)
        rows = _read_with_index(wanted.order_by("conversation_id", "turn_no")[:TURNS])
        yield rows
        if len(rows) < TURNS:
            return
        last_key = rows[-1]["conversation_id"], rows[-1]["turn_no"]


def read_additions(first: uuid.UUID, last: uuid.UUID) -> dict[uuid.UUID, list[Row]]:
    """The additions of the conversations from one id to another, in order."""
    by_conversation = defaultdict[uuid.UUID, list[Row]](list)
    rows = CeConversationHistory.additions.filter(conversation_id__gte=first, conversation_id__lte=last)
    for row in _read_with_index(rows.order_by("conversation_id", "history_id")):
        by_conversation[row["conversation_id"]].append(row)
    return by_conversation


def _read_with_index(rows: QuerySet[CeConversationHistory]) -> list[Row]:
    """The sealed columns of rows, their numbers and seals, and the index entries of their turns."""
    index = RawSQL(_INDEX_SQL[connection.vendor], [], output_field=TextField())  # noqa: S611 - fixed text
    return read_values(rows.annotate(**{INDEX: index}), *SEALED, "history_id", "seal", INDEX)


@dataclass
class Ledger:
    entries: list[CeLedger]

    @classmethod
    def read(cls, **only: str) -> "Ledger":
        """The genuine entries, without what roots list; with `only`, those that have these values in these columns."""
        entries = CeLedger.objects.filter(**only).defer("ends", "rows").order_by("pk")
        return cls([entry for entry in read_rows(entries) if entry.is_genuine()])

    @property
    def roots(self) -> list[CeLedger]:
        """The roots, oldest first."""
        return [entry for entry in self.entries if entry.kind == CeLedger.Kind.ROOT]

    def list_ends(self, chain: str) -> dict[int, bytes]:
        """The ends of a chain that roots list: the last entry then, and the hash of its seal."""
        listed = (end for root in self.roots for end in root.details.get("tables", ()))
        return {last: bytes.fromhex(digest) for name, last, digest in listed if name == chain}

    def list_removed(self, chain: str) -> list[tuple[int, bytes, bytes]]:
        """The entries of a chain that were removed lawfully: number, and the two hashes of the seal."""
        removed = (gap for entry in self.entries for gap in entry.details.get("removed", ()))
        return sorted(
            (pk, bytes.fromhex(previous), bytes.fromhex(digest))
            for name, pk, previous, digest in removed
            if name == chain
        )

    def list_emptied(self, table: str) -> set[int]:
        """The entries of a table whose words an erasure removed."""
        entries = (entry for entry in self.entries if entry.table_name == table)
        return {pk for entry in entries for pk in entry.details.get("emptied", ())}

    def list_erased(self, table: str) -> set[int]:
        return {pk for entry in self.entries if entry.table_name == table for pk in entry.details.get("erased", ())}

    def count_removed_conversations(self) -> int:
        """How many conversations were removed, other than by an erasure."""
        table, kind = CeConversation._meta.db_table, CeLedger.Kind.RETENTION
        return sum(entry.count for entry in self.entries if entry.kind == kind and entry.table_name == table)


#: The recorded removals that explain a cut of a seal.
_KINDS = {
    seals.STEPS: CeChainCut.Kind.STEPS,
    seals.PROMPTS: CeChainCut.Kind.PROMPTS,
    seals.CALLS: CeChainCut.Kind.CALLS,
    seals.CONTENTS: CeChainCut.Kind.EVENTS,
}
_COLUMNS = ("chain_head", "last_turn_no", "workspace_id", "channel", "remote_jid", "opened_by", "proof")


@dataclass
class ConversationFacts:
    #: True when the conversation's row exists, and when it says whose conversation it is as the product wrote it.
    exists: bool = False
    is_genuine: bool = True
    #: The hash of the newest seal, according to that row.
    head: bytes | None = None
    last_turn_no: int = 0
    #: The last turn that retention removed, and its hash.
    base: tuple[int, bytes] | None = None
    #: Turns and additions up to these were erased.
    erased_turns: int = 0
    erased_additions: int = 0
    additions: list[Row] = field(default_factory=list)
    #: The status of each run of an action.
    executions: dict[int, str] = field(default_factory=dict)


@dataclass(frozen=True)
class RetentionCuts:
    """What was removed lawfully: the times before which data was removed by rule, and the erased runs of actions."""

    until: dict[str, datetime]
    erased_executions: set[int]

    @classmethod
    def read(cls) -> "RetentionCuts":
        """All genuine records of removals. Others explain nothing."""
        cuts = CeChainCut.objects.order_by("before")
        until = {cut.kind: cut.before for cut in cuts if cut.is_genuine()}
        table = CePendingActionExecution._meta.db_table
        return cls(until, Ledger.read(table_name=table).list_erased(table))

    def explains(self, cuts: int, at: datetime) -> bool:
        """True when rules may have removed every part that a seal names as cut.

        Whether an erasure explains what it removed is not asked: its bit does not count here.
        """
        return all(kind in self.until and at < self.until[kind] for bit, kind in _KINDS.items() if cuts & bit)

    def explains_missing_turn(self, at: datetime) -> bool:
        """True when a turn, with its session, may have been removed by rule."""
        return CeChainCut.Kind.TURNS in self.until and at < self.until[CeChainCut.Kind.TURNS]


def read_conversation_facts(first: uuid.UUID, last: uuid.UUID) -> dict[uuid.UUID, ConversationFacts]:
    """The facts of the conversations from `first` to `last`, both included, as far as anything is stored of them.

    Erasures and bases that are not genuine are left out. The given dictionary makes empty facts for other keys.
    """
    facts_by_conversation: dict[uuid.UUID, ConversationFacts] = defaultdict(ConversationFacts)
    rows = CeConversation.objects.filter(pk__gte=first, pk__lte=last)
    for row in read_rows(rows.only(*_COLUMNS)):
        head = bytes(row.chain_head) if row.chain_head else None
        facts_by_conversation[row.pk] = ConversationFacts(True, row.is_genuine(), head, row.last_turn_no)
    between = {"conversation_id__gte": first, "conversation_id__lte": last}
    for base in CeChainBase.objects.filter(**between):
        if base.is_genuine():
            facts_by_conversation[base.conversation_id].base = base.turn_no, bytes(base.hash)
    for erasure in CeErasure.objects.filter(**between):
        facts = facts_by_conversation[erasure.conversation_id]
        if erasure.is_genuine():
            facts.erased_turns = max(facts.erased_turns, erasure.last_turn_no)
            facts.erased_additions = max(facts.erased_additions, erasure.last_addition)
    executions = CePendingActionExecution.objects.filter(**between).values_list("conversation_id", "pk", "status")
    for key, pk, status in executions.iterator():
        facts_by_conversation[key].executions[pk] = status
    for key, additions in read_additions(first, last).items():
        facts_by_conversation[key].additions = additions
    return facts_by_conversation
