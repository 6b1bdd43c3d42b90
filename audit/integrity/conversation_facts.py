"""Data of conversations besides their turns, for their chains: heads, beginnings, erasures, additions."""

import uuid
from collections import defaultdict
from dataclasses import dataclass, field
from datetime import datetime

from audit import seal as seals
from audit.integrity.ledger_entries import Ledger
from audit.integrity.read_record import Row, read_additions
from audit.models import CeChainBase, CeChainCut, CeErasure
from convengine.server.database.unreadable import read_rows
from convengine.server.sessions.models import CeConversation, CePendingActionExecution

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
    """One conversation."""

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
