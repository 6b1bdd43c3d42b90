"""The pages of channels: adding one, its secrets, what keeps it from working, the test message, sending again."""

import uuid
from datetime import timedelta
from typing import Any

import pytest
from django.contrib.admin.models import LogEntry
from django.test import Client
from django.urls import reverse
from django.utils import timezone

from audit.models import CeAccessLog
from config_admin.models import CeConfig
from config_admin.releases.change_set import change_set
from convengine.server.channels import send
from convengine.server.channels.models import CeChannel, CeChannelMessage, CeOptOut
from convengine.server.channels.opt_out import may_send
from convengine.server.channels.providers import list_providers
from convengine.server.jobs.outbox import OutboxStatus
from tests.convengine.server.channels.conftest import World
from tests.fakes.http_server import Reply
from tests.sign_in import sign_in, sign_in_superuser
from tests.worlds import create_help_desk, set_audit_setting

pytestmark = [pytest.mark.django_db, pytest.mark.dialects]
CHANNELS, ADD = "admin:ce_channels_cechannel_changelist", "admin:ce_channels_cechannel_add"
MESSAGES, OPT_OUTS = "admin:ce_channels_cechannelmessage_changelist", "admin:ce_channels_ceoptout_changelist"
#: The secrets of the installation by name.
SECRETS = {"SHOP_BOT": "123:a-very-secret-token", "SHOP_WORD": "another-secret-word", "SHOP_KEY": "the-third-secret"}
NOW = timezone.now()


@pytest.fixture
def ida() -> Client:
    return sign_in("ida", "integrator")


@pytest.fixture
def secrets(settings: Any) -> None:
    settings.CONVENGINE = {**settings.CONVENGINE, "CHANNEL_SECRETS": SECRETS}


def page_url(name: str, row: Any) -> str:
    return reverse(f"admin:ce_channels_{row._meta.model_name}_{name}", args=[row.pk])


def read_text(response: Any) -> str:
    assert response.status_code == 200
    return " ".join(response.content.decode().split())


def fill_in(provider: str = "telegram", **values: Any) -> dict[str, Any]:
    """What a browser sends for the form of a channel."""
    kind = list_providers()[provider]
    names = dict(zip(kind.secrets, SECRETS, strict=False))
    fields: dict[str, Any] = {"name": "shop", "workspace_id": "default", "is_enabled": "on"}
    for column in ("attachment_text", "failure_text", "opt_out_words", "opt_out_text", "opt_in_words", "opt_in_text"):
        fields[column] = CeChannel._meta.get_field(column).default
    needed = {f"setting_{key}": "4711" for key in kind.settings if not key.endswith("?")}
    return {**fields, **needed, **{f"secret_{key}": name for key, name in names.items()}, **values}


def add(client: Client, provider: str = "telegram", **values: Any) -> str:
    form = fill_in(provider, **values)
    return read_text(client.post(f"{reverse(ADD)}?provider={provider}", form, follow=True))


def create_channel(**values: Any) -> CeChannel:
    secrets = {"token": "SHOP_BOT", "secret": "SHOP_WORD"}
    return CeChannel.objects.create(**{"name": "shop", "provider": "telegram", "secrets": secrets, **values})


def create_message(channel: CeChannel, **values: Any) -> CeChannelMessage:
    defaults = {"source_id": uuid.uuid4(), "part": 0, "recipient": "49151", "text": "Your table is booked."}
    # A page counts the messages of today, and the day may have changed since this file was imported.
    times = dict.fromkeys(("created_at", "next_attempt_at"), timezone.now())
    return CeChannelMessage.objects.create(**{"channel": channel, "body": {}, **defaults, **times, **values})


@pytest.mark.parametrize("provider", ["telegram", "whatsapp", "slack"])
@pytest.mark.usefixtures("secrets")
def test_a_channel_is_added_and_its_page_has_its_address(ida: Client, provider: str) -> None:
    choice = read_text(ida.get(reverse(ADD)))
    assert f"?provider={provider}" in choice

    page = add(ida, provider, setting_api_url=" https://proxy.example.com ")

    assert "The channel “shop” was added. Give its address to the provider." in page
    assert "http://testserver/channels/shop/" in page
    assert "No request has come yet." in page
    channel = CeChannel.objects.get()
    assert (channel.provider, channel.workspace_id) == (provider, "default")
    assert set(channel.secrets) == set(list_providers()[provider].secrets)
    assert set(channel.secrets.values()) <= set(SECRETS)
    assert channel.settings["api_url"] == "https://proxy.example.com"
    assert list(LogEntry.objects.values_list("object_repr", flat=True)) == ["shop"]


