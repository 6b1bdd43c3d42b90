"""What rules, templates and code get of a message beside its text, on each channel."""

import json
from datetime import timedelta
from typing import Any

import pytest

from config_admin.models import CeResponse, CeRule
from config_admin.releases.change_set import change_set
from convengine.server.channels import receive
from convengine.server.channels.contract import Answer, Incoming
from convengine.server.channels.models import CeChannel
from convengine.server.channels.telegram import Telegram as Kind
from convengine.server.outgoing.loop import outgoing
from convengine.server.queued.models import CeQueuedMessage
from convengine.server.sessions.models import CeConversationHistory
from tests.convengine.server.channels.conftest import World
from tests.fakes.channel_providers import Slack, Telegram, WhatsApp

pytestmark = pytest.mark.django_db(transaction=True)
ADA = {"id": 7, "first_name": "Ada", "last_name": "Byron", "username": "ada"}
OF_ADA = {"user": {"id": "7", "name": "Ada Byron", "username": "ada"}}


def read_details() -> Any:
    return CeQueuedMessage.objects.latest("pk").request["input_params"].get("message_details", {})


@pytest.mark.parametrize(
    ("sent", "details"),
    [
        (
            {"photo": [{"file_id": "a", "file_size": 9}, {"file_id": "b", "file_size": 81230}]},
            {"attachments": [{"kind": "photo", "id": "b", "bytes": 81230}]},
        ),
        (
            {
                "document": {
                    "file_id": "d",
                    "mime_type": "application/pdf",
                    "file_name": "bill.pdf",
                    "file_size": 2**60,
                }
            },
            {"attachments": [{"kind": "document", "id": "d", "type": "application/pdf", "name": "bill.pdf"}]},
        ),
        (
            {"animation": {"file_id": "g", "mime_type": "video/mp4"}, "document": {"file_id": "g"}},
            {"attachments": [{"kind": "animation", "id": "g", "type": "video/mp4"}]},
        ),
        ({"poll": {"id": "5", "question": "?"}}, {"attachments": [{"kind": "poll", "id": "5"}]}),
        ({"location": {"latitude": 0, "longitude": -0.13}}, {"location": {"latitude": 0.0, "longitude": -0.13}}),
        (
            {
                "venue": {"location": {"latitude": 51.5, "longitude": 0}, "title": "Shop", "address": "1 High Street"},
                "location": {"latitude": 51.5, "longitude": 0},
            },
            {"location": {"latitude": 51.5, "longitude": 0.0, "name": "Shop", "address": "1 High Street"}},
        ),
        (
            {"contact": {"phone_number": "+4915", "first_name": "Bo", "user_id": 9, "vcard": "BEGIN:VCARD"}},
            {"contacts": [{"name": "Bo", "phone": "+4915", "user_id": "9"}]},
        ),
        (
            {"text": "hours", "reply_to_message": {"message_id": 12}},
            {"reply_to": "12"},
        ),
        ({"text": "/start spring_sale"}, {"start": "spring_sale"}),
        ({"text": "/start@shop_bot spring_sale"}, {"start": "spring_sale"}),
        ({"text": "/start"}, {}),
    ],
    ids=lambda value: next(iter(value), "none"),
)
def test_telegram_tells_what_it_knows(sent: dict[str, Any], details: dict[str, Any], telegram: World) -> None:
    provider: Any = telegram.provider
    telegram.post(provider.post({"message": {**provider.head("7"), "from": ADA, **sent}}))

    assert read_details() == {**OF_ADA, **details}


@pytest.mark.parametrize(
    ("sent", "details"),
    [
        (
            {"document": {"id": "77", "mime_type": "application/pdf", "filename": "bill.pdf", "sha256": "…"}},
            {"attachments": [{"kind": "document", "id": "77", "type": "application/pdf", "name": "bill.pdf"}]},
        ),
        (
            {"audio": {"id": "78", "mime_type": "audio/ogg", "voice": True}},
            {"attachments": [{"kind": "audio", "id": "78", "type": "audio/ogg"}]},
        ),
        (
            {"location": {"latitude": 37.4, "longitude": -122.1, "name": "HQ", "address": "1 Hacker Way"}},
            {"location": {"latitude": 37.4, "longitude": -122.1, "name": "HQ", "address": "1 Hacker Way"}},
        ),
        (
            {"contacts": [{"name": {"formatted_name": "Bo"}, "phones": [{"phone": "+49 15", "wa_id": "4915"}]}, {}]},
            {"contacts": [{"name": "Bo", "phone": "+49 15", "user_id": "4915"}, {}]},
        ),
        (
            {"interactive": {"type": "list_reply", "list_reply": {"id": "1", "title": "hours"}}},
            {"button": "hours"},
        ),
        ({"button": {"payload": "x", "text": "hours"}}, {"button": "hours"}),
        ({"text": {"body": "hours"}, "context": {"id": "wamid.1"}}, {"reply_to": "wamid.1"}),
        ({"type": "order", "order": {"catalog_id": "1"}}, {"attachments": [{"kind": "order"}]}),
    ],
    ids=lambda value: next(iter(value), "none"),
)
def test_whatsapp_tells_what_it_knows(sent: dict[str, Any], details: dict[str, Any], whatsapp: World) -> None:
    provider: Any = whatsapp.provider
    profile = {"profile": {"name": "Ada Byron"}, "wa_id": "7"}
    others = {"profile": {"name": "Bo"}, "wa_id": "8"}
    whatsapp.post(provider.post(messages=[provider.message("7", **sent)], contacts=[others, profile]))

    assert read_details() == {"user": {"id": "7", "name": "Ada Byron"}, **details}


