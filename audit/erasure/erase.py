"""Erase a person's data from everything stored, so that the chain stays valid and shows the erasure.

First the erasure is declared: in one transaction the conversation is closed for good, its contents are removed, and the
erasure is recorded. Then its turns are emptied in batches; if that is interrupted, the job continues. Each turn keeps
number, time, status, intent, state and duration, and its seal. The salts of what was removed go, so that nobody can
guess the words.
"""

import json
import uuid
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import timedelta
from itertools import chain
from typing import Any

from django.db import transaction
from django.db.models import Max, Q, QuerySet

from audit import seal
from audit.erasure.searches import erase_searches, note_searches_with
from audit.erasure.telling_words import list_quotable_texts, list_telling_words
from audit.models import (
    CeErasure,
    CeInboxGroup,
    CeMcpUserFeedback,
    CeReplayJob,
    CeRunningEvent,
    CeWhatIfTurn,
)
from audit.record import removals
from audit.record.retention import cut_row
from audit.record.sql_views import has_in_document
from audit.record.turn_log import add_outside
from convengine.engine.errors import TurnInProgress
from convengine.engine.pipeline.stages import DATA_ERASED
from convengine.engine.turn.enums import Lifecycle
from convengine.engine.turn.job import Counts, Every, Job
from convengine.server.admin_site.record_columns import answer_text
from convengine.server.channels.models import CeChannelMessage, CeOptOut
from convengine.server.database.sql import database_time
from convengine.server.database.unreadable import read_rows
from convengine.server.executors.models import CeNotification
from convengine.server.interfaces.configuration import configuration
from convengine.server.interfaces.stored_tests import stored_tests
from convengine.server.queued.models import CeQueuedMessage
from convengine.server.sessions.models import (
    CLOSED_BY_CALL,
    ERASED,
    CeConversation,
    CeConversationHistory,
    CeExtensionFault,
    CeIdempotency,
    CeMemory,
    CePendingActionExecution,
    CeSessionUnit,
    CeThread,
    CeTurnTicket,
)
from convengine.server.turns.dead_turns import recover_expired_lease
from convengine.server.webhooks.models import CeWebhookDelivery

#: Turns per transaction.
TURNS_PER_TRANSACTION = 100
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
#: The contents of a turn record, with their empty values.
_EMPTY_TURN = dict.fromkeys(
    (
        "user_input",
        "assistant_output",
        "facts",
        "recording",
        "events",
        "error_message",
        "replay_note",
        "request_id",
    )
)


class NothingToErase(ValueError):
    """There is no such conversation or participant; the message names it."""


@dataclass(frozen=True)
class EraseOrder:
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
    """Erase everything of one participant, in all workspaces and channels unless one is named.

    An opt-out goes, too: without a conversation, nothing is sent to the participant, who must write first.
    Raises NothingToErase, and TurnInProgress while a turn of theirs runs; the conversations before it are declared
    already.
    """
    keys = find_conversations(participant, workspace, channel)
    rows = _select_rows_of(participant, workspace, channel)
    if not keys and not any(each.exists() for each in rows):
        raise NothingToErase(f"Nothing is stored about {participant!r}.")
    for key in keys:
        yield declare_erasure(key, order)
    with transaction.atomic():
        _note_rows(rows[:1], order)
        for each in rows:
            each.delete()
    CeInboxGroup.forget_name(participant)
    yield from erase_searches(participant, order.by, order.reason)
    yield from _list_tests_about([json.dumps(participant)[1:-1]], order)
    for key in keys:
        yield from empty_conversation(key)


def _select_rows_of(participant: str, workspace: str | None, channel: str | None) -> list[QuerySet[Any]]:
    """What is stored of a participant beside conversations. The first, threads, has proofs."""
    within = {name: value for name, value in (("workspace_id", workspace), ("channel", channel)) if value is not None}
    # Before it is answered, a message of a thread has no conversation.
    of_thread = {f"thread__{name}": value for name, value in within.items()}
    of_channel = {f"channel__{'name' if name == 'channel' else name}": value for name, value in within.items()}
    return [
        CeThread.objects.filter(remote_jid=participant, **within),
        CeQueuedMessage.objects.filter(thread__remote_jid=participant, **of_thread),
        CeChannelMessage.objects.filter(recipient=participant, **of_channel),
        CeOptOut.objects.filter(recipient=participant, **of_channel),
    ]


