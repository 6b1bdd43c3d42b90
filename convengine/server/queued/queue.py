"""Accept messages whose callers do not wait: each is stored before its caller hears of it, and once."""

import uuid
from collections.abc import Callable, Mapping
from dataclasses import asdict
from datetime import timedelta
from typing import Any

from django.db import IntegrityError, transaction
from django.db.models import QuerySet

from convengine.engine.errors import IdempotencyKeyReused, ServerOverloaded, TurnInProgress, TurnInterrupted
from convengine.engine.redaction import Redaction
from convengine.engine.threads.settings import ON_CONCURRENT_TURN
from convengine.engine.turn import live_settings
from convengine.engine.turn.codec import dumps
from convengine.engine.turn.turn import TurnRequest
from convengine.server.database.sql import database_time
from convengine.server.deployment import conf
from convengine.server.interfaces.configuration import configuration
from convengine.server.jobs.outbox import OutboxStatus, start_anew
from convengine.server.queued.answer import FIXED_ANSWER, outbox, store_failure
from convengine.server.queued.models import CeQueuedMessage
from convengine.server.sessions.models import ENDED, CeConversation
from convengine.server.threads.find_session import Thread
from convengine.server.turns import idempotency, waiting
from convengine.server.turns.answer import StoredAnswer
from convengine.server.turns.idempotency import IdempotencyKey
from convengine.server.turns.interruption import interrupt_running_turn

_ORDERS = uuid.UUID("5d0a3f3e-5a8e-4c0e-9a9e-3d6a1b7c2e44")
#: So many messages of a workspace may wait.
_MOST_WAITING = 10_000


def runs_here() -> bool:
    """False where no jobs run, so that nobody would take the turns."""
    return bool(conf.get("BROKER_URL") or conf.get("JOBS_IN_PROCESS"))


def make_key(owner: object) -> IdempotencyKey:
    """A key for a call that has none, so that its turn happens once."""
    return IdempotencyKey.of(str(owner), f"message {uuid.uuid4()}", None)


def check_body(key: IdempotencyKey | None) -> None:
    """Raises IdempotencyKeyReused if a message with the key was accepted that has another body."""
    if key is not None:
        queued = CeQueuedMessage.objects.filter(message_id=key.call).values_list("body_hash", flat=True).first()
        if queued not in (None, key.body_hash):
            raise IdempotencyKeyReused()


def queue_message(
    request: TurnRequest,
    key: IdempotencyKey,
    opened_by: str,
    thread: Thread | None = None,
    fixed_answer: str | None = None,
    *,
    may_refuse: bool = True,
    pause: timedelta = timedelta(),
) -> CeQueuedMessage | StoredAnswer:
    """Store a message, and have its turn taken. The same call again gets the same message, or its answer.

    The request of a message of a thread names no conversation. A message that failed is tried anew. `fixed_answer`:
    the engine does not read the message, such as a picture; it is recorded with this answer. Without `may_refuse`,
    ON_CONCURRENT_TURN `reject` lets it wait. Its turn begins after the `pause`.

    Raises IdempotencyKeyReused for a key that came with another body, TurnInProgress where another message of the
    conversation is being answered and ON_CONCURRENT_TURN is `reject`, and ServerOverloaded where too many wait.
    """
    if (body := idempotency.find_answer(key)) is not None:
        return StoredAnswer(body)
    if (known := CeQueuedMessage.objects.filter(message_id=key.call).first()) is None:
        try:
            known = _accept(request, key, opened_by, thread, fixed_answer, may_refuse=may_refuse, pause=pause)
        except IntegrityError:
            # The same call came twice at once. It does not interrupt itself.
            known = CeQueuedMessage.objects.get(message_id=key.call)
    if known.body_hash != key.body_hash:
        raise IdempotencyKeyReused()
    if known.status == OutboxStatus.FAILED:
        failed = CeQueuedMessage.objects.filter(pk=known.pk, status=OutboxStatus.FAILED)
        failed.update(**start_anew(), answer=None)
        known.refresh_from_db()
    outbox.wake()
    return known


