"""Webhooks get an event when a message did not arrive."""

import json
import uuid
from typing import Any

import pytest
from django.utils import timezone

from convengine.server.channels.models import CeChannelMessage
from convengine.server.jobs.outbox import OutboxStatus
from convengine.server.sessions.models import CeConversation
from convengine.server.webhooks.models import CeWebhook, CeWebhookDelivery
from tests.convengine.server.channels.conftest import World, kind_of
from tests.fakes.http_server import Reply

pytestmark = [pytest.mark.django_db, pytest.mark.dialects]


@pytest.fixture(autouse=True)
def webhooks(db: None) -> None:
    """One that wants to know, and one that does not."""
    for name in ("message.undelivered", "conversation.ended"):
        CeWebhook.objects.create(name=name, url="https://desk.example.com/bot", events=[name], secret="whsec_")


def create_message(world: World, **values: Any) -> CeChannelMessage:
    user = world.provider.address("49151")
    conversation = CeConversation.objects.create(channel="shop", remote_jid=user, intent_code="HOURS")
    times = dict.fromkeys(("created_at", "next_attempt_at"), timezone.now())
    body = kind_of(type(world.provider))().write("Nine to five.", (), None)
    about = {"source_id": uuid.uuid4(), "part": 0, "conversation_id": str(conversation.pk), "recipient": user}
    return CeChannelMessage.objects.create(
        channel=world.channel, text="Nine to five.", body=body, **{**about, **times, **values}
    )


def list_events() -> list[tuple[str, str, str, str]]:
    """Who is told what of which conversation."""
    rows = CeWebhookDelivery.objects.select_related("webhook").order_by("pk")
    events = [(row.webhook.name, json.loads(row.body)["data"]) for row in rows]
    return [(name, data["conversationId"], data["text"], data["error"]) for name, data in events]


def test_a_refused_message_is_told_to_the_webhook_that_wants_it(world: World) -> None:
    row = create_message(world)
    world.provider.faults = [Reply(403, b"{}")]
    world.work()

    row.refresh_from_db()
    assert row.status == OutboxStatus.FAILED
    assert list_events() == [("message.undelivered", row.conversation_id, "Nine to five.", row.error)]
    assert "answered 403" in row.error


@pytest.mark.parametrize("fault", [Reply(500, b"oh"), Reply(cut=True)], ids=["broken", "cut"])
def test_only_the_last_of_all_attempts_is_told(fault: Reply, world: World) -> None:
    row = create_message(world)
    for attempts in (0, 10, 11):
        assert list_events() == []
        CeChannelMessage.objects.update(attempts=attempts, next_attempt_at=row.created_at)
        world.provider.faults = [fault]
        world.work()

    row.refresh_from_db()
    assert (row.status, row.attempts) == (OutboxStatus.FAILED, 12)
    assert list_events() == [("message.undelivered", row.conversation_id, "Nine to five.", row.error)]
    assert row.error


def test_a_message_without_a_provider_is_told_at_its_end(telegram: World) -> None:
    row = create_message(telegram, attempts=11)
    telegram.channel.provider = "sms"
    telegram.channel.save()
    telegram.work()
    assert list_events() == [
        (
            "message.undelivered",
            row.conversation_id,
            "Nine to five.",
            "This installation has no provider sms. An operator can add it to CHANNEL_PROVIDERS.",
        )
    ]


def test_a_message_that_was_taken_and_did_not_arrive_is_told_once(whatsapp: World) -> None:
    row = create_message(whatsapp)
    whatsapp.work()
    (shown,) = whatsapp.provider.shown
    for state in ("sent", "failed", "failed", "delivered"):
        whatsapp.post(whatsapp.provider.tell(shown, state, errors=[{"code": 131026, "title": "Undeliverable"}]))

    row.refresh_from_db()
    assert (row.status, row.receipt) == (OutboxStatus.FAILED, "failed")
    assert list_events() == [("message.undelivered", row.conversation_id, "Nine to five.", "Undeliverable")]


def test_a_message_of_no_conversation_is_told_to_nobody(telegram: World) -> None:
    create_message(telegram, conversation_id="")
    telegram.provider.faults = [Reply(403, b"{}")]
    telegram.work()
    assert list_events() == []
