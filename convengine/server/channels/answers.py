"""Write the messages that say an answer, in the transaction that stores it."""

import uuid
from collections.abc import Iterator, Mapping
from datetime import datetime
from typing import Any

from django.db import transaction

from convengine.engine.turn.payload import to_spoken_text
from convengine.json_value import Json
from convengine.server.channels.contract import Answer
from convengine.server.channels.models import CeChannel, CeChannelMessage
from convengine.server.channels.providers import find_provider
from convengine.server.channels.send import outbox
from convengine.server.queued.models import CeQueuedMessage
from convengine.server.sessions.models import CeConversation

#: Names that the parts of a person's words have.
_WORDS = uuid.UUID("2f8f0d0a-3c35-4bb3-9c19-b6a6a0d4a1b7")


def send_answer(row: CeQueuedMessage, turn: Mapping[str, Any], now: datetime) -> None:
    """Send the answer to a message of a channel. Needs an open transaction."""
    if not row.thread:
        return
    channel = _find_channel(row.thread["workspace_id"], row.thread["channel"])
    if channel is None:
        return
    payload = turn.get("payload")
    failure = Answer(channel.failure_text)
    answer = Answer(to_spoken_text(payload["value"]), list(_list_options(turn))) if turn["success"] else failure
    _send(channel, row.message_id, str(turn.get("conversationId") or ""), row.thread["remote_jid"], answer, now)


def send_words_of_person(row: CeConversation, turn_id: str, text: str, now: datetime) -> None:
    """Send what a person of the help desk wrote. Needs an open transaction."""
    channel = _find_channel(row.workspace_id, row.channel)
    if channel is not None and text.strip():
        _send(channel, uuid.uuid5(_WORDS, turn_id), str(row.pk), row.remote_jid, Answer(text), now)


def _find_channel(workspace: str, name: str) -> CeChannel | None:
    return CeChannel.objects.filter(workspace_id=workspace, name=name).first()


def _list_options(turn: Mapping[str, Any]) -> Iterator[str]:
    """The labels of what the answer asks: `asked`, `confirm` or `choices` of the state report."""
    report: Mapping[str, Any] = turn.get("stateReport") or {}
    if confirm := report.get("confirm"):
        yield from (confirm["yes"], confirm["no"])
    options: Json = (report.get("asked") or {}).get("options") or report.get("choices") or ()
    yield from (str(option["label"]) for option in options)


def _send(
    channel: CeChannel, source_id: uuid.UUID, conversation_id: str, recipient: str, answer: Answer, now: datetime
) -> None:
    if not answer.text.strip():
        return
    CeChannelMessage.objects.bulk_create(
        (
            CeChannelMessage(
                channel=channel,
                source_id=source_id,
                part=number,
                conversation_id=conversation_id,
                recipient=recipient,
                body=body,
                next_attempt_at=now,
                created_at=now,
            )
            for number, body in enumerate(find_provider(channel).render(answer))
        ),
        ignore_conflicts=True,
    )
    transaction.on_commit(outbox.wake)
