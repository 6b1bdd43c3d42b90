"""Erase a person's data from everything stored, so that the chain stays valid and shows the erasure.

First the erasure is declared: in one transaction the conversation is closed for good, its contents are removed, and the
erasure is recorded. Then its turns are emptied in batches; if that is interrupted, the job continues. Each turn keeps
number, time, status, intent, state and duration, and the digests of its seal. The salt is removed, so that nobody can
guess the words.
"""

import uuid
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import timedelta
from typing import Any
from urllib.parse import parse_qsl, quote_plus

from django.db import transaction
from django.db.models import Max, Q, QuerySet

from audit.models import (
    CeAccessLog,
    CeAudit,
    CeChainLink,
    CeErasure,
    CeLlmCallLog,
    CeMcpUserFeedback,
    CeReplayJob,
    CeSavedSearch,
)
from audit.record.seal import links
from convengine.engine.errors import TurnInProgress
from convengine.engine.pipeline.stages import DATA_ERASED
from convengine.engine.turn.enums import Lifecycle
from convengine.engine.turn.job import Counts, Every, Job
from convengine.engine.turn.seal import Seal
from convengine.server.app_interfaces import configuration
from convengine.server.database.sql import database_time
from convengine.server.executors.models import CeNotification
from convengine.server.sessions.models import (
    CLOSED_BY_CALL,
    CeConversation,
    CeConversationHistory,
    CeIdempotency,
    CeMemory,
    CePendingActionExecution,
    CeSessionUnit,
    CeThread,
    CeTurnTicket,
)
from convengine.server.turns.dead_turns import recover_expired_lease

#: Turns per transaction.
TURNS_PER_TRANSACTION = 100
_ERASED = "erased"
_UNFINISHED_WINDOW = timedelta(days=30)
#: The contents of a conversation, with their empty values.
_EMPTY_CONVERSATION: dict[str, Any] = {
    "context_json": {},
    "input_params_json": {},
    "last_user_text": None,
    "last_assistant_json": None,
    "context_summary": "",
    "preferences": {},
    "lease_info": None,
    "lease_token": None,
    "lease_expires_at": None,
    "lease_interrupted_by": None,
    "mounted_kb_id": None,
}
#: The contents of a turn record, likewise.
_EMPTY_TURN = dict.fromkeys(
    (
        "user_input",
        "assistant_output",
        "facts",
        "recording",
        "error_message",
        "replay_note",
        "request_meta",
        "trace_graph",
    )
)


class NothingToErase(ValueError):
    """There is no such conversation or participant; the message names it."""


@dataclass(frozen=True)
class EraseOrder:
    """Who erases, and why."""

    by: str
    reason: str


def find_conversations(participant: str, workspace: str | None = None, channel: str | None = None) -> list[uuid.UUID]:
    """The conversations of a participant, in all workspaces and channels unless one is named."""
    within = {name: value for name, value in (("workspace_id", workspace), ("channel", channel)) if value is not None}
    conversations = CeConversation.objects.filter(remote_jid=participant, **within)
    return list(conversations.order_by("created_at").values_list("pk", flat=True))


def erase_participant(
    participant: str, order: EraseOrder, workspace: str | None = None, channel: str | None = None
) -> Iterator[Counts]:
    """Erase everything of one participant. Raises NothingToErase, and TurnInProgress while a turn of theirs runs."""
    keys = find_conversations(participant, workspace, channel)
    within = {name: value for name, value in (("workspace_id", workspace), ("channel", channel)) if value is not None}
    threads = CeThread.objects.filter(remote_jid=participant, **within)
    if not keys and not threads.exists():
        raise NothingToErase(f"Nothing is stored about {participant!r}.")
    for key in keys:
        declare_erasure(key, order)
        yield {"conversations": 1}
    threads.delete()
    yield from redact_searches(participant, f"[{_ERASED}]")
    for key in keys:
        yield from empty_conversation(key)


