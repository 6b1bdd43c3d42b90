"""The pages of webhooks: who may, what a form refuses, the secret, the test, and what was given up."""

from typing import Any

import pytest
from django.contrib.admin.models import LogEntry
from django.test import Client
from django.urls import reverse
from standardwebhooks import Webhook

from audit.models import CeAccessLog
from convengine.server.executors.http_client import circuits
from convengine.server.webhooks.models import CeWebhook, CeWebhookDelivery
from convengine.server.webhooks.send import send_deliveries
from tests.convengine.server.webhooks.conftest import MakeWebhook
from tests.convengine.server.webhooks.test_send import NOW, make_delivery
from tests.fakes.http_server import Reply, Server
from tests.sign_in import sign_in

pytestmark = [pytest.mark.django_db, pytest.mark.dialects]
LIST, ADD = "admin:ce_webhooks_cewebhook_changelist", "admin:ce_webhooks_cewebhook_add"
DELIVERIES = "admin:ce_webhooks_cewebhookdelivery_changelist"


@pytest.fixture(autouse=True)
def _close_circuits() -> None:
    circuits._all.clear()


def make_client(group: str) -> Client:
    return sign_in(group, group)


@pytest.fixture
def ida() -> Client:
    return make_client("integrator")


def page_url(name: str, row: Any) -> str:
    return reverse(f"admin:ce_webhooks_{row._meta.model_name}_{name}", args=[row.pk])


def post_form(client: Client, address: str, **values: Any) -> Any:
    data = {"name": "desk", "events": ["conversation.ended"], "workspace_id": "", "is_enabled": "on", **values}
    return client.post(address, data, follow=True)


def read_text(response: Any) -> str:
    return " ".join(response.content.decode().split())


def test_a_new_webhook_gets_a_secret_which_its_page_shows(ida: Client, receiver: Server) -> None:
    page = post_form(ida, reverse(ADD), url=receiver.address)
    hook = CeWebhook.objects.get()

    assert page.redirect_chain[-1][0] == page_url("secret", hook)
    assert hook.secret.startswith("whsec_")
    assert hook.secret in read_text(page)
    assert "no-store" in page["Cache-Control"]
    for url in (reverse(LIST), page_url("change", hook)):
        assert hook.secret not in read_text(ida.get(url))
    assert LogEntry.objects.filter(change_message="The secret was shown.").count() == 1


def test_a_new_secret_signs_beside_the_old_one_until_that_is_removed(ida: Client, make_webhook: MakeWebhook) -> None:
    hook = make_webhook()
    ida.post(page_url("secret", hook), {"change": ""})
    changed = CeWebhook.objects.get()
    assert (changed.old_secret, changed.secret != hook.secret) == (hook.secret, True)
    assert hook.secret in read_text(ida.get(page_url("secret", hook)))
    ida.post(page_url("secret", hook), {"drop": ""})
    assert CeWebhook.objects.get().old_secret == ""
    assert CeWebhook.objects.get().secret == changed.secret


@pytest.mark.parametrize(
    ("values", "words"),
    [
        ({"url": "https://10.0.0.7/"}, "10.0.0.7 has an address that is not public. Use a public address, or ask"),
        ({"url": "http://93.184.216.34/"}, "http://93.184.216.34/ does not begin with https://. Use https, or ask"),
        ({"events": []}, "Choose at least one event. A webhook without an event sends nothing."),
        ({"name": "taken"}, "Webhook with this Name already exists."),
    ],
)
def test_a_form_is_refused_with_the_remedy(
    ida: Client, receiver: Server, make_webhook: MakeWebhook, values: dict[str, Any], words: str
) -> None:
    make_webhook(name="taken")
    page = post_form(ida, reverse(ADD), **{"url": receiver.address, **values})
    assert words in read_text(page)
    assert CeWebhook.objects.count() == 1


def test_a_changed_form_keeps_the_secret(ida: Client, receiver: Server, make_webhook: MakeWebhook) -> None:
    hook = make_webhook(receiver.address)
    post_form(ida, page_url("change", hook), url=f"{receiver.address}/two", workspace_id=" acme ")
    changed = CeWebhook.objects.get()
    assert (changed.url, changed.workspace_id, changed.events) == (
        f"{receiver.address}/two",
        "acme",
        ["conversation.ended"],
    )
    assert changed.secret == hook.secret


