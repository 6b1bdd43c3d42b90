"""Take the turns of messages whose callers do not wait: in order within a conversation, each once.

A message is stored before its caller hears of it. Its turn has an idempotency key, so that it is taken once, however
often a process dies meanwhile. The answer and its webhook event are stored in one transaction.
"""

import uuid
from collections.abc import Iterator
from dataclasses import asdict
from datetime import timedelta
from functools import partial
from typing import Any

from django.db import IntegrityError, transaction
from django.db.models import Exists, OuterRef, Q, QuerySet

from convengine.engine.errors import (
    ConvEngineError,
    IdempotencyKeyReused,
    TurnConflict,
    TurnInProgress,
    TurnInterrupted,
)
from convengine.engine.threads.settings import ON_CONCURRENT_TURN
from convengine.engine.tools.fault import ToolFault
from convengine.engine.turn import live_settings
from convengine.engine.turn.codec import dumps
from convengine.engine.turn.job import Counts, Every, Job
from convengine.engine.turn.turn import TurnRequest
from convengine.server.database.release import release_connections
from convengine.server.database.sql import database_time
from convengine.server.deployment import conf
from convengine.server.interfaces.configuration import configuration
from convengine.server.jobs.outbox import Outbox, OutboxStatus
from convengine.server.outgoing.loop import run_in_thread
from convengine.server.queued.models import CeQueuedMessage
from convengine.server.threads.find_session import Thread
from convengine.server.threads.take_message import take_message
from convengine.server.turns import idempotency, waiting
from convengine.server.turns.answer import StoredAnswer
from convengine.server.turns.idempotency import IdempotencyKey
from convengine.server.turns.take_turn import take_turn
from convengine.server.webhooks.write import store_answer_event

#: Turns that one process takes at once for each workspace.
_AT_ONCE = 16
#: Seconds of a turn that is taken here: longer than a turn may take, with the wait for the one before.
_SECONDS = 180
#: After this, the message of a process that died is taken by another one, as after a lease.
_CLAIM = timedelta(seconds=15)
#: A newer message took the place of this one.
_OVERTAKEN = (TurnInterrupted, TurnConflict)
_THREADS = uuid.UUID("5d0a3f3e-5a8e-4c0e-9a9e-3d6a1b7c2e44")
#: Rows that are removed at once.
_ROWS = 500


def runs_here() -> bool:
    """False where no jobs run, so that nobody would take the turns."""
    return bool(conf.get("BROKER_URL") or conf.get("JOBS_IN_PROCESS"))


def make_key(owner: object) -> IdempotencyKey:
    """A key for a call that has none, so that its turn happens once."""
    return IdempotencyKey.of(str(owner), f"message {uuid.uuid4()}", None)


def queue_message(
    request: TurnRequest, key: IdempotencyKey, opened_by: str, thread: Thread | None = None
) -> CeQueuedMessage | StoredAnswer:
    """Store a message, and have its turn taken. The same call again gets the same message, or its answer.

    The request of a message of a thread names no conversation.

    Raises IdempotencyKeyReused for a key that came with another body, and TurnInProgress where another message of the
    conversation is being answered and ON_CONCURRENT_TURN is `reject`.
    """
    if (body := idempotency.find_answer(key)) is not None:
        return StoredAnswer(body)
    if (known := CeQueuedMessage.objects.filter(message_id=key.call).first()) is None:
        policy = live_settings.read(configuration().current(), ON_CONCURRENT_TURN, request.workspace_id).value
        order_key = _find_order_key(request, thread)
        if policy == "reject" and _is_busy(order_key, request.conversation_id):
            raise TurnInProgress()
        known = _store_message(request, key, opened_by, thread, order_key, may_overtake=policy == "interrupt")
    if known.body_hash != key.body_hash:
        raise IdempotencyKeyReused()
    outbox.wake()
    return known


def _find_order_key(request: TurnRequest, thread: Thread | None) -> uuid.UUID:
    """What the messages have in common that are answered one after the other."""
    return uuid.uuid5(_THREADS, dumps(thread.columns)) if thread else uuid.UUID(request.conversation_id)


def _is_busy(order_key: uuid.UUID, conversation_id: str) -> bool:
    queued = CeQueuedMessage.objects.filter(order_key=order_key, status=OutboxStatus.PENDING)
    return queued.exists() or bool(conversation_id and waiting.read_queue(conversation_id).held)