def test_slack_tells_what_it_knows(slack: World) -> None:
    files = [{"id": "F1", "mimetype": "image/jpeg", "size": 81230, "name": "a.jpg"}, {"id": "F2", "mimetype": "a/b"}]
    slack.write("D1", "hours", subtype="file_share", files=files)

    first = {"kind": "file", "id": "F1", "type": "image/jpeg", "bytes": 81230, "name": "a.jpg"}
    assert read_details() == {
        "user": {"id": "U7"},
        "attachments": [first, {"kind": "file", "id": "F2", "type": "a/b"}],
    }


@pytest.mark.parametrize("kind", ["photo", "location", "contact"])
@pytest.mark.parametrize("value", [None, True, -1, 1e300, "\0", "\ufffe", 5_000 * "9", [], [[{}]], {}, {"id": {}}])
def test_odd_values_are_left_out(kind: str, value: Any, telegram: World) -> None:
    provider: Any = telegram.provider
    odd = dict.fromkeys(("file_id", "file_size", "mime_type", "latitude", "longitude", "phone_number"), value)
    head = {**provider.head("7"), "text": "hours"}
    for sent in ({kind: odd}, {kind: value}, {"from": {"id": 7, "first_name": value}}):
        assert telegram.post(provider.post({"message": {**head, **sent}})).status_code == 200
        assert len(json.dumps(read_details())) < 2_000


def test_rules_and_answers_read_the_details(world: World) -> None:
    with change_set(reason="pictures"):
        CeResponse.objects.filter(state_code="VIP").update(
            exact_text="Thank you, {{ message_details.user.id }}: {{ message_details.attachments[0].id }}."
        )
        CeRule.objects.update(match_pattern="$.inputParams.message_details.attachments[?(@.kind != 'video')]")
    pictures: dict[str, Any] = {
        "telegram": {"photo": [{"file_id": "P1"}], "caption": "hours"},
        "whatsapp": {"image": {"id": "P1", "caption": "hours"}},
        "slack": {"files": [{"id": "P1"}], "subtype": "file_share"},
    }
    world.write("7", "hours")
    world.write("7", "hours" if world.provider.kind == "slack" else None, **pictures[world.provider.kind])
    world.write("7", "hours")

    user = "U7" if world.provider.kind == "slack" else "7"
    assert world.provider.list_texts("7") == ["Nine to five.", f"Thank you, {user}: P1.", f"Thank you, {user}: ."]


def test_a_picture_without_words_goes_to_the_flows_of_a_channel_without_an_answer(world: World) -> None:
    CeChannel.objects.update(attachment_text="")
    with change_set(reason="pictures"):
        CeResponse.objects.filter(intent_code="UNKNOWN").update(
            exact_text="{{ message_details.attachments | length }} received."
        )
    world.write("7", None)

    assert world.provider.list_texts("7") == ["1 received."]
    assert not CeConversationHistory.objects.get().user_input