def erase_conversation(key: uuid.UUID, order: EraseOrder) -> Iterator[Counts]:
    """Erase everything of one conversation. Raises NothingToErase, and TurnInProgress while a turn runs."""
    declare_erasure(key, order)
    yield {"conversations": 1}
    yield from empty_conversation(key)


def declare_erasure(key: uuid.UUID, order: EraseOrder) -> None:
    """Close a conversation for good, remove its contents, and record the erasure."""
    recover_expired_lease(str(key))
    with transaction.atomic():
        row = CeConversation.objects.select_for_update().filter(pk=key).first()
        if row is None:
            raise NothingToErase(f"The conversation does not exist: {key}.")
        if row.lease_token is not None:
            raise TurnInProgress()
        now = database_time()
        turns = CeConversationHistory.objects.filter(conversation_id=key)
        last_link = CeChainLink.objects.filter(conversation_id=key).aggregate(last=Max("number"))["last"] or 0
        last_turn = turns.aggregate(last=Max("turn_no"))["last"] or 0
        if not _has_contents(row) and not _has_remains(key):
            return
        counts = {"turns": turns.count(), "additions": last_link}
        erasure = CeErasure(
            conversation_id=key,
            created_at=now,
            by=order.by,
            reason=order.reason,
            last_turn_no=last_turn,
            last_link=last_link,
        )
        erasure.counts = counts
        erasure.sign()
        erasure.save()
        version = configuration().latest.config_version
        payload = {"by": order.by, "reason": order.reason, "turnNo": last_turn, **counts}
        links.add_events([links.NewEvent(key, DATA_ERASED, payload)], now, version)
        _empty_conversation_row(row)


def empty_conversation(key: uuid.UUID) -> Iterator[Counts]:
    """Remove what a declared erasure covers, in batches. A repetition does nothing."""
    erasure = _newest_erasure(key)
    if erasure is None:
        return
    if _has_later_additions(erasure):
        declare_erasure(key, EraseOrder(erasure.by, erasure.reason))
        erasure = _newest_erasure(key) or erasure
    while turns := list(_turns_with_contents(key, erasure.last_turn_no)[:TURNS_PER_TRANSACTION]):
        yield _empty_turns(key, turns)
    yield _empty_additions(key, erasure.last_link)


def list_unfinished() -> list[uuid.UUID]:
    """Conversations with an erasure of the last weeks that is not finished."""
    lately = CeErasure.objects.filter(created_at__gt=database_time() - _UNFINISHED_WINDOW)
    keys = lately.order_by("erasure_id").values_list("conversation_id", flat=True)
    return [key for key in dict.fromkeys(keys) if _has_remains(key)]


def finish_erasures() -> Iterator[Counts]:
    """Finish interrupted erasures."""
    for key in list_unfinished():
        yield from empty_conversation(key)


def _has_contents(row: CeConversation) -> bool:
    return (
        any(getattr(row, name) != value for name, value in _EMPTY_CONVERSATION.items())
        or row.lifecycle_detail.get("reason") != _ERASED
    )


def _newest_erasure(key: uuid.UUID) -> CeErasure | None:
    newest: CeErasure | None = CeErasure.objects.filter(conversation_id=key).order_by("-erasure_id").first()
    return newest


def _has_later_additions(erasure: CeErasure) -> bool:
    """True when something was added to the conversation since, which does not belong to that erasure.

    The first addition after it records the erasure.
    """
    later = CeChainLink.objects.filter(
        conversation_id=erasure.conversation_id, number__gt=erasure.last_link + 1
    ).exists()
    return later and _has_remains(erasure.conversation_id)


def _has_remains(key: uuid.UUID) -> bool:
    return _turns_with_contents(key, 2**31 - 1).exists() or _events_to_erase(key).exists()


