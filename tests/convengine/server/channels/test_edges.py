"""What happens at the edges: names that change, users who opt out, and what providers send beside messages."""

import json
import time
from datetime import timedelta
from typing import Any

import pytest
from django.db import connection, transaction
from django.test import Client
from django.test.utils import CaptureQueriesContext

from convengine.server.channels import send
from convengine.server.channels.contract import Answer
from convengine.server.channels.models import CeChannel, CeChannelMessage, CeOptOut
from convengine.server.database.sql import database_time
from convengine.server.executors import http_client
from convengine.server.jobs.outbox import OutboxStatus, send_again
from convengine.server.queued import queue
from convengine.server.queued.models import CeQueuedMessage
from convengine.server.sessions.models import CeConversationHistory
from convengine.server.webhooks.models import CeWebhook, CeWebhookDelivery
from tests.api import make_key
from tests.convengine.server.channels.conftest import World
from tests.fakes.http_server import Reply
from tests.live.configuration import configure

pytestmark = pytest.mark.django_db(transaction=True)


def list_undelivered() -> list[Any]:
    return [json.loads(row.body)["data"] for row in CeWebhookDelivery.objects.filter(event="message.undelivered")]


@pytest.fixture
def desk() -> CeWebhook:
    return CeWebhook.objects.create(
        name="desk", url="https://desk.example.com", events=["message.undelivered"], secret="s" * 32
    )


@pytest.mark.parametrize("change", [{"name": "store"}, {"workspace_id": "another"}])
def test_an_answer_goes_back_to_a_channel_that_changed_meanwhile(change: dict[str, str], telegram: World) -> None:
    telegram.post(telegram.provider.write("7", "hours"))
    CeChannel.objects.update(**change)
    telegram.work()

    assert telegram.provider.list_texts("7") == ["Nine to five."]


def test_the_answer_to_a_call_goes_to_its_caller_alone(telegram: World, settings: Any) -> None:
    settings.CONVENGINE = {**settings.CONVENGINE, "JOBS_IN_PROCESS": True}
    telegram.write("7", "hours")
    calls = Client(headers={"Authorization": f"Api-Key {make_key(scopes=['sessions'])}", "Prefer": "respond-async"})
    body = {"workspace_id": "default", "channel": "shop", "remote_jid": "7", "user_message": "fees"}
    assert calls.post("/api/v1/sessions/message", body, content_type="application/json").status_code == 202
    telegram.work()

    assert CeConversationHistory.objects.count() == 2
    assert telegram.provider.list_texts("7") == ["Nine to five."]


def test_who_opts_out_gets_nothing_that_still_waits(world: World) -> None:
    world.provider.faults = [Reply(500)]
    world.write("7", "hours")
    world.write("7", "unsubscribe")
    CeChannelMessage.objects.update(next_attempt_at=database_time())
    world.work()

    assert world.provider.list_texts("7") == ["You get no more messages here. Write START to get them again."]


def test_the_button_that_begins_a_chat_opts_in_again(telegram: World) -> None:
    telegram.write("7", "unsubscribe")
    telegram.write("7", "/start shop")

    assert telegram.provider.list_texts("7")[1:] == ["You get messages here again."]
    assert not CeOptOut.objects.exists()


