"""Pages say before somebody types that changes go to a draft, and ask for one when they are sent."""

from collections.abc import Callable
from typing import Any

import pytest
from django.test import Client
from django.urls import reverse

from config_admin import models as m
from config_admin.drafts.open_draft import open_draft
from config_admin.drafts.publish_draft import publish_draft
from config_admin.editing.links import release_url
from config_admin.releases import head
from config_admin.releases.audience import AudienceSpec
from config_admin.releases.change_set import change_set
from convengine.server.admin_site.record_columns import teach_url
from tests.config_admin.flows import test_page as flows
from tests.config_admin.flows.faq import test_page as faq
from tests.worlds import create_help_desk

pytestmark = pytest.mark.django_db
BAR = 'aria-label="Where changes go"'


@pytest.fixture(autouse=True)
def desk() -> None:
    create_help_desk()


def set_gate() -> None:
    m.CeConfig.objects.create(config_type="Releases", config_key="GATE", config_value="smoke")


def start_gradual() -> None:
    draft = m.CeDraft.objects.create(title="Late hours")
    with open_draft(draft.pk, None, writing=True), change_set():
        m.CeResponse.objects.filter(intent_code="HOURS", state_code="IDLE").update(exact_text="Nine to nine.")
    publish_draft(draft.pk, "ada", audience=AudienceSpec(share=10))


def send_flow(client: Client, **values: Any) -> Any:
    return flows.send(client, _save="1", reason="we take bookings", **values)


def send_faq(client: Client, **values: Any) -> Any:
    return faq.make(client, **values)


def send_lesson(client: Client, **values: Any) -> Any:
    url = teach_url(intent="FEES")
    lesson = {"phrase": "lend me something to read", "use": "0", "intent": "FEES", "reason": "asked"}
    tried = client.post(url, lesson | {"_try": "1"}).context["effect"].digest
    return client.post(url, lesson | {"_save": "1", "tried": tried} | values)


@pytest.mark.parametrize("hold", [set_gate, start_gradual])
@pytest.mark.parametrize("send", [send_flow, send_faq, send_lesson])
def test_what_is_sent_waits_for_a_draft_and_is_saved_in_it(
    ben: Client, hold: Callable[[], None], send: Callable[..., Any]
) -> None:
    hold()
    before = head.read()

    asked = send(ben)
    assert asked.status_code == 409
    page = asked.content.decode()
    assert "Save in a draft" in page
    assert not list(asked.context["messages"])

    answer = send(ben, _draft_title="Bookings")
    assert answer.status_code == 302
    assert head.read() == before
    assert m.CeDraft.objects.get(title="Bookings").edits.exists()


def read_start(client: Client) -> str:
    return client.get(reverse("admin:config_admin_ceintent_start")).content.decode()


def open_new_draft(client: Client) -> None:
    client.post(reverse("admin:config_admin_cedraft_add"), {"title": "Christmas", "description": ""})


def test_a_gate_shows_a_bar_on_pages_that_change_something(ben: Client, ada: Client) -> None:
    assert BAR not in read_start(ben)
    set_gate()
    page = read_start(ben)
    assert BAR in page
    assert "What you save goes to a draft." in page
    assert "You choose a draft for it next." in page
    assert BAR in ben.get(reverse("admin:config_admin_ceresponse_changelist")).content.decode()
    assert BAR not in ada.get(release_url(head.newest())).content.decode()
    open_new_draft(ben)
    assert BAR not in read_start(ben)


def test_a_gradual_release_is_named_with_its_share_and_its_side(ben: Client, ada: Client) -> None:
    start_gradual()
    newest = head.newest()
    share = "given to 10\N{NO-BREAK SPACE}% of the participants"
    page = read_start(ben)
    for text in (share, f"All others have release {newest - 1}.", f"This page shows release {newest}."):
        assert text in page
    release = ada.get(release_url(newest)).content.decode()
    assert (share in release, 'ce-how-added">current' in release) == (True, False)
    assert "for all others" in ada.get(release_url(newest - 1)).content.decode()
    open_new_draft(ben)
    assert f"This draft changes release {newest}." in read_start(ben)