def _turns_with_contents(key: uuid.UUID, last: int) -> QuerySet[CeConversationHistory]:
    has_contents = Q()
    for name in _EMPTY_TURN:
        has_contents |= Q(**{f"{name}__isnull": False})
    turns = CeConversationHistory.objects.filter(has_contents, conversation_id=key, turn_no__lte=last)
    return turns.order_by("turn_no").only("history_id", "turn_no", "turn_id", "chain")


def _events_to_erase(key: uuid.UUID) -> Any:
    return CeAudit.objects.filter(conversation_id=key).exclude(stage=DATA_ERASED)


def _empty_conversation_row(row: CeConversation) -> None:
    """The conversation without its contents. It can never be opened or compacted again."""
    key = row.pk
    for name, value in _EMPTY_CONVERSATION.items():
        setattr(row, name, value)
    row.lifecycle = Lifecycle.ABORTED.value
    row.lifecycle_detail = {"reason": _ERASED, "by": CLOSED_BY_CALL}
    row.remote_jid = str(key)
    row.version += 1
    row.compacted_version = row.version
    row.save()
    for model in (CeMemory, CeSessionUnit, CePendingActionExecution, CeMcpUserFeedback, CeReplayJob):
        model.objects.filter(conversation_id=key).delete()
    for table in (CeIdempotency, CeTurnTicket):
        table.objects.filter(conversation_id=key).delete()
    CeNotification.objects.filter(conversation_id=str(key)).delete()


def _empty_turns(key: uuid.UUID, turns: Sequence[CeConversationHistory]) -> Counts:
    numbers = [turn.turn_no for turn in turns]
    with transaction.atomic():
        events = CeAudit.objects.filter(conversation_id=key, turn_no__in=numbers).purge()
        calls = CeLlmCallLog.objects.filter(conversation_id=key, turn_no__in=numbers).purge()
        for turn in turns:
            chain = Seal.read(turn.chain).erase().to_bytes() if turn.chain else None
            CeConversationHistory.objects.filter(pk=turn.pk).update(chain=chain, **_EMPTY_TURN)
    return {"turns": len(turns), "events": events, "model calls": calls}


def _empty_additions(key: uuid.UUID, last: int) -> Counts:
    with transaction.atomic():
        events = _events_to_erase(key).purge()
        calls = CeLlmCallLog.objects.filter(conversation_id=key).purge()
        # The additions that record erasures keep their seals, as they keep their events.
        own = [
            number + 1 for number in CeErasure.objects.filter(conversation_id=key).values_list("last_link", flat=True)
        ]
        links = list(CeChainLink.objects.filter(conversation_id=key, number__lte=last).exclude(number__in=own))
        CeChainLink.objects.filter(pk__in=[link.pk for link in links]).purge()
        for link in links:
            link.chain = Seal.read(link.chain).erase().to_bytes()
        CeChainLink.objects.bulk_create(links)
    return {"events": events, "model calls": calls, "additions": len(links)}


JOB = Job(
    "finish_erasing",
    "Complete erasures",
    "Completes erasures that were interrupted.",
    Every(600),
    finish_erasures,
)


def redact_searches(participant: str, replacement: str) -> Iterator[Counts]:
    """Replace the participant in stored searches, including addresses. The accesses stay."""
    in_address = quote_plus(participant)
    entries = list(CeAccessLog.objects.filter(Q(search__icontains=participant) | Q(search__icontains=in_address)))
    maybe = CeSavedSearch.objects.filter(query__icontains=in_address)
    saved = [search.pk for search in maybe if participant in dict(parse_qsl(search.query)).values()]
    with transaction.atomic():
        CeSavedSearch.objects.filter(pk__in=saved).delete()
        CeAccessLog.objects.filter(pk__in=[row.pk for row in entries]).purge()
        for row in entries:
            row.search = replacement
        CeAccessLog.objects.bulk_create(entries)
    if entries or saved:
        yield {"searches": len(entries) + len(saved)}
