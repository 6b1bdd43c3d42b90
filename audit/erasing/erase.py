"""A person's data taken out of everything that is kept, so that the chain stays whole and says that it was.

First it is declared: in one transaction the conversation is closed for good, loses what it held, and the erasure is
recorded. Then its turns are emptied, some at a time; whoever is killed in between leaves what is declared, and the job
ends it. Of each turn stay number, time, status, intent, state and duration, and the digests of what was sealed; the
salt goes, so that nobody finds out by trying what was said.
"""

import uuid
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import timedelta
from typing import Any

from django.db import transaction
from django.db.models import Max, Q, QuerySet

from audit.chain import links
from audit.erasing.searches import searches_for
from audit.models import (
    CeAudit,
    CeChainLink,
    CeErasure,
    CeLlmCallLog,
    CeMcpUserFeedback,
    CeReplayJob,
)
from convengine import conf
from convengine.domain.chain import Seal
from convengine.domain.enums import Lifecycle
from convengine.domain.job import Counts, Every, Job
from convengine.domain.stages import Stage
from convengine.errors import TurnInProgress
from convengine.executors.models import CeNotification
from convengine.sessions.clock import database_time
from convengine.sessions.ending import BY_CALL
from convengine.sessions.failed import bury
from convengine.sessions.models import (
    CeConversation,
    CeConversationHistory,
    CeIdempotency,
    CeMemory,
    CePendingActionExecution,
    CeSessionUnit,
    CeThread,
    CeTurnTicket,
)

