"""Conversations on Telegram: updates come again and in any order, and a scripted server takes the answers."""

import json
from collections.abc import Iterator
from datetime import timedelta
from typing import Any

import pytest
from django.db.models import F
from django.test import Client

from convengine.server.channels import send
from convengine.server.channels.contract import Answer
from convengine.server.channels.models import CeChannel, CeChannelMessage
from convengine.server.channels.telegram import Telegram
from convengine.server.database.sql import database_time
from convengine.server.executors.http_client import circuits
from convengine.server.jobs.outbox import OutboxStatus
from convengine.server.queued import answer
from convengine.server.queued.models import CeQueuedMessage
from convengine.server.sessions.models import CeConversation, CeConversationHistory
from convengine.server.threads.hand_over import answer_as_person
from tests.fakes.http_server import Reply, Server, serving
from tests.live.configuration import configure
from tests.worlds import create_help_desk

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.dialects]
SECRET = {"X-Telegram-Bot-Api-Secret-Token": "s3cret"}
TAKEN = Reply(body=b'{"ok": true, "result": {"message_id": 900}}')


@pytest.fixture
def telegram(settings: Any, monkeypatch: pytest.MonkeyPatch) -> Iterator[Server]:
    """The provider's server. The jobs of ours run when a test says so."""
    create_help_desk()
    circuits._all.clear()
    for outbox in (answer.outbox, send.outbox):
        monkeypatch.setattr(outbox, "wake", lambda: None)
    with serving(TAKEN) as server:
        settings.CONVENGINE = {
            **settings.CONVENGINE,
            "CHANNEL_SECRETS": {"BOT": "123:abc", "BOT_SECRET": "s3cret"},
            "CHANNEL_PRIVATE_HOSTS": ["127.0.0.1"],
        }
        CeChannel.objects.create(
            name="shop",
            provider="telegram",
            secrets={"token": "${BOT}", "secret": "${BOT_SECRET}"},
            settings={"api_url": server.address},
        )
        yield server


def update(text: str | None, message_id: int = 1, chat: int = 7, **more: Any) -> dict[str, Any]:
    message = {
        "message_id": message_id,
        "chat": {"id": chat, "type": "private"},
        "from": {"id": chat, "language_code": "en"},
        **({"text": text} if text is not None else {}),
        **more,
    }
    return {"update_id": message_id, "message": message}


def post(body: Any, headers: dict[str, str] = SECRET) -> Any:
    return Client().post("/channels/shop/", body, content_type="application/json", headers=headers)


def work() -> None:
    list(answer.outbox.send_due())
    list(send.outbox.send_due())


def list_sent(server: Server) -> list[tuple[str, str]]:
    bodies = [json.loads(asked.body) for asked in server.asked]
    return [(body["chat_id"], body["text"]) for body in bodies]


def test_a_message_is_answered_in_its_chat(telegram: Server) -> None:
    assert post(update("your hours please")).status_code == 200
    assert CeConversationHistory.objects.count() == 0

    work()

    assert list_sent(telegram) == [("7", "Nine to five.")]
    assert telegram.asked[0].path == "/bot123:abc/sendMessage"
    row = CeConversation.objects.get()
    assert (row.channel, row.remote_jid, row.workspace_id) == ("shop", "7", "default")
    sent = CeChannelMessage.objects.get()
    assert (sent.status, sent.provider_message_id, sent.conversation_id) == (OutboxStatus.SENT, "900", str(row.pk))


def test_an_update_that_comes_again_has_one_turn_and_one_answer(telegram: Server) -> None:
    for _ in range(3):
        post(update("hours"))
    work()
    post(update("hours"))
    work()

    assert CeConversationHistory.objects.count() == 1
    assert list_sent(telegram) == [("7", "Nine to five.")]


def test_messages_of_a_chat_are_answered_in_their_order(telegram: Server) -> None:
    for number, text in enumerate(("hours", "fees", "hours")):
        for chat in (7, 8):
            post(update(text, number, chat))
    work()
    while CeChannelMessage.objects.filter(status=OutboxStatus.PENDING).exists():
        work()

    for chat in ("7", "8"):
        texts = [text for to, text in list_sent(telegram) if to == chat]
        assert texts == ["Nine to five.", "No fees.", "Nine to five."]


