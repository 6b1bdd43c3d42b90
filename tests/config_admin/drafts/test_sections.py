"""The page of a draft shows the findings that the draft adds and mends."""

import pytest
from django.test import Client
from django.urls import reverse

from config_admin import models as m
from config_admin.drafts.open_draft import open_draft
from config_admin.releases.change_set import change_set
from tests.config_admin.builders import make

pytestmark = pytest.mark.django_db


def show(client: Client, draft: m.CeDraft) -> str:
    return client.get(reverse("admin:config_admin_cedraft_change", args=[draft.pk])).content.decode()


def test_findings_that_a_draft_adds_and_mends(ada: Client) -> None:
    with change_set():
        make(m.CeIntent, intent_code="HOURS", description="")
        intent = make(m.CeIntent, intent_code="GIFTS")
    draft = m.CeDraft.objects.create(title="Christmas")
    assert "draft-health-title" not in show(ada, draft)

    with open_draft(draft.pk, "ada", writing=True), change_set():
        m.CeIntent.objects.filter(pk="HOURS").update(description="When we are open")
        m.CeIntent.objects.filter(pk=intent.pk).update(description="")
    page = show(ada, draft)
    added, mended = page.index("The draft adds"), page.index("The draft mends")
    assert page.index("Intent GIFTS</a>: ", added) < mended
    assert page.index("Intent HOURS</a>: ", mended) > mended
    question = ada.get(reverse("admin:config_admin_cedraft_publish", args=[draft.pk])).content.decode()
    assert ">Intent GIFTS</a>" in question
    assert "Health, " in question
    assert "Intent HOURS</a>: " not in question


def test_publishing_says_when_the_health_check_finds_nothing_new(ada: Client) -> None:
    with change_set():
        make(m.CeIntent, intent_code="HOURS", description="When we are open")
    draft = m.CeDraft.objects.create(title="Christmas")
    with open_draft(draft.pk, "ada", writing=True), change_set():
        m.CeIntent.objects.filter(pk="HOURS").update(description="When the shop is open")
    question = ada.get(reverse("admin:config_admin_cedraft_publish", args=[draft.pk])).content
    assert b"The health check finds nothing new in the draft." in question
