"""The page that schedules a draft; Home and the page of the draft tell what is scheduled."""

from datetime import timedelta

import pytest
from django.test import Client
from django.urls import reverse
from django.utils import timezone

from config_admin import models as m
from config_admin.drafts.open_draft import open_draft
from config_admin.releases.change_set import change_set
from tests.config_admin.admin.pages import a_response

pytestmark = pytest.mark.django_db


@pytest.fixture
def draft(ada: Client) -> m.CeDraft:
    row = a_response(exact_text="We open at nine.", priority=10)
    draft = m.CeDraft.objects.create(title="Christmas", created_by="ada")
    with open_draft(draft.pk, "ada", writing=True), change_set():
        m.CeResponse.objects.filter(pk=row.pk).update(priority=7)
    return draft


def url(page: str, draft: m.CeDraft) -> str:
    return reverse(f"admin:config_admin_cedraft_{page}", args=[draft.pk])


def in_days(days: int) -> str:
    return f"{timezone.localtime() + timedelta(days=days):%Y-%m-%dT%H:%M}"


def test_a_draft_is_scheduled_and_cancelled(ada: Client, draft: m.CeDraft) -> None:
    assert "Publish at (" in ada.get(url("schedule", draft)).content.decode()
    sent = {"publish_at": in_days(1), "take_back_at": in_days(3), "reason": "agreed"}
    page = ada.post(url("schedule", draft), sent, follow=True).content.decode()
    assert "The draft will be published at " in page
    assert "Scheduled by ada" in page
    assert "scheduled, published at" in ada.get(reverse("admin:index")).content.decode()

    page = ada.post(url("cancel", draft), follow=True).content.decode()
    assert "Nothing is scheduled for this draft any more." in page
    assert "Scheduled by ada" not in page


def test_wrong_times_are_told(ada: Client, draft: m.CeDraft) -> None:
    page = ada.post(url("schedule", draft), {"publish_at": in_days(-1), "reason": "agreed"}).content.decode()
    assert "The time has passed" in page
    page = ada.post(url("schedule", draft), {"publish_at": "soon", "reason": "agreed"}).content.decode()
    assert "Enter a valid date/time." in page
    assert not m.CeDraftSchedule.objects.exists()


def test_an_edit_after_scheduling_is_told(ada: Client, draft: m.CeDraft) -> None:
    ada.post(url("schedule", draft), {"publish_at": in_days(1), "reason": "agreed"})
    with open_draft(draft.pk, "ada", writing=True), change_set():
        m.CeResponse.objects.update(priority=8)
    assert "The draft was edited after it was scheduled." in ada.get(url("change", draft)).content.decode()


def test_a_failure_is_told_and_hidden(ada: Client, draft: m.CeDraft) -> None:
    ada.post(url("schedule", draft), {"publish_at": in_days(1), "reason": "agreed"})
    m.CeDraftSchedule.objects.update(status="FAILED", problem="A conflict.")
    assert "Not published as scheduled" in ada.get(url("change", draft)).content.decode()
    assert "A conflict." in ada.get(reverse("admin:index")).content.decode()
    ada.post(url("cancel", draft))
    assert "A conflict." not in ada.get(reverse("admin:index")).content.decode()


def test_what_is_missing_until_then_is_told(ada: Client, draft: m.CeDraft) -> None:
    m.CeConfig.objects.create(config_type="Releases", config_key="APPROVALS", config_value="1")
    assert "Still to be done before that time" in ada.get(url("schedule", draft)).content.decode()