@pytest.mark.parametrize(
    ("headers", "body"),
    [({}, update("hours")), ({"X-Telegram-Bot-Api-Secret-Token": "wrong"}, update("hours")), (SECRET, "no update")],
    ids=["without secret", "wrong secret", "no update"],
)
def test_what_is_not_from_telegram_is_refused_and_not_stored(
    headers: dict[str, str], body: Any, telegram: Server
) -> None:
    refused = post(body, headers)

    assert (refused.status_code, refused.json()["errorCode"]) == (403, "REQUEST_REFUSED")
    assert not CeQueuedMessage.objects.exists()
    assert CeChannel.objects.get().refusal


def test_a_button_is_the_message_of_its_label(telegram: Server) -> None:
    message = update(None)["message"]
    post({"update_id": 5, "callback_query": {"id": "77", "from": message["from"], "message": message, "data": "fees"}})
    work()

    assert list_sent(telegram) == [("7", "No fees.")]


def test_a_picture_gets_the_text_of_the_channel_and_is_recorded(telegram: Server) -> None:
    post(update(None, photo=[{"file_size": 90}, {"file_size": 81230}]))
    work()

    assert list_sent(telegram) == [("7", "I can only read text.")]
    assert CeConversationHistory.objects.get().user_input == "[photo, 81230 bytes]"


def test_what_is_written_in_a_group_is_left(telegram: Server) -> None:
    written = update("hours")
    written["message"]["chat"] = {"id": -5, "type": "group"}
    post(written)

    assert not CeQueuedMessage.objects.exists()


def test_the_language_of_the_user_is_that_of_the_conversation(telegram: Server) -> None:
    post(update("hours", **{"from": {"id": 7, "language_code": "de"}}))
    work()

    assert CeConversation.objects.get().input_params_json["locale"] == "de"


def test_the_provider_says_how_long_to_wait(telegram: Server) -> None:
    telegram.replies = [
        Reply(429, b'{"ok": false, "error_code": 429, "description": "Too Many", "parameters": {"retry_after": 90}}'),
        TAKEN,
    ]
    post(update("hours"))
    work()

    row = CeChannelMessage.objects.get()
    assert (row.status, row.error) == (OutboxStatus.PENDING, "Telegram answered 429: Too Many.")
    assert row.next_attempt_at > database_time() + timedelta(seconds=60)
    CeChannelMessage.objects.update(next_attempt_at=F("created_at"))
    work()
    assert CeChannelMessage.objects.get().status == OutboxStatus.SENT


def test_who_blocked_the_bot_gets_nothing_more_of_that_answer(telegram: Server) -> None:
    telegram.replies = [Reply(403, b'{"ok": false, "description": "Forbidden: bot was blocked by the user"}')]
    post(update("hours"))
    work()

    row = CeChannelMessage.objects.get()
    assert (row.status, row.error) == (
        OutboxStatus.FAILED,
        "Telegram answered 403: Forbidden: bot was blocked by the user.",
    )


def test_what_a_person_writes_goes_to_the_user(telegram: Server) -> None:
    configure("HandOverStep/HAS_DESK", "true")
    post(update("hours"))
    work()

    answer_as_person(str(CeConversation.objects.get().pk), "default", "Ada here, how can I help?", "ada")
    work()

    assert list_sent(telegram)[-1] == ("7", "Ada here, how can I help?")


def test_a_channel_that_is_off_takes_and_sends_nothing(telegram: Server) -> None:
    post(update("hours"))
    list(answer.outbox.send_due())
    CeChannel.objects.update(is_enabled=False)
    work()

    assert post(update("hours", 2)).status_code == 404
    assert list_sent(telegram) == []


def test_options_are_buttons_or_numbers() -> None:
    few = Telegram().render(Answer("Which day?", ["Monday", "Tuesday"]))
    assert few[-1]["reply_markup"] == {
        "inline_keyboard": [
            [{"text": "Monday", "callback_data": "Monday"}],
            [{"text": "Tuesday", "callback_data": "Tuesday"}],
        ]
    }
    (long,) = Telegram().render(Answer("Which?", ["x" * 70, "y"]))
    assert long == {"text": f"Which?\n\n1. {'x' * 70}\n2. y"}
    parts = Telegram().render(Answer("One sentence. " * 600))
    assert [len(str(part["text"])) <= 4096 for part in parts] == [True] * 3
    assert " ".join(str(part["text"]) for part in parts) == ("One sentence. " * 600).strip()
