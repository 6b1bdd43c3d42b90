"""Take the turns of queued messages: in order within a conversation, each once.

The turn of a message has an idempotency key, so that it is taken once, however often a process dies meanwhile. The
answer and its webhook event are stored in one transaction.
"""

import threading
from collections.abc import Iterator, Mapping
from datetime import timedelta
from functools import partial
from types import MappingProxyType
from typing import Any

import structlog
from django.db import transaction
from django.db.models import Exists, OuterRef, QuerySet

from convengine.engine.errors import ConvEngineError, MessageAbandoned, TurnInterrupted
from convengine.engine.pipeline.engine import InternalError
from convengine.engine.tools.fault import ToolFault
from convengine.engine.turn.job import Counts, Every, Job, Retention
from convengine.engine.turn.turn import TurnRequest
from convengine.server.database.sql import database_time, release_connections, remove_in_batches
from convengine.server.deployment import conf
from convengine.server.jobs.outbox import Outbox, OutboxStatus
from convengine.server.outgoing.loop import run_in_thread
from convengine.server.queued.models import CeQueuedMessage, answer_listeners
from convengine.server.threads.find_session import Thread
from convengine.server.threads.take_message import record_message, take_message
from convengine.server.turns.answer import TurnAnswer
from convengine.server.turns.failure import error_body
from convengine.server.turns.idempotency import IdempotencyKey
from convengine.server.turns.take_turn import take_turn
from convengine.server.webhooks.write import store_answer_event

log = structlog.get_logger(__name__)
#: Turns that this process takes at once: few, because they share its connections with turns that somebody waits for.
_AT_ONCE = 8
_places = threading.BoundedSemaphore(_AT_ONCE)
#: After this, the message of a process that died is taken by another one, as after a lease.
_CLAIM = timedelta(seconds=15)
#: In a stored request: the answer to a message that the engine does not read.
FIXED_ANSWER = "fixed_answer"


def select_next() -> QuerySet[CeQueuedMessage]:
    """The oldest waiting message of each conversation."""
    pending = CeQueuedMessage.objects.filter(status=OutboxStatus.PENDING)
    earlier = pending.filter(order_key=OuterRef("order_key"), pk__lt=OuterRef("pk"))
    return pending.filter(~Exists(earlier))


async def _answer(row: CeQueuedMessage) -> None:
    await run_in_thread(partial(answer_message, row))


def answer_message(row: CeQueuedMessage) -> None:
    """Take the turn of a message, and store its answer. Raises ToolFault if it is worth trying again."""
    with _places:
        try:
            body, error = _take_turn(row)
            if error is None:
                _store_answer(row, body, OutboxStatus.SENT)
            elif _may_pass(row, error):
                raise ToolFault(error.code, error.message)
            else:
                store_failure(row, error, body)
        finally:
            release_connections()


def _take_turn(row: CeQueuedMessage) -> tuple[dict[str, Any], ConvEngineError | None]:
    """The answer as its call would have given it, and the error of a turn that failed, which may have no answer."""
    key = IdempotencyKey(row.owner, row.key, row.body_hash)
    try:
        stored = dict(row.request)
        fixed = stored.pop(FIXED_ANSWER, None)
        request = TurnRequest(**{**stored, "ignored_params": tuple(stored["ignored_params"])})
        thread = Thread(**row.thread) if row.thread else None
        if thread and fixed is not None:
            return record_message(thread, request.message or "", fixed, key), None
        answer = take_message(thread, request, key) if thread else take_turn(request, key, opened_by=row.opened_by)
    except ConvEngineError as error:
        return {}, error
    except Exception as error:
        log.error("queued message failed", message_id=str(row.message_id), exc_info=error)
        return {}, InternalError()
    return answer.body, answer.error if isinstance(answer, TurnAnswer) else None


def _may_pass(row: CeQueuedMessage, error: ConvEngineError) -> bool:
    """True for an error that another attempt may not have. After an interruption, a newer message has the answer."""
    is_passing = error.recoverable or isinstance(error, InternalError)
    return is_passing and not isinstance(error, TurnInterrupted) and row.attempts + 1 < row.most_attempts


def store_failure(row: CeQueuedMessage, error: ConvEngineError, body: Mapping[str, Any] = MappingProxyType({})) -> None:
    """End a message with its error. `body`: the answer of the failed turn, if there was one."""
    conversation_id = str(row.conversation_id) if row.conversation_id else None
    _store_answer(row, {**error_body(error, conversation_id), **body}, OutboxStatus.FAILED)


def _store_answer(row: CeQueuedMessage, answer: dict[str, Any], status: OutboxStatus) -> None:
    # The answer to a message of a thread has its turn in it.
    now, turn = database_time(), answer.get("turn") or answer
    values: dict[str, Any] = {"conversation_id": turn["conversationId"]} if turn["conversationId"] else {}
    values |= {"status": status, "answer": answer, "sent_at": now, "error": turn.get("message") or ""}
    with transaction.atomic():
        unanswered = CeQueuedMessage.objects.filter(pk=row.pk, answer__isnull=True)
        if unanswered.update(**values, deaths=row.deaths):
            store_answer_event(str(row.message_id), row.workspace_id, row.thread, turn, now)
            for listen in answer_listeners:
                listen(row, turn, now)


outbox = Outbox(
    select_next,
    _answer,
    "workspace_id",
    lambda workspace: _AT_ONCE,
    lambda row, fault: store_failure(row, MessageAbandoned(fault.message)),
    handed_as="queued_messages",
    # A turn ends by itself; this is longer, with the wait for the turn before.
    seconds=lambda: conf.get("TURN_TIMEOUT_SECONDS") + 120,
    claim=_CLAIM,
)


def answer_due() -> None:
    """Answer what is due, and wait for it: a worker that is to end first ends this."""
    for _ in outbox.send_due():
        pass


def _work() -> Iterator[Counts]:
    """Remove answers that were there for as long as stored answers are, and take the turns that are due."""
    before = database_time() - timedelta(hours=conf.get("IDEMPOTENCY_HOURS"))
    old = CeQueuedMessage.objects.filter(sent_at__lt=before).exclude(status=OutboxStatus.PENDING).order_by("pk")
    yield from remove_in_batches(old, "removed")
    yield from outbox.send_due()


JOB = Job(
    "answer_messages",
    "Answer queued messages",
    "Takes the turns of messages whose callers do not wait, and removes their old answers.",
    Every(10),
    _work,
    waits_outside=True,
    removes=[Retention(["ce_queued.CeQueuedMessage"], "IDEMPOTENCY_HOURS")],
)