def _store_message(
    request: TurnRequest,
    key: IdempotencyKey,
    opened_by: str,
    thread: Thread | None,
    order_key: uuid.UUID,
    *,
    may_overtake: bool,
) -> CeQueuedMessage:
    now = database_time()
    try:
        with transaction.atomic():
            return CeQueuedMessage.objects.create(
                message_id=key.call,
                owner=key.owner,
                key=key.key,
                body_hash=key.body_hash,
                opened_by=opened_by,
                workspace_id=request.workspace_id,
                conversation_id=request.conversation_id or None,
                thread=asdict(thread) if thread else None,
                order_key=order_key,
                request=asdict(request),
                may_overtake=may_overtake,
                next_attempt_at=now,
                created_at=now,
            )
    except IntegrityError:
        # The same call came twice at once.
        return CeQueuedMessage.objects.get(message_id=key.call)


def select_next() -> QuerySet[CeQueuedMessage]:
    """The oldest waiting message of each conversation, and those that may interrupt the one before."""
    pending = CeQueuedMessage.objects.filter(status=OutboxStatus.PENDING)
    earlier = pending.filter(order_key=OuterRef("order_key"), pk__lt=OuterRef("pk"))
    may_begin = Q(may_overtake=True) & ~Exists(earlier.filter(attempts=0))
    return pending.filter(may_begin | ~Exists(earlier))


async def _answer(row: CeQueuedMessage) -> None:
    await run_in_thread(partial(answer_message, row))


def answer_message(row: CeQueuedMessage) -> None:
    """Take the turn of a message, and store its answer. Raises ToolFault if it is worth trying again."""
    key = IdempotencyKey(row.owner, row.key, row.body_hash)
    request = TurnRequest(**{**row.request, "ignored_params": tuple(row.request["ignored_params"])})
    try:
        if row.thread:
            answer = take_message(Thread(**row.thread), request, key)
        else:
            answer = take_turn(request, key, opened_by=row.opened_by)
        _store_answer(row, answer.body, OutboxStatus.SENT)
    except ConvEngineError as error:
        is_passing = error.recoverable and not isinstance(error, _OVERTAKEN)
        if is_passing and row.attempts + 1 < row.most_attempts:
            raise ToolFault(error.code, error.message) from error
        _store_answer(row, describe_error(row, error), OutboxStatus.FAILED)
    finally:
        release_connections()


def describe_error(row: CeQueuedMessage, error: ConvEngineError) -> dict[str, Any]:
    """The answer to a message that has no turn."""
    return {
        "success": False,
        "conversationId": str(row.conversation_id) if row.conversation_id else None,
        "intent": "ERROR",
        "state": "ERROR",
        "payload": None,
        "context": None,
        "errorCode": error.code,
        "recoverable": error.recoverable,
        "message": error.message,
    }


def _store_answer(row: CeQueuedMessage, answer: dict[str, Any], status: OutboxStatus) -> None:
    # The answer to a message of a thread has its turn in it.
    now, turn = database_time(), answer.get("turn") or answer
    values = {"conversation_id": turn["conversationId"]} if turn["conversationId"] else {}
    with transaction.atomic():
        unanswered = CeQueuedMessage.objects.filter(pk=row.pk, status=OutboxStatus.PENDING)
        if unanswered.update(status=status, answer=answer, sent_at=now, error=turn.get("message") or "", **values):
            store_answer_event(str(row.message_id), turn, now)


outbox = Outbox(
    select_next,
    _answer,
    "workspace_id",
    lambda workspace: _AT_ONCE,
    handed_as="queued_messages",
    seconds=_SECONDS,
    claim=_CLAIM,
)
wake_here = outbox.wake_here


def _work() -> Iterator[Counts]:
    """Take the turns that are due, and remove answers that were there for as long as stored answers are."""
    yield from outbox.send_due()
    before = database_time() - timedelta(hours=conf.get("IDEMPOTENCY_HOURS"))
    old = CeQueuedMessage.objects.filter(created_at__lt=before).exclude(status=OutboxStatus.PENDING).order_by("pk")
    while keys := list(old.values_list("pk", flat=True)[:_ROWS]):
        CeQueuedMessage.objects.filter(pk__in=keys).delete()
        yield {"removed": len(keys)}


JOB = Job(
    "answer_messages",
    "Answer queued messages",
    "Takes the turns of messages whose callers do not wait, and removes their old answers.",
    Every(10),
    _work,
    waits_outside=True,
)
