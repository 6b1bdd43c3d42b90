"""Everybody who has an outbox: how a row is made, and the rows that wait for it."""

import uuid
from collections.abc import Callable
from dataclasses import asdict, dataclass
from datetime import datetime
from typing import Any

from audit.alerts import messages as alerts
from audit.models import CeAlert, CeAlertMessage
from convengine.engine.turn.turn import TurnRequest
from convengine.server.channels import send as channels
from convengine.server.channels.models import CeChannel, CeChannelMessage
from convengine.server.jobs.outbox import Outbox, OutboxRow
from convengine.server.queued import answer as queued
from convengine.server.queued.models import CeQueuedMessage
from convengine.server.webhooks import send as webhooks
from convengine.server.webhooks.models import CeWebhook, CeWebhookDelivery
from convengine.server.webhooks.send import create_secret


@dataclass(frozen=True)
class User:
    """Who has an outbox. `create` makes a row with a text; rows of one person are sent in their order."""

    name: str
    outbox: Outbox[Any]
    create: Callable[[str, str, datetime], OutboxRow]


def create_queued(text: str, person: str, now: datetime) -> CeQueuedMessage:
    key = str(uuid.uuid5(uuid.NAMESPACE_OID, person))
    return CeQueuedMessage.objects.create(
        message_id=uuid.uuid4(),
        owner="1",
        key=str(uuid.uuid4()),
        body_hash="",
        workspace_id="default",
        conversation_id=key,
        order_key=key,
        request=asdict(TurnRequest(key, text)),
        next_attempt_at=now,
        created_at=now,
    )


def create_delivery(text: str, person: str, now: datetime) -> CeWebhookDelivery:
    values = {"url": "https://desk.example.com", "secret": create_secret()}
    webhook, _ = CeWebhook.objects.get_or_create(name="desk", defaults=values)
    return CeWebhookDelivery.objects.create(
        webhook=webhook,
        event_id=uuid.uuid4(),
        event="turn.answered",
        conversation_id=person,
        body=text,
        next_attempt_at=now,
        created_at=now,
    )


def create_channel_message(text: str, person: str, now: datetime) -> CeChannelMessage:
    channel, _ = CeChannel.objects.get_or_create(name="shop", provider="telegram")
    return CeChannelMessage.objects.create(
        channel=channel,
        source_id=uuid.uuid4(),
        part=0,
        conversation_id=str(uuid.uuid5(uuid.NAMESPACE_OID, person)),
        text=text,
        recipient=person,
        body=channels.find_provider(channel).write(text, (), None),
        next_attempt_at=now,
        created_at=now,
    )


def create_alert_message(text: str, person: str, now: datetime) -> CeAlertMessage:
    numbers = dict.fromkeys(("bound", "first_value", "worst_value", "value", "turns"), 1)
    times = dict.fromkeys(("started_at", "since", "until"), now)
    alert, _ = CeAlert.objects.get_or_create(title="Late", measure="not_understood", defaults={**numbers, **times})
    return CeAlertMessage.objects.create(
        alert=alert,
        kind=CeAlertMessage.Kind.STARTED,
        number=alert.messages.count(),
        channel=CeAlertMessage.Channel.MAIL,
        recipient=f"{person}@example.com",
        content={"subject": text, "text": text},
        next_attempt_at=now,
        created_at=now,
    )


USERS = (
    User("queued messages", queued.outbox, create_queued),
    User("webhooks", webhooks.outbox, create_delivery),
    User("channels", channels.outbox, create_channel_message),
    User("alerts", alerts.outbox, create_alert_message),
)
