"""What is special about each provider."""

import json
import time
from datetime import timedelta
from typing import Any

import pytest
from django.db.models import F
from django.test import Client

from convengine.engine.pipeline.engine import Engine
from convengine.server.channels.contract import Answer
from convengine.server.channels.models import CeChannel, CeChannelMessage
from convengine.server.channels.providers import list_providers
from convengine.server.database.sql import database_time
from convengine.server.jobs.outbox import OutboxStatus
from convengine.server.queued.models import CeQueuedMessage
from convengine.server.sessions.models import CeConversation, CeConversationHistory
from convengine.server.webhooks.models import CeWebhook, CeWebhookDelivery
from tests.convengine.server.channels.conftest import World
from tests.fakes.http_server import Reply
from tests.live.configuration import configure

pytestmark = pytest.mark.django_db(transaction=True)
WINDOW = {"code": 131047, "title": "Re-engagement message"}


def calls_of(world: World) -> list[dict[str, Any]]:
    return [json.loads(asked.body) for asked in world.provider.server.asked]


def let_pauses_end() -> None:
    CeChannelMessage.objects.filter(status=OutboxStatus.PENDING).update(next_attempt_at=F("created_at"))


def test_messages_of_users_are_answered_in_their_order_whatever_comes_again(world: World) -> None:
    requests = [
        world.provider.write(user, text, number + 10 * int(user))
        for number, text in enumerate(("hours", "fees", "hours"), start=1)
        for user in ("7", "8")
    ]
    for request in (*requests, *requests):
        assert world.post(request).status_code == 200
    world.work()

    for user in ("7", "8"):
        assert world.provider.list_texts(user) == ["Nine to five.", "No fees.", "Nine to five."]


@pytest.mark.parametrize(
    ("fault", "pause"),
    [
        (Reply(429, b'{"ok": false, "parameters": {"retry_after": 90}}', {"Retry-After": "90"}), 60),
        (Reply(500, b"oh"), 3),
        (Reply(cut=True), 3),
    ],
    ids=["too many", "broken", "cut"],
)
def test_after_a_fault_a_message_is_sent_again_before_the_later_ones(fault: Reply, pause: int, world: World) -> None:
    world.provider.faults = [fault]
    world.write("7", "hours")
    world.write("7", "fees")

    waiting = CeChannelMessage.objects.order_by("pk").first()
    assert waiting is not None
    assert (waiting.status, waiting.attempts, world.provider.shown) == (OutboxStatus.PENDING, 1, [])
    assert waiting.next_attempt_at > database_time() + timedelta(seconds=pause)
    let_pauses_end()
    world.work()
    assert world.provider.list_texts("7") == ["Nine to five.", "No fees."]


def test_what_can_never_arrive_is_given_up(world: World) -> None:
    refusals = {
        "telegram": Reply(403, b'{"ok": false, "description": "Forbidden: bot was blocked by the user"}'),
        "whatsapp": Reply(400, b'{"error": {"code": 131026, "message": "Message undeliverable"}}'),
        "slack": Reply(200, b'{"ok": false, "error": "channel_not_found"}'),
    }
    world.provider.faults = [refusals[world.provider.kind]]
    world.write("7", "hours")

    row = CeChannelMessage.objects.get()
    assert row.status == OutboxStatus.FAILED
    assert row.error in (
        "Telegram answered 403: Forbidden: bot was blocked by the user.",
        "WhatsApp answered 400, 131026: Message undeliverable.",
        "Slack answered 200: channel_not_found.",
    )