def erase_conversation(key: uuid.UUID, order: EraseOrder) -> Iterator[Counts]:
    """Erase everything of one conversation. Raises NothingToErase, and TurnInProgress while a turn runs."""
    yield declare_erasure(key, order)
    yield from empty_conversation(key)


def declare_erasure(key: uuid.UUID, order: EraseOrder) -> Counts:
    """Close a conversation for good, remove its contents, erase the tests made of it, and record the erasure.

    The tests of a conversation that retention removed are erased all the same. What is erased already is not declared
    again. Raises NothingToErase if there is neither the conversation nor a test, and TurnInProgress while a turn runs.
    """
    recover_expired_lease(str(key))
    with transaction.atomic():
        row = CeConversation.objects.select_for_update().filter(pk=key).first()
        if row and row.lease_token is not None:
            raise TurnInProgress()
        tests = stored_tests().erase_tests(key, order.by)
        if row is None and not tests:
            raise NothingToErase(f"The conversation does not exist: {key}.")
        if tests:
            removals.note_removal(removals.Kind.ERASURE, "ce_test_case", tests, order.by, order.reason)
        done = {"conversations": 1, **({"tests": len(tests)} if tests else {})}
        if row is None:
            return done
        now = database_time()
        turns = CeConversationHistory.objects.filter(conversation_id=key)
        additions = CeConversationHistory.additions.filter(conversation_id=key)
        last_addition = additions.aggregate(last=Max("history_id"))["last"] or 0
        last_turn = turns.aggregate(last=Max("turn_no"))["last"] or 0
        if not _has_contents(row) and not _has_remains(key):
            return done
        counts = {"turns": turns.count(), "additions": additions.count(), "tests": len(tests)}
        erasure = CeErasure(
            conversation_id=key,
            created_at=now,
            by=order.by,
            reason=order.reason,
            last_turn_no=last_turn,
            last_addition=last_addition,
        )
        erasure.counts = counts
        erasure.sign()
        erasure.save()
        version = configuration().latest.config_version
        payload = {"by": order.by, "reason": order.reason, "turnNo": last_turn, **counts}
        add_outside([(str(key), DATA_ERASED, payload)], now, version)
        removals.remove_entries(CeMcpUserFeedback, [key], removals.Kind.ERASURE, order.by, order.reason)
        removals.note_removal(removals.Kind.ERASURE, "ce_conversation", [key], order.by, order.reason)
        runs = CePendingActionExecution.objects.filter(conversation_id=key)
        answers = CeIdempotency.objects.filter(conversation_id=key)
        deliveries = CeWebhookDelivery.objects.filter(conversation_id=str(key))
        _note_rows([runs, answers, deliveries], order)
        _empty_conversation_row(row)
    return done


def _note_rows(removed: Sequence[QuerySet[Any]], order: EraseOrder) -> None:
    """Record rows with proofs that are about to be removed."""
    for rows in removed:
        if keys := list(rows.values_list("pk", flat=True)):
            table = rows.model._meta.db_table
            removals.note_removal(removals.Kind.ERASURE, table, keys, order.by, order.reason, erased=keys)


def empty_conversation(key: uuid.UUID) -> Iterator[Counts]:
    """Remove what the newest declared erasure covers, in batches. Nothing happens if none is declared.

    Something that was added to the conversation since is declared first. A repetition removes nothing more.
    """
    erasure = _newest_erasure(key)
    if erasure is None:
        return
    later = CeConversationHistory.additions.filter(conversation_id=key, history_id__gt=erasure.last_addition)
    # The first addition after an erasure records it.
    if len(later.values_list("pk")[:2]) > 1 and _has_remains(key):
        declare_erasure(key, EraseOrder(erasure.by, erasure.reason))
        erasure = _newest_erasure(key) or erasure
    order = EraseOrder(erasure.by, erasure.reason)
    pairs = _turns_with_contents(key, erasure.last_turn_no).values_list("user_input", "assistant_output")
    texts = ((text or "", answer_text(answer)) for text, answer in pairs.iterator(chunk_size=TURNS_PER_TRANSACTION))
    telling_words = list_telling_words(chain.from_iterable(texts), configuration().current())
    yield from note_searches_with(telling_words, order.by, order.reason)
    while turns := read_rows(_turns_with_contents(key, erasure.last_turn_no)[:TURNS_PER_TRANSACTION]):
        quotable = list_quotable_texts(turns)
        with transaction.atomic():
            _empty_rows(turns)
            CeInboxGroup.forget_turns([turn.pk for turn in turns])
            CeRunningEvent.objects.filter(conversation_id=key).delete()
        yield {"turns": len(turns)}
        yield from _list_tests_about(quotable, order)
    with transaction.atomic():
        additions = read_rows(_additions_to_erase(key).filter(history_id__lte=erasure.last_addition))
        _empty_rows(additions)
    yield {"additions": len(additions)}