@pytest.mark.parametrize(
    ("values", "words"),
    [
        ({"name": "My shop"}, "Use small letters, digits and hyphens; begin with a letter."),
        ({"name": "taken"}, "Another channel has this name. Choose another one."),
        ({"workspace_id": "  "}, "“Workspace” is required"),
        ({"secret_token": ""}, "“Token” is required"),
        ({"secret_token": "FORGED"}, "Select a valid choice. FORGED is not one of the available choices."),
    ],
)
@pytest.mark.usefixtures("secrets")
def test_a_form_is_refused_with_the_remedy(ida: Client, values: dict[str, Any], words: str) -> None:
    create_channel(name="taken")
    assert words in add(ida, **values)
    assert CeChannel.objects.count() == 1


def test_a_form_without_secrets_says_who_must_set_one(ida: Client) -> None:
    page = read_text(ida.get(f"{reverse(ADD)}?provider=whatsapp"))
    assert (
        "This installation has no secrets yet. An operator must set CE_CHANNEL_SECRET_ and a name of your choice."
        in page
    )
    assert "Phone number ID" in page


@pytest.mark.usefixtures("secrets")
def test_a_channel_gets_another_secret_and_loses_a_setting(ida: Client) -> None:
    channel = create_channel(settings={"api_url": "https://proxy.example.com"})
    read_text(ida.post(page_url("change", channel), fill_in(secret_token="SHOP_KEY"), follow=True))
    channel.refresh_from_db()
    assert channel.secrets == {"token": "SHOP_KEY", "secret": "SHOP_WORD"}
    assert channel.settings == {}


@pytest.mark.usefixtures("secrets")
def test_a_channel_whose_secret_is_missing_says_so_and_keeps_its_name(ida: Client) -> None:
    channel = create_channel(secrets={"token": "GONE", "secret": "SHOP_WORD"})
    page = read_text(ida.get(page_url("change", channel)))

    assert "This channel can neither receive nor send. The secret GONE (token) is missing." in page
    assert "An operator must set CE_CHANNEL_SECRET_GONE." in page
    assert "GONE (missing in this installation)" in page
    assert "Nothing is sent while the channel is not ready." in page
    assert "Not ready" in read_text(ida.get(reverse(CHANNELS)))
    read_text(ida.post(page_url("change", channel), fill_in(secret_token="GONE", locale="de"), follow=True))
    channel.refresh_from_db()
    assert (channel.secrets["token"], channel.locale) == ("GONE", "de")


def test_a_channel_whose_provider_is_not_installed_opens_and_keeps_what_it_has(ida: Client) -> None:
    columns = {"provider": "sms", "secrets": {"token": "SMS"}, "settings": {"from": "49"}}
    channel = create_channel(**columns)
    page = read_text(ida.get(page_url("change", channel)))

    assert "This installation has no provider sms. An operator can add it to CHANNEL_PROVIDERS." in page
    assert "sms (not in this installation)" in read_text(ida.get(reverse(CHANNELS)))
    form = {name: value for name, value in fill_in(locale="de").items() if not name.startswith("secret_")}
    read_text(ida.post(page_url("change", channel), form, follow=True))
    assert CeChannel.objects.filter(locale="de", **columns).exists()


@pytest.mark.usefixtures("secrets")
def test_no_page_shows_a_secret(ida: Client) -> None:
    add(ida, "whatsapp")
    channel = CeChannel.objects.get()
    row = create_message(channel, status=OutboxStatus.FAILED, error="WhatsApp answered 400.")
    addresses = [
        *map(reverse, (CHANNELS, ADD, MESSAGES, OPT_OUTS)),
        f"{reverse(ADD)}?provider=whatsapp",
        *(page_url(name, channel) for name in ("change", "history", "delete")),
        page_url("change", row),
    ]
    for address in addresses:
        page = read_text(ida.get(address))
        assert not [secret for secret in SECRETS.values() if secret in page], address
    assert not [secret for secret in SECRETS.values() if secret in str(list(LogEntry.objects.values_list()))]


@pytest.mark.usefixtures("secrets")
def test_the_page_counts_what_came_and_went_today_and_says_what_was_refused(ida: Client) -> None:
    channel = create_channel()
    for status in (OutboxStatus.SENT, OutboxStatus.SENT, OutboxStatus.FAILED):
        create_message(channel, status=status)
    create_message(channel, status=OutboxStatus.SENT, created_at=NOW - timedelta(days=2))
    assert "Received: 0. Sent: 2. Abandoned: 1." in read_text(ida.get(page_url("change", channel)))

    CeChannel.objects.update(refusal="The header is wrong.", refused_at=NOW)
    assert "a request was refused. The header is wrong." in read_text(ida.get(page_url("change", channel)))
    CeChannel.objects.update(last_request_at=NOW + timedelta(minutes=1))
    assert "The header is wrong." not in read_text(ida.get(page_url("change", channel)))


