"""What must be known of conversations beside their turns, for their chains: heads, beginnings, erasures, additions."""

import uuid
from collections import defaultdict
from dataclasses import dataclass, field
from datetime import datetime

from audit.chain.reading import outside
from audit.chain.stored import Piece
from audit.models import CeChainBase, CeChainCut, CeChainLink, CeErasure
from convengine.domain.chain import CALLS, DECIDED, EVENTS, PROMPTS, STEPS
from convengine.sessions.models import CeConversation

#: By which cuts a group may have been taken out.
_CUTS = {
    STEPS: (CeChainCut.Kind.STEPS, CeChainCut.Kind.EVENTS),
    PROMPTS: (CeChainCut.Kind.PROMPTS, CeChainCut.Kind.EVENTS),
    EVENTS: (CeChainCut.Kind.EVENTS,),
    DECIDED: (CeChainCut.Kind.EVENTS,),
    CALLS: (CeChainCut.Kind.CALLS,),
}


@dataclass
class About:
    """One conversation."""

    #: True when the conversation has its row.
    there: bool = False
    #: The hash of the newest seal, as that row says.
    head: bytes | None = None
    last_turn_no: int = 0
    #: The turn that runs now.
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
class Cuts:
    """Until when what was taken out by rule."""

    until: dict[str, datetime]

    @classmethod
    def read(cls) -> "Cuts":
        """All that were noted."""
        until: dict[str, datetime] = {}
        for cut in CeChainCut.objects.order_by("before"):
            if cut.kind == CeChainCut.Kind.BEGIN:
                # The first one counts: one that was put in later would excuse what lost its seal since.
                until.setdefault(cut.kind, cut.before)
            elif cut.is_genuine():
                until[cut.kind] = cut.before
        return cls(until)

    def took(self, group: str, at: datetime) -> bool:
        """True when what is missing of a group may have been taken out by rule."""
        return any(kind in self.until and at < self.until[kind] for kind in _CUTS.get(group, ()))

    def took_turn(self, at: datetime) -> bool:
        """True when a turn, with its session, may have been."""
        return CeChainCut.Kind.TURNS in self.until and at < self.until[CeChainCut.Kind.TURNS]

    def had_no_seal(self, at: datetime) -> bool:
        """True for a turn of the time before there were seals."""
        return CeChainCut.Kind.BEGIN in self.until and at < self.until[CeChainCut.Kind.BEGIN]


def about(first: uuid.UUID, last: uuid.UUID) -> dict[uuid.UUID, About]:
    """Conversations from one to another."""
    found: dict[uuid.UUID, About] = defaultdict(About)
    rows = CeConversation.objects.filter(pk__gte=first, pk__lte=last)
    for pk, head, last_no, token, info in rows.values_list(
        "pk", "chain_head", "last_turn_no", "lease_token", "lease_info"
    ):
        running = uuid.UUID(info["turnId"]) if token and info and info.get("turnId") else None
        found[pk] = About(True, bytes(head) if head else None, last_no, running)
    between = {"conversation_id__gte": first, "conversation_id__lte": last}
    for base in CeChainBase.objects.filter(**between):
        if base.is_genuine():
            found[base.conversation_id].base = base.turn_no, bytes(base.hash)
    for erasure in CeErasure.objects.filter(**between):
        one = found[erasure.conversation_id]
        if erasure.is_genuine():
            one.erased_turns = max(one.erased_turns, erasure.last_turn_no)
            one.erased_links = max(one.erased_links, erasure.last_link)
    for link in CeChainLink.objects.filter(**between).order_by("conversation_id", "number"):
        found[link.conversation_id].links.append(link)
    for key, events in outside(list(found)).items():
        found[key].outside = events
    return found
