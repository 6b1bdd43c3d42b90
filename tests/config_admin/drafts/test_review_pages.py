"""The review on the page of a draft: others read, comment, approve and return it."""

from typing import Any

import pytest
from django.contrib.auth.models import Permission, User
from django.test import Client
from django.urls import reverse

from config_admin import models as m
from config_admin.drafts.models import ReviewKind
from config_admin.drafts.open_draft import open_draft
from config_admin.drafts.review import add_entry
from config_admin.releases.change_set import change_set
from tests.config_admin.admin.pages import a_response
from tests.config_admin.flows.test_saving import KINDS
from tests.dialogues.rows.worlds import make_flows
from tests.sign_in import sign_in

pytestmark = pytest.mark.django_db


@pytest.fixture
def row() -> m.CeResponse:
    return a_response(exact_text="We open at nine.", priority=10)


@pytest.fixture
def draft(row: m.CeResponse) -> m.CeDraft:
    draft = m.CeDraft.objects.create(title="Christmas", created_by="cleo")
    with open_draft(draft.pk, "cleo", "Shorter hours", writing=True), change_set():
        m.CeResponse.objects.filter(pk=row.pk).update(priority=7)
    add_entry(draft, ReviewKind.SENT, "cleo", reviewer_group="reviewers")
    draft.refresh_from_db()
    return draft


@pytest.fixture
def bob() -> Client:
    return sign_in("bob", "qa")


def url(page: str, draft: m.CeDraft) -> str:
    return reverse(f"admin:config_admin_cedraft_{page}", args=[draft.pk])


def judge(client: Client, draft: m.CeDraft, do: str, **sent: str) -> str:
    page: Any = client.get(url("change", draft))
    values = {"edits_hash": page.context["review"]["edits_hash"], "do": do, **sent}
    return client.post(url("review", draft), values, follow=True).content.decode()


@pytest.mark.parametrize("edits_hash", ["", "-", None])
def test_a_verdict_without_the_hash_that_the_page_showed_is_refused(
    bob: Client, draft: m.CeDraft, edits_hash: str | None
) -> None:
    sent = {"do": "approve"} | ({} if edits_hash is None else {"edits_hash": edits_hash})
    bob.post(url("review", draft), sent)

    assert not draft.reviews.filter(kind=ReviewKind.APPROVED).exists()


def test_a_draft_is_sent_and_waits_on_home(ada: Client, bob: Client, draft: m.CeDraft) -> None:
    page = ada.get(url("change", draft)).content.decode()
    assert 'name="reviewer" value="bob"' in page
    sent = ada.post(url("send", draft), {"reviewer": "bob", "text": "Please look"}, follow=True).content.decode()
    assert "The draft is sent for review." in sent
    assert "by ada to bob" in sent
    assert "waits for your review" in bob.get(reverse("admin:index")).content.decode()
    assert "waits for your review" not in ada.get(reverse("admin:index")).content.decode()


def test_the_reviewer_approves_and_the_release_says_so(ada: Client, bob: Client, draft: m.CeDraft) -> None:
    m.CeConfig.objects.create(config_type="Releases", config_key="APPROVALS", config_value="1")
    refused: Any = ada.get(url("publish", draft))
    assert "1 person must approve these edits" in refused.content.decode()

    assert "You approved the draft." in judge(bob, draft, "approve", text="Fine")
    assert read_notes(ada, draft)[0] == "Approved by bob."
    asked: Any = ada.get(url("publish", draft))
    live = dict(asked.context["question"].inputs)["live"]
    page = ada.post(url("publish", draft), {"live": live, "reason": "agreed"}, follow=True).content.decode()
    assert "Christmas: agreed (approved by bob)" in page
    assert "<dt>Approved by</dt><dd>bob</dd>" in page


def test_an_edit_after_the_approval_is_told(bob: Client, draft: m.CeDraft, row: m.CeResponse) -> None:
    judge(bob, draft, "approve")
    with open_draft(draft.pk, "cleo", writing=True), change_set():
        m.CeResponse.objects.filter(pk=row.pk).update(priority=8)
    page = bob.get(url("change", draft)).content.decode()
    assert "void, edited since" in page
    assert "That approval does not count any more" in page


def test_a_draft_that_was_not_sent_says_so_instead_of_a_button(bob: Client, draft: m.CeDraft) -> None:
    draft.reviews.all().delete()
    page = bob.get(url("change", draft)).content.decode()
    assert 'value="approve"' not in page
    assert "The draft was not sent for review yet." in page
    assert "The draft was not sent for review yet." in judge(bob, draft, "approve")


def test_the_reviewer_returns_with_a_comment(bob: Client, draft: m.CeDraft) -> None:
    assert "Say in a comment what should change." in judge(bob, draft, "return")
    assert "Too short" in judge(bob, draft, "return", text="Too short")