def test_the_desk_hears_of_a_message_whose_provider_could_not_be_reached(
    desk: CeWebhook, world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(CeChannelMessage, "most_attempts", 1)
    world.provider.faults = [Reply(cut=True)]
    world.write("7", "hours")

    [undelivered] = list_undelivered()
    assert (undelivered["text"], undelivered["channel"]) == ("Nine to five.", "shop")
    assert undelivered["error"] == CeChannelMessage.objects.get(status=OutboxStatus.FAILED).error


def test_a_failed_receipt_and_its_event_are_stored_together(
    desk: CeWebhook, whatsapp: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    provider: Any = whatsapp.provider
    whatsapp.write("7", "hours")
    told = provider.tell(provider.shown[0], "failed", errors=[{"code": 131026, "title": "Undeliverable\x00"}])

    def die(*_: Any) -> None:
        raise ConnectionError

    with monkeypatch.context() as killed:
        killed.setattr("convengine.server.channels.send.store_undelivered_event", die)
        with pytest.raises(ConnectionError):
            whatsapp.post(told)
    whatsapp.post(told)

    assert [each["error"] for each in list_undelivered()] == ["Undeliverable\ufffd"]


def test_what_is_sent_again_has_receipts_of_its_own(whatsapp: World) -> None:
    provider: Any = whatsapp.provider
    whatsapp.write("7", "hours")
    whatsapp.post(provider.tell(provider.shown[0], "failed", errors=[{"code": 131026, "title": "Undeliverable"}]))
    send_again(CeChannelMessage.objects.all())
    whatsapp.work()
    whatsapp.post(provider.tell(provider.shown[1], "delivered"))

    row = CeChannelMessage.objects.get()
    assert (row.status, row.receipt) == (OutboxStatus.SENT, "delivered")


def test_a_picture_does_not_take_the_place_of_a_message(world: World) -> None:
    configure("Session/ON_CONCURRENT_TURN", "interrupt")
    for text in ("hours", None, "fees"):
        world.post(world.provider.write("7", text))
    world.work()

    assert world.provider.list_texts("7") == ["I can only read text.", "No fees."]


def test_a_message_that_comes_twice_at_once_does_not_interrupt_itself(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    configure("Session/ON_CONCURRENT_TURN", "interrupt")
    world.write("7", "hours")
    request, find, interrupted = world.provider.write("7", "fees"), queue._find_conversation, []

    def find_while_it_comes_again(*about: Any) -> str | None:
        with monkeypatch.context() as other_server:
            other_server.setattr(queue, "_find_conversation", find)
            world.post(request)
        return find(*about)

    monkeypatch.setattr(queue, "_find_conversation", find_while_it_comes_again)
    monkeypatch.setattr(queue, "interrupt_running_turn", lambda *about: interrupted.append(about))
    world.post(request)

    assert (len(interrupted), CeQueuedMessage.objects.count()) == (1, 2)


def test_old_messages_are_sought_by_their_age(telegram: World) -> None:
    configure("Audit/RETENTION_DAYS", "30")
    telegram.write("7", "hours")
    CeChannelMessage.objects.update(created_at=database_time() - timedelta(days=31))
    with CaptureQueriesContext(connection) as queries:
        list(send._work())

    assert not CeChannelMessage.objects.exists()
    seek = next(each["sql"] for each in queries if 'created_at" <' in each["sql"])
    is_sqlite = connection.vendor == "sqlite"
    with transaction.atomic(), connection.cursor() as cursor:
        if not is_sqlite:
            cursor.execute("SET LOCAL enable_seqscan = off")
        cursor.execute(f"EXPLAIN {'QUERY PLAN' if is_sqlite else ''} {seek}")
        assert "ce_channel_message_age" in str(cursor.fetchall())


def test_one_connection_serves_all_calls_to_a_host(telegram: World) -> None:
    http_client._make_transport.cache_clear()
    telegram.write("7", "hours")
    telegram.post(telegram.provider.choose("7", "fees"))
    telegram.work()

    assert http_client._make_transport.cache_info().currsize == 1


def test_a_secret_without_a_value_lets_nobody_in(world: World, settings: Any) -> None:
    for secrets in ({}, {f"SHOP_{name.upper()}": "" for name in world.provider.secrets}):
        settings.CONVENGINE = {**settings.CONVENGINE, "CHANNEL_SECRETS": secrets}
        CeChannel.objects.update(secrets={name: f"SHOP_{name.upper()}" for name in world.provider.secrets})
        assert Client().post("/channels/shop/", b"{}", content_type="application/json").status_code == 503
    CeChannel.objects.update(secrets={})
    assert Client().post("/channels/shop/", b"{}", content_type="application/json").status_code == 503


def test_a_channel_whose_kind_is_gone_can_be_turned_off(telegram: World, admin_client: Client) -> None:
    CeChannel.objects.update(provider="gone")
    page = f"/admin/ce_channels/cechannel/{telegram.channel.pk}/"
    texts = {"attachment_text": "a", "failure_text": "b", "opt_out_text": "c", "opt_in_text": "d"}
    admin_client.post(f"{page}change/", {"name": "shop", "workspace_id": "default", **texts})
    sent = admin_client.post(f"{page}test/", {"recipient": "7", "text": "hello"}, follow=True)

    assert not CeChannel.objects.get().is_enabled
    assert "This installation has no provider gone." in sent.content.decode()


def test_names_that_no_database_takes_are_taken(whatsapp: World) -> None:
    provider: Any = whatsapp.provider
    message = {**provider.message("7", text={"body": "hours"}), "id": "a\x00b"}
    for value in ({"messages": [message]}, {"statuses": [{"id": "a\x00b", "status": "failed"}]}):
        assert whatsapp.post(provider.post(**value)).status_code == 200


class TestTelegram:
    def test_a_location_that_moves_is_one_message(self, telegram: World) -> None:
        provider: Any = telegram.provider
        where = {"location": {"latitude": 1.5, "longitude": 2.5, "live_period": 900}}
        telegram.post(provider.post({"message": {**provider.head("7"), **where}}, 1))
        for second in range(3):
            moved = {**provider.head("7"), **where, "message_id": 1, "edit_date": int(time.time()) + second}
            telegram.post(provider.post({"edited_message": moved}))
        telegram.work()

        assert provider.list_texts("7") == ["I can only read text."]


class TestWhatsApp:
    @pytest.mark.parametrize(
        "told",
        [
            {"type": "reaction", "reaction": {"message_id": "wamid.out.1", "emoji": "👍"}},
            {"type": "system", "system": {"type": "user_changed_number"}},
            {"from": None, "text": {"body": "hours"}},
        ],
        ids=["reaction", "system", "no sender"],
    )
    def test_what_is_no_message_is_left(self, told: dict[str, Any], whatsapp: World) -> None:
        provider: Any = whatsapp.provider
        whatsapp.post(provider.post(messages=[{**provider.message("7"), **told}]))

        assert not CeQueuedMessage.objects.exists()

    def test_the_button_of_a_list_has_its_greatest_length(self, whatsapp: World) -> None:
        from convengine.server.channels.whatsapp import WhatsApp

        [message] = WhatsApp().render(Answer("Which?", [f"Option {number}" for number in range(4)]))
        call: Any = WhatsApp().build_call(message, "7", WhatsApp.secrets, {"list_button": "See all of the options"})
        assert call.body["interactive"]["action"]["button"] == "See all of the optio"


class TestSlack:
    @pytest.mark.parametrize(
        ("sent", "read"),
        [
            ("<mailto:ada@example.com|ada@example.com> &amp; &lt;3", "ada@example.com & <3"),
            ("see <https://example.com/a?b=1&amp;c=2>", "see https://example.com/a?b=1&c=2"),
            ("<@U999> wants to pay", "wants to pay"),
        ],
    )
    def test_the_user_wrote_what_slack_marks(self, sent: str, read: str, slack: World) -> None:
        slack.write("D1", sent)

        assert CeConversationHistory.objects.get().user_input == read

    def test_no_text_calls_a_person_or_a_channel(self, slack: World) -> None:
        CeChannel.objects.update(attachment_text="<!channel> & co")
        slack.write("D1", None)

        assert json.loads(slack.provider.server.asked[-1].body)["text"] == "&lt;!channel&gt; &amp; co"
        assert slack.provider.shown[-1].text == "<!channel> & co"

    def test_a_time_of_many_digits_is_refused(self, slack: World) -> None:
        request = slack.provider.write("D1", "hours")

        assert slack.post(request, **{"X-Slack-Request-Timestamp": "9" * 5000}).status_code == 403

    def test_a_message_in_a_thread_may_be_shown_in_the_channel_too(self, slack: World) -> None:
        slack.write("C1", "<@UBOT> hours", type="app_mention", channel_type="channel", number=1)
        broadcast = {"subtype": "thread_broadcast", "channel_type": "channel", "thread_ts": "1.0001"}
        slack.write("C1", "fees", **broadcast, number=2)

        assert [each.text for each in slack.provider.shown] == ["Nine to five.", "No fees."]