def test_a_test_event_is_signed_and_its_outcome_is_said(
    ida: Client, receiver: Server, make_webhook: MakeWebhook
) -> None:
    hook = make_webhook(receiver.address)
    page = ida.post(page_url("test", hook), follow=True)
    assert "The receiver has not answered yet" in read_text(page)
    list(send_deliveries())
    (asked,) = receiver.asked
    assert Webhook(hook.secret).verify(asked.body, dict(asked.headers))["type"] == "webhook.test"
    page = ida.get(page_url("change", CeWebhookDelivery.objects.get()))
    assert "not answered yet" not in read_text(page)
    assert "Sent" in read_text(page)

    receiver.replies = [Reply(401, b"who are you?")]
    CeWebhook.objects.update(is_enabled=False)
    ida.post(page_url("test", hook))
    list(send_deliveries())
    page = ida.get(page_url("change", CeWebhookDelivery.objects.latest("pk")))
    assert "answered 401: who are you?" in read_text(page)
    assert "Abandoned" in read_text(page)
    assert "Some deliveries failed" not in read_text(ida.get(reverse(LIST)))


def test_an_operator_sees_what_was_given_up_and_sends_it_again(make_webhook: MakeWebhook) -> None:
    olga = make_client("operator")
    hook = make_webhook(name="Help desk")
    row = make_delivery(hook, status="FAILED", attempts=34, error="desk.example.com did not answer in time.")
    release = make_delivery(hook, conversation="", status="FAILED", event="release.published")
    make_delivery(hook, status="SENT", sent_at=NOW)

    listed = read_text(olga.get(reverse(DELIVERIES), {"status__exact": "FAILED", "event": "conversation.ended"}))
    assert "desk.example.com did not answer in time." in listed
    assert listed.count("Help desk") >= 1
    assert olga.get(page_url("change", release)).status_code == 200
    assert "Send again" in read_text(olga.get(page_url("change", row)))
    assert CeAccessLog.objects.filter(reader="operator", kind="ROW").exists()

    page = olga.post(page_url("again", row), follow=True)
    assert "1 delivery will be sent again shortly." in read_text(page)
    row.refresh_from_db()
    assert (row.status, row.attempts) == ("PENDING", 0)
    assert "Send again" not in read_text(olga.get(page_url("change", row)))


def test_all_of_a_webhook_are_sent_again_at_once(ida: Client, make_webhook: MakeWebhook) -> None:
    hook = make_webhook()
    for _ in range(3):
        make_delivery(hook, status="FAILED")
    assert "3 deliveries were abandoned" in read_text(ida.get(page_url("change", hook)))
    assert "Some deliveries failed" in read_text(ida.get(reverse(LIST)))
    assert "3 deliveries will be sent again shortly." in read_text(ida.post(page_url("again", hook), follow=True))
    assert "No delivery was abandoned" in read_text(ida.post(page_url("again", hook), follow=True))


@pytest.mark.parametrize(
    ("group", "webhooks", "deliveries"), [("analyst", 403, 403), ("qa", 403, 403), ("operator", 403, 200)]
)
def test_others_may_not(group: str, webhooks: int, deliveries: int, make_webhook: MakeWebhook) -> None:
    client, hook = make_client(group), make_webhook()
    row = make_delivery(hook)
    assert client.get(reverse(LIST)).status_code == webhooks
    assert client.get(page_url("secret", hook)).status_code == webhooks
    assert client.post(page_url("test", hook)).status_code == webhooks
    assert client.get(reverse(DELIVERIES)).status_code == deliveries
    assert client.get(page_url("change", row)).status_code == deliveries


def test_a_webhook_is_deleted_with_its_deliveries(ida: Client, make_webhook: MakeWebhook) -> None:
    hook, other = make_webhook(), make_webhook()
    make_delivery(hook), make_delivery(other)
    ida.post(page_url("delete", hook), {"post": "yes"})
    assert CeWebhook.objects.get() == other
    assert CeWebhookDelivery.objects.get().webhook == other


def test_the_page_says_that_a_receiver_is_gone_until_the_webhook_is_turned_on(
    ida: Client, make_webhook: MakeWebhook, receiver: Server
) -> None:
    hook = make_webhook(receiver.address, is_enabled=False)
    note = "the receiver answered 410: it wants no more events"

    assert note not in read_text(ida.get(page_url("change", hook)))
    CeWebhook.objects.update(deactivated_at=NOW)
    assert note in read_text(ida.get(page_url("change", hook)))
    assert "Deactivated" in read_text(ida.get(reverse(LIST)))
    post_form(ida, page_url("change", hook), url=receiver.address)
    assert note not in read_text(ida.get(page_url("change", hook)))
    assert "Deactivated" not in read_text(ida.get(reverse(LIST)))