def _accept(
    request: TurnRequest,
    key: IdempotencyKey,
    opened_by: str,
    thread: Thread | None,
    fixed_answer: str | None,
    *,
    may_refuse: bool,
    pause: timedelta,
) -> CeQueuedMessage:
    """Store a new message. Raises as `queue_message`, and IntegrityError if the same call was faster."""
    pending = CeQueuedMessage.objects.filter(status=OutboxStatus.PENDING)
    if pending.filter(workspace_id=request.workspace_id).order_by("pk")[_MOST_WAITING - 1 : _MOST_WAITING].exists():
        raise ServerOverloaded()
    order_key = _find_order_key(request, thread)
    earlier = pending.filter(order_key=order_key)
    policy = live_settings.read(configuration().current(), ON_CONCURRENT_TURN, request.workspace_id).value
    conversation_id = _find_conversation(request, thread) if policy != "wait" else None
    if (
        may_refuse
        and policy == "reject"
        and (earlier.exists() or (conversation_id is not None and waiting.read_queue(conversation_id).held))
    ):
        raise TurnInProgress()
    begins_at = database_time() + pause
    row = _store_message(request, key, opened_by, thread, order_key, fixed_answer, next_attempt_at=begins_at)
    # What the engine does not read, such as a picture, neither takes the place of a message nor loses its own.
    if policy == "interrupt" and fixed_answer is None:
        _interrupt(row, earlier.filter(pk__lt=row.pk), conversation_id, request.message)
    return row


def join_message(
    request: TurnRequest,
    key: IdempotencyKey,
    thread: Thread,
    fixed_answer: str | None,
    join: Callable[[Mapping[str, Any], Mapping[str, Any]], Mapping[str, Any] | None],
    pause: timedelta,
) -> bool:
    """Let a message become a part of the one before it in its thread, if nobody answers that one yet.

    `join` makes one stored request of two, or returns null. The part is known like any message, and has no answer of
    its own. The turn of both begins after the `pause`. Returns False for a message that stands alone.
    """
    order_key, new = _find_order_key(request, thread), _build_request(request, fixed_answer)
    waiting_here = CeQueuedMessage.objects.filter(order_key=order_key, status=OutboxStatus.PENDING).order_by("-pk")
    while (last := waiting_here.first()) and not last.attempts and (joined := join(last.request, new)) is not None:
        now = database_time()
        unchanged = waiting_here.filter(pk=last.pk, attempts=0, next_attempt_at=last.next_attempt_at)
        answered = {"status": OutboxStatus.SENT, "sent_at": now, "next_attempt_at": now}
        try:
            with transaction.atomic():
                if unchanged.order_by().update(request=joined, next_attempt_at=now + pause):
                    _store_message(request, key, "", thread, order_key, fixed_answer, **answered)
                    return True
        except IntegrityError:
            # It came twice at once.
            return True
    return False


def is_known(thread: Thread) -> bool:
    """Whether a thread has a conversation, or messages that wait for one."""
    names = {"workspace_id": thread.workspace_id, "channel": thread.channel, "remote_jid": thread.remote_jid}
    order_key = uuid.uuid5(_ORDERS, dumps(thread.columns))
    waiting_here = CeQueuedMessage.objects.filter(order_key=order_key, status=OutboxStatus.PENDING)
    return CeConversation.objects.filter(**names).exists() or waiting_here.exists()


def _find_order_key(request: TurnRequest, thread: Thread | None) -> uuid.UUID:
    """What the messages have in common that are answered one after the other."""
    columns = thread.columns if thread else [request.workspace_id, request.conversation_id]
    return uuid.uuid5(_ORDERS, dumps(columns))


def _find_conversation(request: TurnRequest, thread: Thread | None) -> str | None:
    """The conversation of a message in its workspace. Returns None before its first turn."""
    rows = CeConversation.objects.filter(workspace_id=request.workspace_id)
    if thread:
        rows = rows.filter(channel=thread.channel, remote_jid=thread.remote_jid).exclude(lifecycle__in=ENDED)
    else:
        rows = rows.filter(pk=request.conversation_id)
    key = rows.values_list("pk", flat=True).first()
    return str(key) if key else None


def _interrupt(
    row: CeQueuedMessage, earlier: QuerySet[CeQueuedMessage], conversation_id: str | None, message: str | None
) -> None:
    """Let a newer message take the place of those that wait, and interrupt the running turn."""
    for waits in earlier.filter(attempts=0).exclude(request__has_key=FIXED_ANSWER):
        store_failure(waits, TurnInterrupted())
    if conversation_id is not None:
        masked = Redaction.of(configuration().latest).text(message) if message else message
        interrupt_running_turn(conversation_id, str(row.message_id), masked)


def _store_message(
    request: TurnRequest,
    key: IdempotencyKey,
    opened_by: str,
    thread: Thread | None,
    order_key: uuid.UUID,
    fixed_answer: str | None,
    **delivery: Any,
) -> CeQueuedMessage:
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
            request=_build_request(request, fixed_answer),
            created_at=database_time(),
            **delivery,
        )


def _build_request(request: TurnRequest, fixed_answer: str | None) -> dict[str, Any]:
    return {**asdict(request), **({} if fixed_answer is None else {FIXED_ANSWER: fixed_answer})}