def _list_tests_about(texts: Sequence[str], order: EraseOrder) -> Iterator[Counts]:
    """Record the tests that have one of these texts, as JSON has them, for a person to decide."""
    if tests := stored_tests().find_tests_with(texts):
        removals.note_undecided({"ce_test_case": tests}, order.by, order.reason)
        yield {"undecided": len(tests)}


def list_unfinished() -> list[uuid.UUID]:
    """Conversations with an erasure of the last 30 days that is not finished, in the order of the erasures."""
    lately = CeErasure.objects.filter(created_at__gt=database_time() - _UNFINISHED_WINDOW)
    keys = lately.order_by("erasure_id").values_list("conversation_id", flat=True)
    return [key for key in dict.fromkeys(keys) if _has_remains(key)]


def finish_erasures() -> Iterator[Counts]:
    for key in list_unfinished():
        yield from empty_conversation(key)


def _has_contents(row: CeConversation) -> bool:
    """True if a conversation's row has a content, or is not marked as erased."""
    return any(getattr(row, name) != value for name, value in _EMPTY_CONVERSATION.items()) or not row.is_erased


def _newest_erasure(key: uuid.UUID) -> CeErasure | None:
    newest: CeErasure | None = CeErasure.objects.filter(conversation_id=key).order_by("-erasure_id").first()
    return newest


def _has_remains(key: uuid.UUID) -> bool:
    """True if a turn or an addition of a conversation still has contents to erase."""
    return _turns_with_contents(key, 2**31 - 1).exists() or _additions_to_erase(key).exists()


def _turns_with_contents(key: uuid.UUID, last: int) -> QuerySet[CeConversationHistory]:
    """The turns up to `last` in which any content is left, with all their columns, in order."""
    has_contents = Q()
    for name in _EMPTY_TURN:
        has_contents |= Q(**{f"{name}__isnull": False})
    turns = CeConversationHistory.objects.filter(has_contents, conversation_id=key, turn_no__lte=last)
    return turns.defer(None).order_by("turn_no")


def _additions_to_erase(key: uuid.UUID) -> QuerySet[CeConversationHistory]:
    """The additions with contents, except for those that record erasures."""
    additions = CeConversationHistory.additions.filter(conversation_id=key, events__isnull=False)
    return additions.exclude(has_in_document(f'"stage":"{DATA_ERASED}"'))


def _empty_conversation_row(row: CeConversation) -> None:
    """Empty a conversation's row, and delete the rows of other tables that an erasure removes at once.

    It can never be opened or compacted again.
    """
    key = row.pk
    for name, value in _EMPTY_CONVERSATION.items():
        setattr(row, name, value)
    row.lifecycle = Lifecycle.ABORTED.value
    row.lifecycle_detail = {"reason": ERASED, "by": CLOSED_BY_CALL}
    row.change(remote_jid=str(key))
    row.version += 1
    row.compacted_version = row.version
    row.save()
    for model in (CeMemory, CeSessionUnit, CePendingActionExecution, CeReplayJob, CeWhatIfTurn, CeExtensionFault):
        model.objects.filter(conversation_id=key).delete()
    for table in (CeIdempotency, CeTurnTicket, CeQueuedMessage):
        table.objects.filter(conversation_id=key).delete()
    for sent in (CeNotification, CeWebhookDelivery, CeChannelMessage):
        sent.objects.filter(conversation_id=str(key)).delete()


def _empty_rows(rows: Sequence[CeConversationHistory]) -> None:
    for row in rows:
        cut_row(row, _EMPTY_TURN, seal.ERASED)


JOB = Job(
    "finish_erasing",
    "Complete erasures",
    "Completes erasures that were interrupted.",
    Every(600),
    finish_erasures,
)