class TestAlbums:
    def post_album(self, world: World, *captions: str | None) -> list[Any]:
        """A picture for each caption: one message or, on Slack, several in a row."""
        requests = []
        for number, caption in enumerate(captions, start=1):
            below = {
                "telegram": {"photo": [{"file_id": f"P{number}"}], "media_group_id": "5", "caption": caption},
                "whatsapp": {"image": {"id": f"P{number}", "caption": caption}},
                "slack": {"files": [{"id": f"P{number}"}], "subtype": "file_share"},
            }
            text = caption if world.provider.kind == "slack" else None
            requests.append(world.provider.write("7", text, number, **below[world.provider.kind]))
        for request in requests:
            assert world.post(request).status_code == 200
        return requests

    @pytest.mark.parametrize(
        ("captions", "answer"),
        [
            ((None, None, None), "I can only read text."),
            (("hours", None, None), "Nine to five."),
            ((None, None, "hours"), "Nine to five."),
            ((None, "unsubscribe", None), "You get no more messages here. Write START to get them again."),
        ],
        ids=["none", "first", "last", "opt out"],
    )
    def test_it_is_answered_once_whatever_comes_again(
        self, captions: tuple[str | None, ...], answer: str, world: World
    ) -> None:
        requests = self.post_album(world, *captions)
        first = CeQueuedMessage.objects.order_by("pk").first()
        assert first is not None
        files = first.request["input_params"]["message_details"]["attachments"]
        world.work()
        for request in requests:
            world.post(request)
        world.work()

        assert [file["id"] for file in files] == ["P1", "P2", "P3"]
        assert world.provider.list_texts("7") == [answer]
        assert CeConversationHistory.objects.count() == 1

    def test_the_flows_get_it_whole(self, world: World) -> None:
        CeChannel.objects.update(attachment_text="")
        with change_set(reason="pictures"):
            CeResponse.objects.filter(intent_code="UNKNOWN").update(
                exact_text="{% for file in message_details.attachments %}{{ file.id }} {% endfor %}"
            )
        self.post_album(world, None, None, None)
        world.work()

        assert [text.split() for text in world.provider.list_texts("7")] == [["P1", "P2", "P3"]]

    def test_two_captions_are_two_messages(self, world: World) -> None:
        self.post_album(world, "hours", "fees")
        world.work()

        assert world.provider.list_texts("7") == ["Nine to five.", "No fees."]

    def test_what_was_written_between_parts_them(self, world: World) -> None:
        self.post_album(world, None)
        world.post(world.provider.write("7", "hours", 20))
        world.post(world.provider.write("7", None, 21))
        world.work()

        assert world.provider.list_texts("7") == ["I can only read text.", "Nine to five.", "I can only read text."]

    def test_those_of_two_users_stay_apart(self, world: World) -> None:
        for user in ("7", "8"):
            world.post(world.provider.write(user, None))
        world.work()

        assert [world.provider.list_texts(user) for user in ("7", "8")] == [["I can only read text."]] * 2

    def test_an_answer_waits_for_the_next_picture(self, world: World, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr(receive, "_FURTHER_MEDIA", timedelta(minutes=1))
        self.post_album(world, None)
        world.work()
        self.post_album(world, None, None)
        world.work()
        assert world.provider.shown == []
        CeQueuedMessage.objects.update(next_attempt_at="2026-01-01T00:00:00Z")
        world.work()

        assert world.provider.list_texts("7") == ["I can only read text."]


@pytest.mark.parametrize(
    ("world", "sent"),
    [
        (Telegram, {"pinned_message": {"message_id": 3, "text": "hours"}}),
        (Telegram, {"message_auto_delete_timer_changed": {"message_auto_delete_time": 86_400}}),
        (Telegram, {"write_access_allowed": {}}),
        (Telegram, {"chat_background_set": {}}),
        (WhatsApp, {"type": "edit", "edit": {"original_message_id": "w1", "message": {"text": {"body": "fees"}}}}),
        (WhatsApp, {"type": "revoke", "revoke": {"original_message_id": "w1"}}),
        (WhatsApp, {"type": "unsupported", "unsupported": {"type": "pin"}, "errors": [{"code": 131051}]}),
        (WhatsApp, {"type": "unsupported", "unsupported": {"type": "poll_update"}}),
        (Slack, {"subtype": "message_changed", "message": {"text": "fees"}}),
        (Slack, {"subtype": "message_deleted", "previous_message": {"text": "fees"}}),
        (Slack, {"subtype": "pinned_item"}),
        (Slack, {"channel_type": "mpim"}),
    ],
    indirect=["world"],
    ids=lambda value: "" if isinstance(value, type) else str(value.get("subtype") or next(iter(value))),
)
def test_what_says_nothing_to_the_bot_is_left(world: World, sent: dict[str, Any]) -> None:
    provider: Any = world.provider
    if isinstance(provider, Telegram):
        world.post(provider.post({"message": {**provider.head("7"), **sent}}))
    elif isinstance(provider, WhatsApp):
        world.post(provider.post(messages=[provider.message("7", **sent)]))
    else:
        world.write("C1", "hours", **sent)

    assert not CeQueuedMessage.objects.exists()


class TestChoices:
    @pytest.mark.parametrize("world", [Telegram, Slack], indirect=True)
    def test_buttons_that_were_pressed_show_what_was_chosen(self, world: World) -> None:
        calls: list[Any] = []
        start = outgoing.start
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(outgoing, "start", lambda work: calls.append(start(work)) or calls[-1])
            world.write("7", "a party please")
            world.write("7", "tomorrow")
            asked = world.provider.shown[-1]
            assert "Large" in asked.options
            world.post(world.provider.choose("7", "Large"))
            for call in calls:
                call.result(10)
            world.work()

        (changed,) = world.provider.changed
        assert (changed.name, changed.text, [*changed.options]) == (asked.name, f"{asked.text}\n\n✓ Large", [])
        assert read_details()["button"] == "Large"
        assert world.provider.list_texts("7")[-1] == "How many guests?"

    def test_the_longest_question_has_room_for_the_longest_choice(self, telegram: World) -> None:
        label = 16 * "😀"
        [*_, asked] = Kind().render(Answer(5_000 * "😀", [label]))
        pressed = Incoming("7 c1", "7", label, pressed_in={"message_id": 1, "text": asked["text"]})
        call: Any = Kind().show_choice(pressed, Kind.secrets, {})

        assert len(call.body["text"].encode("utf-16-le")) / 2 <= 4096
