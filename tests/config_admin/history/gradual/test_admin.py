"""The pages of gradual releases."""

from typing import Any

import pytest
from django.test import Client
from django.urls import reverse

from config_admin import models as m
from config_admin.drafts.open_draft import open_draft
from config_admin.releases.change_set import change_set
from tests.config_admin.admin.pages import address, fill
from tests.worlds import create_help_desk

pytestmark = pytest.mark.django_db


@pytest.fixture
def draft() -> m.CeDraft:
    create_help_desk()
    draft = m.CeDraft.objects.create(title="Late hours")
    with open_draft(draft.pk, None, writing=True), change_set():
        m.CeResponse.objects.filter(intent_code="HOURS", state_code="IDLE").update(exact_text="Nine to nine.")
    return draft


def publish(client: Client, draft: m.CeDraft, **sent: Any) -> Any:
    url = reverse("admin:config_admin_cedraft_publish", args=[draft.pk])
    live = dict(client.get(url).context["question"].inputs)["live"]
    return client.post(url, {"live": live, "reason": "try it", **sent}, follow=True)


def press(client: Client, button: str, **sent: Any) -> str:
    row = m.CeGradualRelease.objects.get()
    url = reverse(f"admin:config_admin_cegradualrelease_{button}", args=[row.pk])
    return client.post(url, sent, follow=True).content.decode()


def test_a_draft_is_published_for_a_part_and_stopped(ada: Client, draft: m.CeDraft) -> None:
    page = publish(ada, draft, to="part", share="10", participants="ann\nbob\nann").content.decode()
    row = m.CeGradualRelease.objects.get()
    assert (row.share, row.participants, row.status, row.started_by) == (10, ["ann", "bob"], "RUNNING", "ada")
    assert "Both sides since the start" in page
    audience = "is given to 10\N{NO-BREAK SPACE}% of the participants, 2 named."
    assert audience in ada.get(reverse("admin:index")).content.decode()

    assert "is stopped" in press(ada, "stop", reason="no")
    row.refresh_from_db()
    assert (row.status, row.ended_by, row.ended_reason) == ("STOPPED", "ada", "no")
    assert "It was stopped or given to all meanwhile." in press(ada, "all")


def test_an_audience_of_nobody_is_asked_again(ada: Client, draft: m.CeDraft) -> None:
    page = publish(ada, draft, to="part").content.decode()
    assert "Nobody would get the release." in page
    assert not m.CeGradualRelease.objects.exists()


def test_the_audience_grows_until_all_have_it(ada: Client, draft: m.CeDraft) -> None:
    publish(ada, draft, to="part", share="10")
    assert "Stored" in press(ada, "audience", share="50", guard_metric="ERRORS", guard_bound="2", guard_turns="10")
    row = m.CeGradualRelease.objects.get()
    assert (row.share, row.guard_metric, row.guard_bound) == (50, "ERRORS", 2)
    assert "Nobody would get the release." in press(ada, "audience", share="0")
    assert "with its next message" in press(ada, "all")


def test_everybody_gets_it_by_default(ada: Client, draft: m.CeDraft) -> None:
    assert "Every conversation uses it" in publish(ada, draft, to="all").content.decode()
    assert not m.CeGradualRelease.objects.exists()


def test_a_form_saved_meanwhile_is_offered_a_draft(ada: Client, draft: m.CeDraft) -> None:
    publish(ada, draft, to="part", share="10")
    row = m.CeResponse.objects.get(intent_code="FEES")
    answer = fill(ada, address(m.CeResponse, "change", row.pk), exact_text="Ten.", reason="x")
    assert answer.status_code == 409
    assert "Save in a draft" in answer.content.decode()


def test_who_may_not_publish_may_not_stop(
    client: Client, ada: Client, draft: m.CeDraft, django_user_model: Any
) -> None:
    publish(ada, draft, to="part", share="10")
    reader = django_user_model.objects.create_user("rea", is_staff=True)
    client.force_login(reader)
    row = m.CeGradualRelease.objects.get()
    url = reverse("admin:config_admin_cegradualrelease_stop", args=[row.pk])
    assert client.post(url).status_code == 403
    assert ada.get(url).status_code == 405