#: Turns that are emptied in one transaction.
TURNS = 100
_ERASED = "erased"
_LATELY = timedelta(days=30)
#: What a conversation holds, by how it looks without.
_EMPTY: dict[str, Any] = {
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
#: What a turn record says, likewise.
_SILENT = dict.fromkeys(
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
    """There is no such conversation or participant; the message says what was looked for."""


@dataclass(frozen=True)
class Who:
    """Who has it erased, and why."""

    by: str
    reason: str


def conversations_of(participant: str, workspace: str | None = None, channel: str | None = None) -> list[uuid.UUID]:
    """The conversations of a participant, in all workspaces and channels unless one is named."""
    within = {name: value for name, value in (("workspace_id", workspace), ("channel", channel)) if value is not None}
    found = CeConversation.objects.filter(remote_jid=participant, **within)
    return list(found.order_by("created_at").values_list("pk", flat=True))


def erase_participant(
    participant: str, who: Who, workspace: str | None = None, channel: str | None = None
) -> Iterator[Counts]:
    """Everything of one participant. Raises NothingToErase, and TurnInProgress while a turn of theirs runs."""
    keys = conversations_of(participant, workspace, channel)
    within = {name: value for name, value in (("workspace_id", workspace), ("channel", channel)) if value is not None}
    threads = CeThread.objects.filter(remote_jid=participant, **within)
    if not keys and not threads.exists():
        raise NothingToErase(f"Nothing is kept of {participant!r}.")
    for key in keys:
        declare(key, who)
        yield {"conversations": 1}
    threads.delete()
    yield from searches_for(participant, f"[{_ERASED}]")
    for key in keys:
        yield from emptied(key)


def erase_conversation(key: uuid.UUID, who: Who) -> Iterator[Counts]:
    """Everything of one conversation. Raises NothingToErase, and TurnInProgress while a turn runs."""
    declare(key, who)
    yield {"conversations": 1}
    yield from emptied(key)


def declare(key: uuid.UUID, who: Who) -> None:
    """Close a conversation for good, take out what it holds, and record that it is erased."""
    bury(str(key))
    with transaction.atomic():
        row = CeConversation.objects.select_for_update().filter(pk=key).first()
        if row is None:
            raise NothingToErase(f"There is no conversation {key}.")
        if row.lease_token is not None:
            raise TurnInProgress()
        now = database_time()
        turns = CeConversationHistory.objects.filter(conversation_id=key)
        last_link = CeChainLink.objects.filter(conversation_id=key).aggregate(last=Max("number"))["last"] or 0
        last_turn = turns.aggregate(last=Max("turn_no"))["last"] or 0
        if not _holds(row) and not _left(key):
            return
        counts = {"turns": turns.count(), "additions": last_link}
        erasure = CeErasure(
            conversation_id=key,
            created_at=now,
            by=who.by,
            reason=who.reason,
            last_turn_no=last_turn,
            last_link=last_link,
        )
        erasure.counts = counts
        erasure.proven()
        erasure.save()
        version = conf.load("SNAPSHOT").latest.config_version
        told = {"by": who.by, "reason": who.reason, "turnNo": last_turn, **counts}
        links.add([links.Told(key, Stage.DATA_ERASED.value, told)], now, version)
        _empty(row)


def emptied(key: uuid.UUID) -> Iterator[Counts]:
    """Take out what a declared erasure covers, some turns at a time. Done again, it does nothing."""
    erasure = _last(key)
    if erasure is None:
        return
    if _went_on(erasure):
        declare(key, Who(erasure.by, erasure.reason))
        erasure = _last(key) or erasure
    while turns := list(_unemptied(key, erasure.last_turn_no)[:TURNS]):
        yield _emptied_turns(key, turns)
    yield _emptied_additions(key, erasure.last_link)


def unfinished() -> list[uuid.UUID]:
    """Conversations that were declared erased in the last weeks and are not empty yet."""
    lately = CeErasure.objects.filter(created_at__gt=database_time() - _LATELY)
    keys = lately.order_by("erasure_id").values_list("conversation_id", flat=True)
    return [key for key in dict.fromkeys(keys) if _left(key)]


def finish() -> Iterator[Counts]:
    """End what somebody began."""
    for key in unfinished():
        yield from emptied(key)


def _holds(row: CeConversation) -> bool:
    return (
        any(getattr(row, name) != value for name, value in _EMPTY.items())
        or row.lifecycle_detail.get("reason") != _ERASED
    )


def _last(key: uuid.UUID) -> CeErasure | None:
    found: CeErasure | None = CeErasure.objects.filter(conversation_id=key).order_by("-erasure_id").first()
    return found


def _went_on(erasure: CeErasure) -> bool:
    """True when something was told of the conversation since, which is no part of that erasure.

    The first addition behind it says that it was erased.
    """
    later = CeChainLink.objects.filter(
        conversation_id=erasure.conversation_id, number__gt=erasure.last_link + 1
    ).exists()
    return later and _left(erasure.conversation_id)


def _left(key: uuid.UUID) -> bool:
    return _unemptied(key, 2**31 - 1).exists() or _outside(key).exists()


def _unemptied(key: uuid.UUID, last: int) -> QuerySet[CeConversationHistory]:
    said = Q()
    for name in _SILENT:
        said |= Q(**{f"{name}__isnull": False})
    found = CeConversationHistory.objects.filter(said, conversation_id=key, turn_no__lte=last)
    return found.order_by("turn_no").only("history_id", "turn_no", "turn_id", "chain")


def _outside(key: uuid.UUID) -> Any:
    return CeAudit.objects.filter(conversation_id=key).exclude(stage=Stage.DATA_ERASED.value)


def _empty(row: CeConversation) -> None:
    """The conversation without what it held. Nobody opens it again, and nothing is compacted of it."""
    key = row.pk
    for name, value in _EMPTY.items():
        setattr(row, name, value)
    row.lifecycle = Lifecycle.ABORTED.value
    row.lifecycle_detail = {"reason": _ERASED, "by": BY_CALL}
    row.remote_jid = str(key)
    row.version += 1
    row.compacted_version = row.version
    row.save()
    for model in (CeMemory, CeSessionUnit, CePendingActionExecution, CeMcpUserFeedback, CeReplayJob):
        model.objects.filter(conversation_id=key).delete()
    for table in (CeIdempotency, CeTurnTicket):
        table.objects.filter(conversation_id=key).delete()
    CeNotification.objects.filter(conversation_id=str(key)).delete()


def _emptied_turns(key: uuid.UUID, turns: Sequence[CeConversationHistory]) -> Counts:
    numbers = [turn.turn_no for turn in turns]
    with transaction.atomic():
        events = CeAudit.objects.filter(conversation_id=key, turn_no__in=numbers).purge()
        calls = CeLlmCallLog.objects.filter(conversation_id=key, turn_no__in=numbers).purge()
        for turn in turns:
            chain = Seal.read(turn.chain).erased().packed() if turn.chain else None
            CeConversationHistory.objects.filter(pk=turn.pk).update(chain=chain, **_SILENT)
    return {"turns": len(turns), "events": events, "model calls": calls}


def _emptied_additions(key: uuid.UUID, last: int) -> Counts:
    with transaction.atomic():
        events = _outside(key).purge()
        calls = CeLlmCallLog.objects.filter(conversation_id=key).purge()
        # The additions that say what was erased keep their seals, as they keep their events.
        own = [one + 1 for one in CeErasure.objects.filter(conversation_id=key).values_list("last_link", flat=True)]
        found = list(CeChainLink.objects.filter(conversation_id=key, number__lte=last).exclude(number__in=own))
        CeChainLink.objects.filter(pk__in=[link.pk for link in found]).purge()
        for link in found:
            link.chain = Seal.read(link.chain).erased().packed()
        CeChainLink.objects.bulk_create(found)
    return {"events": events, "model calls": calls, "additions": len(found)}


JOB = Job(
    "finish_erasing",
    "Finish erasing",
    "Takes out what is left of conversations that were declared erased, where whoever began was interrupted.",
    Every(600),
    finish,
)