@pytest.mark.parametrize("fault", [Reply(500, b"oh"), Reply(cut=True)], ids=["broken", "cut"])
def test_webhooks_get_what_was_given_up(fault: Reply, world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(CeChannelMessage, "most_attempts", 1)
    CeWebhook.objects.create(name="desk", url="https://desk.example.com", events=["message.undelivered"])
    world.provider.faults = [fault]
    world.write("7", "hours")

    data = json.loads(CeWebhookDelivery.objects.get().body)["data"]
    assert (data["text"], data["error"]) == ("Nine to five.", CeChannelMessage.objects.get().error)


def test_a_failed_turn_is_answered_with_the_text_of_the_channel(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(*_: Any) -> Any:
        raise ValueError("broken")

    monkeypatch.setattr(Engine, "_run_step", fail)
    monkeypatch.setattr(CeQueuedMessage, "most_attempts", 1)
    world.write("7", "hours")

    assert world.provider.list_texts("7") == ["Something went wrong. Please send your message again."]


def test_a_host_that_is_neither_the_providers_nor_allowed_gets_no_secret(world: World, settings: Any) -> None:
    settings.CONVENGINE = {**settings.CONVENGINE, "CHANNEL_HOSTS": []}
    world.write("7", "hours")

    row = CeChannelMessage.objects.get()
    assert "127.0.0.1 is no host of" in row.error
    assert world.provider.server.asked == []


def test_a_channel_that_is_off_takes_and_sends_nothing(world: World) -> None:
    world.post(world.provider.write("7", "hours"))
    CeChannel.objects.update(is_enabled=False)
    world.work()

    assert world.post(world.provider.write("7", "fees")).status_code == 404
    assert world.provider.shown == []


def test_an_answer_that_is_too_long_is_sent_in_parts(world: World) -> None:
    provider = list_providers()[world.provider.kind]
    long = "One sentence. " * 800

    messages = provider.arrange(Answer(long, ["Yes", "No"]))

    assert all(len(text) <= provider.longest_text for text in messages.texts)
    assert " ".join(messages.texts) == long.strip()
    assert messages.options == ["Yes", "No"]


@pytest.mark.parametrize(
    "text",
    [5_000 * "😀", 900 * "Straße 😀 ", 5_000 * "é", 2_048 * "😀" + "a", 700 * "a.\n𝔅"],
    ids=lambda text: text[:2],
)
def test_parts_are_as_long_as_the_provider_counts(text: str, world: World) -> None:
    provider = list_providers()[world.provider.kind]
    texts = provider.arrange(Answer(text)).texts
    lengths = [len(part.encode("utf-16-le")) // 2 if provider.name == "telegram" else len(part) for part in texts]

    assert all(length <= provider.longest_text for length in lengths)
    # A part is not cut far before its limit.
    assert all(length > provider.longest_text // 3 for length in lengths[:-1])
    assert "".join("".join(texts).split()) == "".join(text.split())


@pytest.mark.parametrize(
    ("kind", "options", "form", "notes"),
    [
        ("whatsapp", 3, "buttons", []),
        (
            "whatsapp",
            10,
            "a list",
            ["The options are shown as a list, because at most 3 of 10 options fit as buttons."],
        ),
        (
            "whatsapp",
            11,
            None,
            ["The options are numbered lines of the text, because at most 10 of 11 options fit as a list."],
        ),
        ("telegram", 20, "buttons", []),
        ("slack", 25, "buttons", []),
    ],
)
def test_options_have_the_best_form_that_has_room(kind: str, options: int, form: str | None, notes: list[str]) -> None:
    labels = [f"Option {number}" for number in range(options)]

    arranged = list_providers()[kind].arrange(Answer("Which?", labels))

    assert (arranged.form and arranged.form.name, list(arranged.notes)) == (form, notes)
    assert (f"{options}. Option {options - 1}" in arranged.texts[-1]) == (form is None)


def test_the_words_below_a_picture_are_the_message(world: World) -> None:
    captions: dict[str, Any] = {
        "telegram": {"caption": "hours"},
        "whatsapp": {"image": {"mime_type": "image/jpeg", "caption": "hours"}},
        "slack": {"subtype": "file_share", "files": [{"mimetype": "image/jpeg"}]},
    }
    world.write("7", "hours" if world.provider.kind == "slack" else None, **captions[world.provider.kind])

    assert world.provider.list_texts("7") == ["Nine to five."]
    details = CeQueuedMessage.objects.get().request["input_params"]["message_details"]
    assert details["attachments"][0]["kind"] in ("photo", "image", "file")
    assert "message_details" not in CeConversation.objects.get().input_params_json


def test_a_message_that_waits_is_never_refused(world: World) -> None:
    configure("Session/ON_CONCURRENT_TURN", "reject")
    for text in ("hours", "fees"):
        assert world.post(world.provider.write("7", text)).status_code == 200
    world.work()

    assert world.provider.list_texts("7") == ["Nine to five.", "No fees."]


def test_a_newer_message_takes_the_place_of_those_that_wait(world: World) -> None:
    configure("Session/ON_CONCURRENT_TURN", "interrupt")
    for text in ("hours", "fees"):
        world.post(world.provider.write("7", text))
    world.work()

    assert world.provider.list_texts("7") == ["No fees."]


def test_the_longest_names_and_texts_of_providers_are_taken(world: World) -> None:
    provider: Any = world.provider
    long = "hours " + "x" * 30_000
    if provider.kind == "whatsapp":
        for end in ("a", "b"):
            message = {**provider.message("7", text={"body": long}), "id": "w" * 200 + end}
            world.post(provider.post(messages=[message]))
    else:
        for _ in range(2):
            world.post(provider.write("7", long))
    world.work()

    assert world.provider.list_texts("7") == ["Nine to five."] * 2


def test_a_number_is_the_option_of_its_line(whatsapp: World) -> None:
    whatsapp.write("7", "a party please")
    whatsapp.write("7", "tomorrow")
    whatsapp.write("7", "2")

    assert whatsapp.provider.list_texts("7")[-1] == "How many guests?"


class TestTelegram:
    def test_a_start_is_a_greeting_also_with_a_parameter(self, telegram: World) -> None:
        telegram.write("7", "/start shop")

        assert CeConversationHistory.objects.get().user_input == "hello"

    def test_a_corrected_message_is_another_message(self, telegram: World) -> None:
        telegram.write("7", "hurs", number=1)
        request = telegram.provider.post(  # type: ignore[attr-defined]
            {
                "edited_message": {
                    **telegram.provider.head("7"),
                    "message_id": 1,
                    "edit_date": int(time.time()),
                    "text": "hours",
                }
            }  # type: ignore[attr-defined]
        )
        for _ in range(2):
            telegram.post(request)
        telegram.work()

        assert telegram.provider.list_texts("7") == ["Sorry?", "Nine to five."]

    def test_a_command_may_name_the_bot(self, telegram: World) -> None:
        telegram.write("7", "/fees@shop_bot")
        telegram.write("7", "/fees@shop_bot for hours")
        telegram.write("7", "my address is a/b@example.com")

        texts = CeConversationHistory.objects.order_by("turn_no").values_list("user_input", flat=True)
        assert list(texts) == ["/fees", "/fees for hours", "my address is a/b@example.com"]

    def test_groups_are_left(self, telegram: World) -> None:
        telegram.write("7", "hours", chat={"id": -5, "type": "group"})

        assert not CeQueuedMessage.objects.exists()

    def test_the_language_of_the_user_is_that_of_the_conversation(self, telegram: World) -> None:
        telegram.write("7", "hours", **{"from": {"id": 7, "language_code": "de"}})

        assert CeConversation.objects.get().input_params_json["locale"] == "de"

    def test_a_button_does_not_go_on_turning(self, telegram: World) -> None:
        telegram.post(telegram.provider.choose("7", "hours"))
        telegram.work()

        assert any("callback_query_id" in call for call in calls_of(telegram))


class TestWhatsApp:
    def test_the_address_is_registered_with_the_word(self, whatsapp: World) -> None:
        query = {"hub.mode": "subscribe", "hub.challenge": "1158", "hub.verify_token": "a word"}

        assert Client().get("/channels/shop/", query).content == b"1158"
        assert Client().get("/channels/shop/", {**query, "hub.verify_token": "another"}).status_code == 403

    def test_a_batch_has_messages_of_several_users_and_receipts(self, whatsapp: World) -> None:
        provider: Any = whatsapp.provider
        messages = [provider.message(user, text={"body": text}) for user, text in (("7", "hours"), ("8", "fees"))]
        whatsapp.post(provider.post(messages=messages, statuses=[{"id": "unknown", "status": "read"}]))
        whatsapp.work()

        assert (provider.list_texts("7"), provider.list_texts("8")) == (["Nine to five."], ["No fees."])

    @pytest.mark.parametrize(
        ("sent", "read"),
        [
            (rb"\ud83d", "hours \ufffd"),
            (rb"\ude00\ud83d", "hours \ufffd\ufffd"),
            (rb"\ud83d\ude00", "hours 😀"),
            (rb"\\ud83d", r"hours \ud83d"),
            (b"\xed\xa0\xbd", "hours \ufffd\ufffd\ufffd"),
            (b"\xff", "hours \ufffd"),
        ],
        ids=["half", "wrong order", "pair", "no escape", "bytes of a half", "no UTF-8"],
    )
    def test_what_is_no_unicode_refuses_no_batch(self, sent: bytes, read: str, whatsapp: World) -> None:
        provider: Any = whatsapp.provider
        texts = {"7": "hours", "8": "hours @@", "9": "fees"}
        batch = provider.post(messages=[provider.message(user, text={"body": text}) for user, text in texts.items()])
        assert whatsapp.post(provider.sign(batch.body.replace(b"@@", sent))).status_code == 200
        whatsapp.work()

        assert [provider.list_texts(user) for user in texts] == [["Nine to five."], ["Nine to five."], ["No fees."]]
        assert CeConversationHistory.objects.get(conversation__remote_jid="8").user_input == read

    def test_what_is_for_another_number_is_left(self, whatsapp: World) -> None:
        provider: Any = whatsapp.provider
        whatsapp.post(provider.post("4712", messages=[provider.message("7", text={"body": "hours"})]))

        assert not CeQueuedMessage.objects.exists()

    def test_a_message_is_marked_as_read(self, whatsapp: World) -> None:
        whatsapp.write("7", "hours", number=3)

        assert any(
            (call.get("status"), call.get("message_id")) == ("read", "wamid.in.3") for call in calls_of(whatsapp)
        )

    def test_receipts_may_come_in_any_order(self, whatsapp: World) -> None:
        provider: Any = whatsapp.provider
        whatsapp.write("7", "hours")
        for state in ("sent", "read", "delivered"):
            whatsapp.post(provider.tell(provider.shown[0], state))

        assert CeChannelMessage.objects.get().receipt == "read"

    def test_what_did_not_arrive_says_why(self, whatsapp: World) -> None:
        provider: Any = whatsapp.provider
        whatsapp.write("7", "hours")
        whatsapp.post(provider.tell(provider.shown[0], "failed", errors=[{"code": 131026, "title": "Undeliverable"}]))

        row = CeChannelMessage.objects.get()
        assert (row.status, row.receipt, row.error) == (OutboxStatus.FAILED, "failed", "Undeliverable")

    @pytest.mark.parametrize("is_told_later", [False, True])
    def test_after_a_day_the_text_comes_in_the_template(self, is_told_later: bool, whatsapp: World) -> None:
        provider: Any = whatsapp.provider
        if not is_told_later:
            provider.faults = [Reply(400, json.dumps({"error": WINDOW}).encode())]
        whatsapp.write("7", "hours")
        if is_told_later:
            whatsapp.post(provider.tell(provider.shown.pop(), "failed", errors=[WINDOW]))
        let_pauses_end()
        whatsapp.work()

        assert [(shown.text, shown.template) for shown in provider.shown] == [("Nine to five.", "update")]
        assert CeChannelMessage.objects.get().status == OutboxStatus.SENT

    @pytest.mark.parametrize("template", ["", "update en"])
    def test_without_a_template_the_desk_reads_why_it_did_not_arrive(self, template: str, whatsapp: World) -> None:
        provider: Any = whatsapp.provider
        CeChannel.objects.update(settings={**provider.settings, "template": template})
        provider.faults = [Reply(400, json.dumps({"error": WINDOW}).encode())] * 2
        whatsapp.write("7", "hours")
        let_pauses_end()
        whatsapp.work()

        row = CeChannelMessage.objects.get()
        assert (row.status, "older than 24 hours" in row.error) == (OutboxStatus.FAILED, True)


class TestSlack:
    def test_the_address_is_verified(self, slack: World) -> None:
        provider: Any = slack.provider
        asked = provider.sign(json.dumps({"type": "url_verification", "challenge": "abc"}).encode())

        assert slack.post(asked).content == b"abc"

    def test_a_thread_is_a_conversation_once_the_app_was_named_in_it(self, slack: World) -> None:
        in_channel = {"channel_type": "channel", "thread_ts": "1.0001"}
        slack.write("C1", "just talking", **in_channel, number=2)
        slack.write("C1", "<@UBOT> hours", type="app_mention", channel_type="channel", number=1)
        slack.write("C1", "fees", **in_channel, number=4)
        slack.write("C1", "<@U999> what do you think of the fees?", **in_channel, number=5)

        shown = [(each.to, each.text) for each in slack.provider.shown]
        assert shown == [("C1 1.0001", "Nine to five."), ("C1 1.0001", "No fees.")]

    @pytest.mark.parametrize(
        ("more", "status"),
        [
            ({}, 200),
            ({"team_id": "T9", "context_team_id": "T1", "authorizations": []}, 200),
            ({"team_id": "T9"}, 200),
            ({"team_id": "T9", "authorizations": [{"team_id": "T9", "user_id": "UBOT"}]}, 403),
            ({"team_id": None, "authorizations": []}, 403),
        ],
        ids=["own", "shared channel", "authorized", "another", "none"],
    )
    def test_requests_of_other_workspaces_are_refused(self, more: dict[str, Any], status: int, slack: World) -> None:
        provider: Any = slack.provider
        about = {"type": "message", "channel_type": "im", "channel": "D1", "user": "U7", "text": "hours", "ts": "1.5"}
        assert slack.post(provider.post(about, **more)).status_code == status

        assert CeQueuedMessage.objects.exists() == (status == 200)
        if status == 403:
            assert ", not of T1." in CeChannel.objects.get().refusal

    def test_a_button_of_another_workspace_is_refused(self, slack: World) -> None:
        CeChannel.objects.update(settings={**slack.provider.settings, "team_id": "T9"})
        assert slack.post(slack.provider.choose("D1", "hours")).status_code == 403
        CeChannel.objects.update(settings={"api_url": slack.provider.settings["api_url"]})
        # A channel of an earlier version does not know its workspace.
        assert slack.post(slack.provider.choose("D1", "hours")).status_code == 200

    def test_a_slash_command_is_taken_without_effect(self, slack: World) -> None:
        provider: Any = slack.provider
        body = b"token=x&team_id=T1&channel_id=D1&user_id=U7&command=%2Fdesk&text=hours&trigger_id=1.2"
        answer = slack.post(provider.sign(body, content_type="application/x-www-form-urlencoded"))

        assert (answer.status_code, answer.content) == (200, b"")
        assert not CeQueuedMessage.objects.exists()

    @pytest.mark.parametrize(
        ("sent", "read"),
        [
            ("<@UBOT> hours", "hours"),
            ("hours, <@UBOT>?", "hours,?"),
            ("hours <@UBOT> please", "hours please"),
            ("<@UBOT|desk> <@U999> hours <!here>", "hours"),
            ("<!subteam^S1|@team> hours <@UBOT>", "hours"),
            ("<@UBOT>", "hello"),
            ("hours since <!date^1392734382^{date}|Feb 18> <@UBOT> in <#C1|general>", "hours since Feb 18 in general"),
        ],
    )
    @pytest.mark.parametrize("kind", ["app_mention", "message"])
    @pytest.mark.parametrize("place", ["channel", "mpim"])
    def test_a_mention_anywhere_is_taken_out(self, place: str, kind: str, sent: str, read: str, slack: World) -> None:
        slack.post(slack.provider.write("C1", sent, 1, type=kind, channel_type=place))

        row = CeQueuedMessage.objects.get()
        assert (row.request["message"], row.thread["remote_jid"]) == (read, "C1 1.0001")

    def test_a_mention_that_slack_tells_twice_has_one_turn(self, slack: World) -> None:
        slack.write("C1", "<@UBOT> hours", type="app_mention", channel_type="channel", number=1)
        for kind in ("message", "app_mention"):
            named = {"type": kind, "channel_type": "channel", "thread_ts": "1.0001"}
            slack.write("C1", "<@UBOT> fees", **named, number=2)

        assert [each.text for each in slack.provider.shown] == ["Nine to five.", "No fees."]

    def test_what_a_bot_wrote_or_changed_is_left(self, slack: World) -> None:
        slack.write("D1", "hours", bot_id="B1")
        slack.write("D1", "hours", subtype="message_changed")

        assert not CeQueuedMessage.objects.exists()

    def test_a_repeated_event_has_one_turn(self, slack: World) -> None:
        request = slack.provider.write("D1", "hours")
        for number in range(3):
            slack.post(request, **({"X-Slack-Retry-Num": str(number)} if number else {}))
        slack.work()

        assert CeConversationHistory.objects.count() == 1