def test_a_row_is_commented(bob: Client, draft: m.CeDraft, row: m.CeResponse) -> None:
    sent = {"do": "comment", "table": "ce_response", "row": row.pk, "text": "Why so early?"}
    page = bob.post(url("review", draft), sent, follow=True).content.decode()
    assert page.count("Why so early?") == 2  # At the row, and in the review.


def test_who_edited_cannot_approve(ada: Client, draft: m.CeDraft, row: m.CeResponse) -> None:
    with open_draft(draft.pk, "ada", writing=True), change_set():
        m.CeResponse.objects.filter(pk=row.pk).update(priority=8)
    page = ada.get(url("change", draft)).content.decode()
    assert 'value="approve"' not in page
    assert "You edited this draft" in judge(ada, draft, "approve")


def test_an_ended_draft_keeps_its_review(bob: Client, draft: m.CeDraft) -> None:
    judge(bob, draft, "approve", text="Fine")
    m.CeDraft.objects.update(status="DISCARDED")
    page = bob.get(url("change", draft)).content.decode()
    assert "Fine" in page
    assert 'value="approve"' not in page
    assert bob.post(url("review", draft), {"do": "approve"}).status_code == 404


def test_reviewing_needs_its_right(draft: m.CeDraft) -> None:
    client = sign_in("eve")
    assert client.post(url("review", draft), {"do": "approve"}).status_code == 403
    assert client.post(url("send", draft), {"reviewer": "bob"}).status_code == 403


def read_notes(client: Client, draft: m.CeDraft) -> list[str]:
    asked: Any = client.get(url("publish", draft))
    return [note.message for note in asked.context["question"].notes]


def test_the_page_of_publishing_says_how_the_review_stands_and_demands_none_by_itself(
    ada: Client, bob: Client, draft: m.CeDraft, row: m.CeResponse
) -> None:
    end = "Publishing needs no approval here."
    asked = "cleo asked the group reviewers for a review, and nobody has approved these edits yet."
    assert read_notes(ada, draft)[0] == f"{asked} {end}"
    judge(bob, draft, "approve")
    assert read_notes(ada, draft)[0] == f"Approved by bob. {end}"
    with open_draft(draft.pk, "cleo", writing=True), change_set():
        m.CeResponse.objects.filter(pk=row.pk).update(priority=8)
    assert read_notes(ada, draft)[0] == f"{asked} {end}"
    draft.reviews.all().delete()
    assert read_notes(ada, draft)[0] == f"Nobody was asked to review this draft. {end}"
    assert " must " not in ada.get(url("publish", draft)).content.decode()


def test_where_approvals_are_needed_the_page_says_whether_somebody_was_asked(ada: Client, draft: m.CeDraft) -> None:
    m.CeConfig.objects.create(config_type="Releases", config_key="APPROVALS", config_value="1")
    page: Any = ada.get(url("publish", draft))
    [problem] = [each.message for each in page.context["question"].refusals]
    assert problem.startswith("1 person must approve these edits")
    assert "cleo asked the group reviewers" in problem
    draft.reviews.all().delete()
    page = ada.get(url("publish", draft))
    assert page.context["question"].refusals[0].message.endswith("Send the draft for review.")
    assert not any("review" in note for note in read_notes(ada, draft))


def test_who_cannot_approve_reads_who_can(ada: Client, bob: Client, draft: m.CeDraft) -> None:
    reader = User.objects.create_user("rita", is_staff=True)
    reader.user_permissions.set(Permission.objects.filter(codename="view_cedraft"))
    client = Client()
    client.force_login(reader)

    page = client.get(url("change", draft)).content.decode()
    assert "You may not approve drafts. ada, bob can approve it." in page
    assert "can approve it" not in bob.get(url("change", draft)).content.decode()
    User.objects.filter(username__in=["ada", "bob"]).update(is_active=False)
    page = client.get(url("change", draft)).content.decode()
    assert "Nobody else can approve it yet: " in page
    with open_draft(draft.pk, "bob", writing=True), change_set():
        m.CeResponse.objects.update(priority=9)
    User.objects.update(is_active=True)
    assert "only somebody else can approve it. ada can approve it." in bob.get(url("change", draft)).content.decode()


def test_beside_a_flow_in_a_draft_the_draft_answers(ada: Client, draft: m.CeDraft) -> None:
    make_flows(KINDS["collect"])
    page = reverse("admin:config_admin_ceintent_flow", args=["BOOKING"])
    assert "As it stands on this page, saved or not." in ada.get(page).content.decode()
    ada.post(url("enter", draft))
    assert "As it stands on this page, with the draft, saved or not." in ada.get(page).content.decode()
