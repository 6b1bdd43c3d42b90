"""What a provider says of a message, or calls a user, cannot be stored: it costs that message alone."""

import json
from dataclasses import replace
from datetime import datetime, timedelta
from typing import Any

import pytest
from django.test import Client

from convengine.server.channels.contract import LONGEST_NAME, Arrival, Incoming, Receipt
from convengine.server.channels.models import CeChannel, CeChannelMessage
from convengine.server.channels.send import store_receipt
from convengine.server.database.sql import database_time
from convengine.server.jobs.outbox import OutboxStatus
from convengine.server.queued.models import CeQueuedMessage
from tests.convengine.server.channels.conftest import World, kind_of
from tests.fakes.channel_providers import WhatsApp
from tests.fakes.http_server import Reply

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.dialects]
HOSTILE = ("a\0b", "\0", "a\ud800b", 5_000 * "x", 400 * "\U0001f600", 10**30, -(10**400), {"a": "\0"}, ["\0"], None)
NAMES = [f"{number} {str(value)[:8]!a}" for number, value in enumerate(HOSTILE)]


def answer(kind: str, name: Any) -> Reply:
    """The answer of a provider that calls the message so."""
    bodies = {
        "telegram": {"ok": True, "result": {"message_id": name}},
        "whatsapp": {"messages": [{"id": name}]},
        "slack": {"ok": True, "ts": name},
    }
    return Reply(body=json.dumps(bodies[kind]).encode())


@pytest.mark.parametrize("name", HOSTILE, ids=NAMES)
def test_a_name_that_cannot_be_stored_holds_up_no_message(world: World, name: Any) -> None:
    world.provider.faults = [answer(world.provider.kind, name)]
    world.post(world.provider.write("7", "hours"))
    world.post(world.provider.write("8", "hours"))
    world.work()

    rows = CeChannelMessage.objects.all()
    assert [(row.attempts, row.deaths) for row in rows] == [(1, 0), (1, 0)]
    assert [row.status for row in rows].count(OutboxStatus.SENT) >= 1
    # It was sent, or the provider said nothing that can be read, and has a reason.
    assert all(row.provider_message_id if row.status == OutboxStatus.SENT else row.error for row in rows)


@pytest.mark.parametrize("name", ["wamid\0", 5_000 * "x", 400 * "\U0001f600", "a\ud800b"])
def test_a_receipt_finds_the_message_by_whatever_name_it_has(whatsapp: World, name: str) -> None:
    whatsapp.provider.faults = [answer("whatsapp", "x")]
    whatsapp.write("7", "hours")
    row = CeChannelMessage.objects.get()
    CeChannelMessage.objects.update(status=OutboxStatus.PENDING, next_attempt_at=database_time())
    kind = kind_of(WhatsApp)
    result = replace(kind().read_result(200, {"messages": [{"id": "x"}]}, 0), message_id=name)
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(kind, "read_result", lambda *args: result)
        whatsapp.work()
    store_receipt(whatsapp.channel, Receipt(name, "failed", "b\0" + 5_000 * "d"))

    row.refresh_from_db()
    assert (row.receipt, row.error[:3], len(row.error)) == ("failed", "b\ufffdd", 1000)


@pytest.mark.parametrize(
    "fault",
    [
        {"description": "no\0ne \ud800"},
        {"description": 50_000 * "\0"},
        {"description": {"a": ["\0"]}},
        {"parameters": {"retry_after": 10**30}},
        {"parameters": {"retry_after": -(10**9)}},
    ],
    ids=str,
)
def test_a_reason_that_cannot_be_stored_is_a_reason_like_others(telegram: World, fault: dict[str, Any]) -> None:
    telegram.provider.faults = [Reply(429, json.dumps({"ok": False, **fault}).encode())]
    telegram.write("7", "hours")

    row = CeChannelMessage.objects.get()
    assert (row.status, row.attempts, bool(row.error)) == (OutboxStatus.PENDING, 1, True)
    longest = database_time() + timedelta(days=1, minutes=1)
    assert isinstance(row.next_attempt_at, datetime)
    assert row.next_attempt_at < longest


def test_a_slack_thread_with_a_name_that_fits_into_no_column_is_refused(slack: World) -> None:
    name = LONGEST_NAME * "C"
    for more in ({"thread_ts": LONGEST_NAME * "1"}, {"thread_ts": LONGEST_NAME * "1", "type": "app_mention"}):
        assert slack.post(slack.provider.write(name, "hours", **more)).status_code == 200

    assert not CeQueuedMessage.objects.exists()
    assert "longer than 400 characters" in CeChannel.objects.get().refusal
    slack.write(name, "hours")
    assert CeChannelMessage.objects.get().recipient == name


@pytest.mark.parametrize("sender", [2 * LONGEST_NAME * "s", "", 401 * "\0"])
def test_a_user_of_any_channel_with_such_a_name_is_refused_alone(
    world: World, monkeypatch: pytest.MonkeyPatch, sender: str
) -> None:
    messages = [Incoming("1", sender, "hours"), Incoming("2", world.provider.address("7"), "hours")]
    monkeypatch.setattr(kind_of(type(world.provider)), "receive", lambda *args: Arrival(messages))

    assert Client().post("/channels/shop/", b"{}", content_type="application/json").status_code == 200
    world.work()

    assert CeQueuedMessage.objects.count() == CeChannelMessage.objects.count() == 1
    assert "longer than 400 characters" in CeChannel.objects.get().refusal


@pytest.mark.parametrize("name", [5_000 * "n", "n\0", "n\ud800"], ids=["long", "NUL", "surrogate"])
def test_a_message_with_such_a_name_is_taken_once(world: World, monkeypatch: pytest.MonkeyPatch, name: str) -> None:
    messages = [Incoming(name, world.provider.address("7"), "hours \0\ud800")]
    monkeypatch.setattr(kind_of(type(world.provider)), "receive", lambda *args: Arrival(messages))
    for _ in range(2):
        assert Client().post("/channels/shop/", b"{}", content_type="application/json").status_code == 200
    world.work()

    assert CeQueuedMessage.objects.get().status == OutboxStatus.SENT
    assert len(world.provider.shown) == 1
