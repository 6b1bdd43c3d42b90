"""Write the messages that say an answer, in the transaction that stores it."""

import uuid
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from django.db import transaction

from convengine.engine.errors import TurnInterrupted
from convengine.engine.turn.payload import to_spoken_text
from convengine.json_value import Json
from convengine.server.channels.contract import Answer
from convengine.server.channels.models import CeChannel, CeChannelMessage
from convengine.server.channels.opt_out import OPTED_OUT, is_opt_out, may_send
from convengine.server.channels.providers import find_provider
from convengine.server.channels.send import outbox
from convengine.server.database.sql import database_time
from convengine.server.queued.models import CeQueuedMessage
from convengine.server.sessions.models import CeConversation

#: Names that the parts of a person's words have.
_WORDS = uuid.UUID("2f8f0d0a-3c35-4bb3-9c19-b6a6a0d4a1b7")


@dataclass(frozen=True)
class _Source:
    """What an answer belongs to, and whom it goes to."""

    channel: CeChannel
    id: uuid.UUID
    recipient: str
    conversation_id: str | None = None
    turn_id: str | None = None


def send_answer(row: CeQueuedMessage, turn: Mapping[str, Any], now: datetime) -> None:
    """Send the answer to a message of a channel. Needs an open transaction."""
    # Its channel may have another name by now, and a call may write to a conversation of a channel.
    kind, _, pk = row.owner.partition(" ")
    channel = CeChannel.objects.filter(pk=pk).first() if kind == "channel" else None
    if channel is None or turn.get("errorCode") == TurnInterrupted.code:
        # The answer to the newer message is sent.
        return
    source = _Source(channel, row.message_id, row.thread["remote_jid"], turn.get("conversationId"), turn.get("turnId"))
    answer = read_answer(turn) if turn["success"] else Answer(channel.failure_text)
    _send(source, answer, now, is_last=is_opt_out(channel, row.request.get("message") or ""))


def send_words_of_person(row: CeConversation, turn_id: str, text: str, now: datetime) -> None:
    """Send what a person of the help desk wrote. Needs an open transaction."""
    channel = CeChannel.objects.filter(workspace_id=row.workspace_id, name=row.channel).first()
    if channel is not None:
        source = _Source(channel, uuid.uuid5(_WORDS, turn_id), row.remote_jid, str(row.pk), turn_id)
        _send(source, Answer(text), now)


def send_test(channel: CeChannel, recipient: str, text: str) -> CeChannelMessage:
    """Send a text that belongs to no conversation."""
    source = _Source(channel, uuid.uuid4(), recipient)
    with transaction.atomic():
        _send(source, Answer(text), database_time())
    return CeChannelMessage.objects.get(source_id=source.id, part=0)


def read_answer(turn: Mapping[str, Any]) -> Answer:
    """What the answer of a turn says, and the options that it asks for."""
    payload = turn.get("payload")
    return Answer(to_spoken_text(payload["value"]) if payload else "", list(_list_options(turn)))


def _list_options(turn: Mapping[str, Any]) -> Iterator[str]:
    """The labels of what the answer asks: `asked`, `confirm` or `choices` of the state report."""
    report: Mapping[str, Any] = turn.get("stateReport") or {}
    if confirm := report.get("confirm"):
        yield from (str(confirm[answer]).capitalize() for answer in ("yes", "no"))
    options: Json = (report.get("asked") or {}).get("options") or report.get("choices") or ()
    yield from (str(option["label"]) for option in options)


def _send(source: _Source, answer: Answer, now: datetime, *, is_last: bool = False) -> None:
    """Store the messages of an answer. What goes to a user who opted out is stored as not sent, but for the last."""
    if not answer.text.strip():
        return
    refused = {} if is_last or may_send(source.channel, source.recipient) else OPTED_OUT
    provider = find_provider(source.channel)
    texts = provider.arrange(answer).texts
    CeChannelMessage.objects.bulk_create(
        (
            CeChannelMessage(
                channel=source.channel,
                source_id=source.id,
                part=number,
                conversation_id=source.conversation_id or "",
                turn_id=source.turn_id,
                text=text,
                recipient=source.recipient,
                body=body,
                next_attempt_at=now,
                created_at=now,
                **refused,
            )
            for number, (text, body) in enumerate(zip(texts, provider.render(answer), strict=True))
        ),
        ignore_conflicts=True,
    )
    transaction.on_commit(outbox.wake)
