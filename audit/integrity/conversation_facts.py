"""Data of conversations besides their turns, for their chains: heads, beginnings, erasures, additions."""

import uuid
from collections import defaultdict
from dataclasses import dataclass, field
from datetime import datetime

from audit.integrity.read_record import read_outside_pieces
from audit.models import CeChainBase, CeChainCut, CeChainLink, CeErasure
from audit.record.seal.stored_pieces import Piece
from convengine.engine.turn.seal import CALLS, DECIDED, EVENTS, PROMPTS, STEPS
from convengine.server.sessions.models import CeConversation

#: The kinds of removal that may explain a missing group.
_CUTS = {
    STEPS: (CeChainCut.Kind.STEPS, CeChainCut.Kind.EVENTS),
    PROMPTS: (CeChainCut.Kind.PROMPTS, CeChainCut.Kind.EVENTS),
    EVENTS: (CeChainCut.Kind.EVENTS,),
    DECIDED: (CeChainCut.Kind.EVENTS,),
    CALLS: (CeChainCut.Kind.CALLS,),
}


@dataclass
class ConversationFacts:
    """One conversation."""

    #: True when the conversation's row exists.
    exists: bool = False
    #: The hash of the newest seal, according to that row.
    head: bytes | None = None
    last_turn_no: int = 0
    #: The running turn.
    running: uuid.UUID | None = None
    #: The last turn that retention removed, and its hash.
    base: tuple[int, bytes] | None = None
    #: Turns and additions up to these were erased.
    erased_turns: int = 0
    erased_links: int = 0
    links: list[CeChainLink] = field(default_factory=list)
    #: Events outside of turns.
    outside: list[Piece] = field(default_factory=list)


@dataclass(frozen=True)
class RetentionCuts:
    """The times before which data was removed by rule."""

    until: dict[str, datetime]

    @classmethod
    def read(cls) -> "RetentionCuts":
        """All recorded removals."""
        until: dict[str, datetime] = {}
        for cut in CeChainCut.objects.order_by("before"):
            if cut.kind == CeChainCut.Kind.BEGIN:
                # The first one counts: a later one would excuse what lost its seal since.
                until.setdefault(cut.kind, cut.before)
            elif cut.is_genuine():
                until[cut.kind] = cut.before
        return cls(until)

    def explains_missing(self, group: str, at: datetime) -> bool:
        """True when a missing part of a group may have been removed by rule."""
        return any(kind in self.until and at < self.until[kind] for kind in _CUTS.get(group, ()))

    def explains_missing_turn(self, at: datetime) -> bool:
        """True when a turn, with its session, may have been removed by rule."""
        return CeChainCut.Kind.TURNS in self.until and at < self.until[CeChainCut.Kind.TURNS]

    def predates_seals(self, at: datetime) -> bool:
        """True for a turn from before there were seals."""
        return CeChainCut.Kind.BEGIN in self.until and at < self.until[CeChainCut.Kind.BEGIN]


def read_conversation_facts(first: uuid.UUID, last: uuid.UUID) -> dict[uuid.UUID, ConversationFacts]:
    """Conversations from one id to another."""
    facts_by_conversation: dict[uuid.UUID, ConversationFacts] = defaultdict(ConversationFacts)
    rows = CeConversation.objects.filter(pk__gte=first, pk__lte=last)
    for pk, head, last_no, token, info in rows.values_list(
        "pk", "chain_head", "last_turn_no", "lease_token", "lease_info"
    ):
        running = uuid.UUID(info["turnId"]) if token and info and info.get("turnId") else None
        facts_by_conversation[pk] = ConversationFacts(True, bytes(head) if head else None, last_no, running)
    between = {"conversation_id__gte": first, "conversation_id__lte": last}
    for base in CeChainBase.objects.filter(**between):
        if base.is_genuine():
            facts_by_conversation[base.conversation_id].base = base.turn_no, bytes(base.hash)
    for erasure in CeErasure.objects.filter(**between):
        facts = facts_by_conversation[erasure.conversation_id]
        if erasure.is_genuine():
            facts.erased_turns = max(facts.erased_turns, erasure.last_turn_no)
            facts.erased_links = max(facts.erased_links, erasure.last_link)
    for link in CeChainLink.objects.filter(**between).order_by("conversation_id", "number"):
        facts_by_conversation[link.conversation_id].links.append(link)
    for key, events in read_outside_pieces(list(facts_by_conversation)).items():
        facts_by_conversation[key].outside = events
    return facts_by_conversation