@pytest.mark.usefixtures("secrets")
def test_the_page_says_which_flows_the_channel_has_and_links_to_their_setting() -> None:
    create_help_desk()
    channel, ada = create_channel(), sign_in_superuser()
    page = read_text(ada.get(page_url("change", channel)))
    assert "Users can begin all flows." in page

    setting = reverse("admin:config_admin_ceconfig_effective") + "?edit=Channel/INTENTS.shop"
    assert f'href="{setting}#Channel-INTENTS"' in page
    with change_set(reason="A channel for questions"):
        CeConfig.objects.create(config_type="Channel", config_key="INTENTS.shop", config_value="faq")
    page = read_text(ada.get(page_url("change", channel)))
    assert "Users can begin the flows FAQ, ask the questions beside them, and ask for a person." in page


def test_a_test_message_is_sent_and_its_page_says_what_came_back(ida: Client, world: World) -> None:
    test = {"recipient": world.provider.address("49151"), "text": "This is a test."}
    page = read_text(ida.post(page_url("test", world.channel), test, follow=True))
    assert "The provider has not answered yet" in page

    world.work()
    assert [each.text for each in world.provider.shown] == ["This is a test."]
    page = read_text(ida.get(page_url("change", CeChannelMessage.objects.get())))
    assert "not answered yet" not in page
    assert "Sent" in page

    world.provider.faults.append(Reply(401, b"{}"))
    ida.post(page_url("test", world.channel), test)
    world.work()
    row = CeChannelMessage.objects.latest("pk")
    page = read_text(ida.get(page_url("change", row)))
    assert (row.status, "answered 401" in page, "Send again" in page) == (OutboxStatus.FAILED, True, True)
    assert "49151" not in str(list(LogEntry.objects.values_list("change_message")))


def test_a_test_message_that_waits_for_its_next_attempt_says_why(ida: Client, telegram: World) -> None:
    telegram.provider.faults.append(Reply(500, b"{}"))
    ida.post(page_url("test", telegram.channel), {"recipient": "49151", "text": "This is a test."})
    telegram.work()
    page = read_text(ida.get(page_url("change", CeChannelMessage.objects.get())))
    assert "Telegram answered 500" in page
    assert "not answered yet" not in page


@pytest.mark.parametrize(
    ("changed", "sent", "words"),
    [
        ({}, {"recipient": "49151", "text": "  "}, "A test message needs a recipient and a text."),
        ({"is_enabled": False}, {}, "The channel is off."),
        ({"provider": "sms"}, {}, "This installation has no provider sms."),
        ({"secrets": {"token": "GONE"}}, {}, "The secret GONE (token) is missing."),
    ],
)
@pytest.mark.usefixtures("secrets")
def test_a_test_message_that_cannot_be_sent_is_refused(
    ida: Client, changed: dict[str, Any], sent: dict[str, str], words: str
) -> None:
    channel = create_channel(**changed)
    sent = sent or {"recipient": "49151", "text": "This is a test."}
    page = read_text(ida.post(page_url("test", channel), sent, follow=True))
    assert f"Nothing was sent. {words}" in page
    assert not CeChannelMessage.objects.exists()


def test_a_user_who_opted_out_gets_neither_a_test_nor_a_message_again(ida: Client, telegram: World) -> None:
    CeOptOut.objects.create(channel=telegram.channel, recipient="49151", created_at=NOW)
    ida.post(page_url("test", telegram.channel), {"recipient": "49151", "text": "This is a test."})
    telegram.work()
    row = CeChannelMessage.objects.get()
    assert "The user wants no messages." in read_text(ida.get(page_url("change", row)))
    page = read_text(ida.post(page_url("again", row), follow=True))
    assert "It is not sent: the user opted out of messages." in page
    telegram.work()
    assert telegram.provider.shown == []


