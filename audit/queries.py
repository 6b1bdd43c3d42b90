"""Reading the trail: always by keyset, never with a count of a big table (law 8)."""

import re
import uuid
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime

from django.db.models import Q, QuerySet

from audit.models import CeAudit
from convengine.sessions.models import CeConversation, CeConversationHistory

#: What the record of a turn shows in lists.
_TURN_COLUMNS = (
    *("conversation_id", "turn_no", "turn_id", "created_at", "status", "source", "error_code", "error_message"),
    *("intent_code", "state_code", "config_version", "duration_ms", "user_input", "assistant_output"),
    *("context_epoch", "replayable", "audit_incomplete"),
)


@dataclass(frozen=True)
class EventFilter:
    """Which events of a conversation are wanted; empty fields admit everything."""

    turn_no: int | None = None
    #: Stage names; `*` stands for any characters, and a bare name also admits `NAME (source)`.
    stages: Sequence[str] = ()
    since: datetime | None = None
    until: datetime | None = None
    text: str = ""

    @property
    def selective(self) -> bool:
        """True when the events of a turn are not taken as a whole."""
        return bool(self.stages or self.since or self.until or self.text)


def conversation_of(conversation_id: uuid.UUID, workspace_id: str) -> CeConversation | None:
    """The conversation when it exists in the workspace; one of another workspace does not exist (R53)."""
    return CeConversation.objects.filter(pk=conversation_id, workspace_id=workspace_id).first()


def events(conversation_id: uuid.UUID, wanted: EventFilter | None = None) -> QuerySet[CeAudit]:
    """The events of a conversation's turns, in order of (turn, seq)."""
    wanted = wanted or EventFilter()
    found = CeAudit.objects.filter(conversation_id=conversation_id, turn_no__isnull=False)
    if wanted.turn_no is not None:
        found = found.filter(turn_no=wanted.turn_no)
    if wanted.stages:
        found = found.filter(_stages(wanted.stages))
    if wanted.since:
        found = found.filter(created_at__gte=wanted.since)
    if wanted.until:
        found = found.filter(created_at__lte=wanted.until)
    if wanted.text:
        found = found.filter(payload_json__icontains=wanted.text)
    return found.order_by("turn_no", "seq")


def page(found: QuerySet[CeAudit], after: tuple[int, int] | None, size: int) -> tuple[list[CeAudit], bool]:
    """Up to `size` events behind (turn, seq), and whether there are more."""
    if after is not None:
        turn_no, seq = after
        found = found.filter(Q(turn_no__gt=turn_no) | Q(turn_no=turn_no, seq__gt=seq))
    rows = list(found[: size + 1])
    return rows[:size], len(rows) > size


def page_before(found: QuerySet[CeAudit], before: tuple[int, int], size: int) -> list[CeAudit]:
    """Up to `size` events in front of (turn, seq), in order."""
    turn_no, seq = before
    rows = found.filter(Q(turn_no__lt=turn_no) | Q(turn_no=turn_no, seq__lt=seq)).order_by("-turn_no", "-seq")
    return list(reversed(rows[:size]))


def whole_turns(conversation_id: uuid.UUID, turn_nos: Iterable[int]) -> list[CeAudit]:
    """All events of some turns, in order: what folding needs."""
    return list(
        CeAudit.objects.filter(conversation_id=conversation_id, turn_no__in=set(turn_nos)).order_by("turn_no", "seq")
    )


def records(conversation_id: uuid.UUID, turn_nos: Iterable[int]) -> dict[int, CeConversationHistory]:
    """The turn records by turn number, without their recordings."""
    found = CeConversationHistory.objects.filter(conversation_id=conversation_id, turn_no__in=set(turn_nos))
    return {record.turn_no: record for record in found.defer("recording", "trace_graph", "assistant_output")}


def turn_page(
    conversation_id: uuid.UUID, size: int, before: int | None = None, after: int | None = None
) -> tuple[list[CeConversationHistory], bool]:
    """Up to `size` turn records, newest first, and whether there are more that way.

    In front of `before` the newest; behind `after` the oldest. Recordings and the like are not read.
    """
    found = CeConversationHistory.objects.filter(conversation_id=conversation_id).only(*_TURN_COLUMNS)
    if after is not None:
        rows = list(found.filter(turn_no__gt=after).order_by("turn_no")[: size + 1])
        return list(reversed(rows[:size])), len(rows) > size
    if before is not None:
        found = found.filter(turn_no__lt=before)
    rows = list(found.order_by("-turn_no")[: size + 1])
    return rows[:size], len(rows) > size


def newest_turns(conversation_id: uuid.UUID, before: int | None, size: int) -> list[int]:
    """The numbers of up to `size` turns in front of `before`, oldest first."""
    found = CeConversationHistory.objects.filter(conversation_id=conversation_id)
    if before is not None:
        found = found.filter(turn_no__lt=before)
    return sorted(found.order_by("-turn_no").values_list("turn_no", flat=True)[:size])


def _stages(names: Sequence[str]) -> Q:
    wanted = Q()
    for name in names:
        if "*" in name:
            # Built by hand: what the standard library makes of stars is no regular expression to PostgreSQL.
            wanted |= Q(stage__iregex=f"^{'.*'.join(re.escape(part) for part in name.split('*'))}$")
        else:
            wanted |= Q(stage=name) | Q(stage__startswith=f"{name} (")
    return wanted