def test_a_message_that_was_given_up_is_sent_again_and_its_new_receipts_count(ida: Client, whatsapp: World) -> None:
    row = create_message(whatsapp.channel, body={"type": "text", "text": {"body": "Your table is booked."}})
    whatsapp.work()
    (first,) = whatsapp.provider.shown
    whatsapp.post(whatsapp.provider.tell(first, "failed", errors=[{"title": "Undeliverable"}]))
    assert "Undeliverable" in read_text(ida.get(page_url("change", row)))

    assert "It is sent again soon." in read_text(ida.post(page_url("again", row), follow=True))
    assert "It was not abandoned" in read_text(ida.post(page_url("again", row), follow=True))
    whatsapp.work()
    second = whatsapp.provider.shown[-1]
    whatsapp.post(whatsapp.provider.tell(first, "failed"))
    whatsapp.post(whatsapp.provider.tell(second, "delivered"))
    row.refresh_from_db()
    assert (row.status, row.receipt, row.error) == (OutboxStatus.SENT, "delivered", "")
    assert "Delivered" in read_text(ida.get(reverse(MESSAGES)))


def test_an_operator_takes_an_opt_out_back(telegram: World) -> None:
    olga = sign_in("olga", "operator")
    row = CeOptOut.objects.create(channel=telegram.channel, recipient="49151", created_at=NOW)
    assert "49151" in read_text(olga.get(reverse(OPT_OUTS), {"q": "491"}))
    assert "49151" in read_text(olga.get(page_url("change", row)))
    assert CeAccessLog.objects.filter(reader="olga", kind="ROW").exists()
    assert olga.post(page_url("change", row), {"recipient": "49152"}).status_code == 403

    read_text(olga.post(page_url("delete", row), {"post": "yes"}, follow=True))
    assert may_send(telegram.channel, "49151")


@pytest.mark.parametrize(("key", "value"), [("REDACT_KEYS", "participant"), ("REDACT_PATTERNS", r"\d{8,}")])
def test_texts_and_recipients_are_masked(key: str, value: str) -> None:
    create_help_desk()
    with change_set(reason="masks"):
        set_audit_setting(key, value)
    text = '{"participant": "4915112345"}'
    row = create_message(create_channel(), recipient="4915112345", text=text, body={"participant": "4915112345"})
    page = read_text(sign_in("quinn", "qa").get(page_url("change", row)))
    assert "4915112345" not in page
    assert page.count("***") >= 3


def test_a_deleted_channel_takes_its_messages_and_opt_outs_with_it(ida: Client) -> None:
    channel = create_channel()
    create_message(channel)
    CeOptOut.objects.create(channel=channel, recipient="49151", created_at=NOW)
    assert "with its messages and its list of users who opted out" in read_text(ida.get(page_url("delete", channel)))
    read_text(ida.post(page_url("delete", channel), {"post": "yes"}, follow=True))
    assert not CeChannelMessage.objects.exists()
    assert not CeOptOut.objects.exists()


@pytest.mark.parametrize(
    ("group", "channels", "messages", "opt_outs"),
    [("analyst", 403, 403, 403), ("qa", 403, 200, 403), ("operator", 403, 200, 200), ("integrator", 200, 200, 200)],
)
@pytest.mark.usefixtures("secrets")
def test_each_group_opens_what_it_may(group: str, channels: int, messages: int, opt_outs: int) -> None:
    client, channel = sign_in(group, group), create_channel()
    row = create_message(channel, status=OutboxStatus.FAILED)
    opt_out = CeOptOut.objects.create(channel=channel, recipient="49151", created_at=NOW)
    assert client.get(reverse(CHANNELS)).status_code == channels
    assert client.get(page_url("change", channel)).status_code == channels
    assert client.get(reverse(MESSAGES)).status_code == messages
    assert client.get(page_url("change", row)).status_code == messages
    assert client.get(reverse(OPT_OUTS)).status_code == opt_outs
    assert client.get(page_url("change", opt_out)).status_code == opt_outs
    if group != "integrator":
        assert client.post(page_url("test", channel), {"recipient": "1", "text": "x"}).status_code == 403
        assert client.post(page_url("again", row)).status_code == 403
        row.refresh_from_db()
        assert row.status == OutboxStatus.FAILED


def test_old_messages_go_with_the_turns_and_opt_outs_stay() -> None:
    create_help_desk()
    with change_set(reason="retention"):
        set_audit_setting("RETENTION_DAYS", 30)
    channel = create_channel()
    create_message(channel, status=OutboxStatus.SENT, created_at=NOW - timedelta(days=31), text="old")
    create_message(channel, status=OutboxStatus.SENT, created_at=NOW - timedelta(days=29), text="new")
    CeOptOut.objects.create(channel=channel, recipient="49151", created_at=NOW - timedelta(days=400))
    list(send.JOB.work())
    assert list(CeChannelMessage.objects.values_list("text", flat=True)) == ["new"]
    assert CeOptOut.objects.exists()
