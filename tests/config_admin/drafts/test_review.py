"""A draft is sent, commented, approved or returned by others; every entry is kept."""

from typing import Any

import pytest
from django.contrib.auth.models import Group, Permission, User
from django.core import mail
from django.db import connection
from django.test.utils import CaptureQueriesContext

from config_admin import models as m
from config_admin.drafts.conditions import PublicationRefused
from config_admin.drafts.edits import hash_edits
from config_admin.drafts.models import ReviewKind
from config_admin.drafts.moves_page import store_move
from config_admin.drafts.open_draft import open_draft
from config_admin.drafts.publish_draft import discard_draft, publish_draft
from config_admin.drafts.review import (
    ReviewRefused,
    add_comment,
    add_entry,
    judge_draft,
    list_approvers,
    list_reviewers,
    list_waiting_drafts,
    send_for_review,
)
from config_admin.releases.change_set import change_set
from convengine.server.jobs.background import background
from tests.config_admin.builders import make

pytestmark = pytest.mark.django_db
APPROVED, RETURNED = ReviewKind.APPROVED, ReviewKind.RETURNED


def make_user(name: str, group: str = "analyst") -> User:
    user = User.objects.create_user(name, f"{name}@example.com", is_staff=True)
    user.groups.add(Group.objects.get(name=group))
    return user


@pytest.fixture
def ada() -> User:
    return make_user("ada")


@pytest.fixture
def bob() -> User:
    return make_user("bob", "qa")


@pytest.fixture
def unsent_draft(ada: User) -> m.CeDraft:
    with change_set():
        make(m.CeIntent, intent_code="HOURS")
    draft = m.CeDraft.objects.create(title="Christmas hours", created_by="ada")
    edit(draft, ada, "When we are open")
    return draft


@pytest.fixture
def draft(unsent_draft: m.CeDraft, ada: User) -> m.CeDraft:
    """Sent for review, to somebody whom no test asks."""
    add_entry(unsent_draft, ReviewKind.SENT, ada, reviewers=["zoe"])
    return unsent_draft


@pytest.mark.parametrize(
    "said", [(), (ReviewKind.COMMENT,), (ReviewKind.RETURNED,), (ReviewKind.COMMENT, ReviewKind.RETURNED)]
)
def test_a_draft_that_was_not_sent_for_review_cannot_be_approved(
    unsent_draft: m.CeDraft, ada: User, bob: User, said: tuple[ReviewKind, ...]
) -> None:
    for kind in said:
        add_entry(unsent_draft, kind, bob, "Too short")
    with pytest.raises(ReviewRefused, match="not sent for review yet"):
        judge_draft(unsent_draft.pk, bob, APPROVED)
    send_for_review(unsent_draft.pk, ada, group="qa")
    judge_draft(unsent_draft.pk, bob, APPROVED)
    assert list_approvers(unsent_draft, hash_edits(unsent_draft)) == ["bob"]


def edit(draft: m.CeDraft, user: User, description: str) -> None:
    with open_draft(draft.pk, user, writing=True), change_set():
        m.CeIntent.objects.filter(pk="HOURS").update(description=description)


@pytest.fixture
def two_approvals(draft: m.CeDraft) -> None:
    m.CeConfig.objects.create(config_type="Releases", config_key="APPROVALS", config_value="2")


def test_a_draft_waits_for_its_reviewers(draft: m.CeDraft, ada: User, bob: User) -> None:
    send_for_review(draft.pk, ada, ["bob"], text="Please look")
    assert list_waiting_drafts(bob) == [draft]
    assert list_waiting_drafts(ada) == []
    judge_draft(draft.pk, bob, APPROVED)
    assert list_waiting_drafts(bob) == []


def test_a_draft_waits_for_a_group_until_each_member_answered(draft: m.CeDraft, ada: User, bob: User) -> None:
    send_for_review(draft.pk, ada, group="qa")
    assert list_waiting_drafts(bob) == [draft]
    judge_draft(draft.pk, bob, RETURNED, "Too short")
    assert list_waiting_drafts(bob) == []
    send_for_review(draft.pk, ada, group="qa")
    assert list_waiting_drafts(bob) == [draft]


def test_a_draft_is_sent_to_people_who_may_review(unsent_draft: m.CeDraft, ada: User) -> None:
    make_user("eve", "operator")
    own = make_user("own", "operator")
    own.user_permissions.add(Permission.objects.get(codename="review_draft"))
    User.objects.create_superuser("root")
    with CaptureQueriesContext(connection) as queries:
        assert [user.username for user in list_reviewers()] == ["ada", "own", "root"]
    assert len(queries) == 1
    for reviewers in ([], ["eve"], ["nobody"]):
        with pytest.raises(ReviewRefused):
            send_for_review(unsent_draft.pk, ada, reviewers)
    with pytest.raises(ReviewRefused, match="These users edited the draft, so only others can review it: ada"):
        send_for_review(unsent_draft.pk, ada, ["ada", "own"])
    assert not unsent_draft.reviews.exists()


def test_publishing_needs_approvals_of_others(draft: m.CeDraft, ada: User, bob: User, two_approvals: None) -> None:
    judge_draft(draft.pk, bob, APPROVED)
    with pytest.raises(ReviewRefused, match="You edited this draft"):
        judge_draft(draft.pk, ada, APPROVED)
    with pytest.raises(PublicationRefused, match=r"2 people must approve these edits.*Approved by bob"):
        publish_draft(draft.pk, ada)
    judge_draft(draft.pk, make_user("eve"), APPROVED)
    release = publish_draft(draft.pk, ada, "agreed")
    assert (release.author, release.reason) == ("ada", "Christmas hours: agreed (approved by bob, eve)")
    assert [entry.kind for entry in draft.reviews.order_by("id")] == ["SENT", "APPROVED", "APPROVED", "PUBLISHED"]


def test_an_approval_by_the_same_person_counts_once(
    draft: m.CeDraft, ada: User, bob: User, two_approvals: None
) -> None:
    judge_draft(draft.pk, bob, APPROVED)
    judge_draft(draft.pk, bob, APPROVED)
    assert list_approvers(draft, hash_edits(draft)) == ["bob"]
    with pytest.raises(PublicationRefused):
        publish_draft(draft.pk, ada)


def test_an_edit_voids_approvals_and_its_undo_restores_them(draft: m.CeDraft, ada: User, bob: User) -> None:
    judge_draft(draft.pk, bob, APPROVED)
    edit(draft, ada, "Something else")
    assert list_approvers(draft, hash_edits(draft)) == []
    edit(draft, ada, "When we are open")
    assert list_approvers(draft, hash_edits(draft)) == ["bob"]


def test_who_edits_after_approving_does_not_count(draft: m.CeDraft, ada: User, bob: User) -> None:
    judge_draft(draft.pk, bob, APPROVED)
    edit(draft, bob, "Something else")
    edit(draft, ada, "When we are open")
    draft.refresh_from_db()
    assert list_approvers(draft, hash_edits(draft)) == []


def test_a_move_of_conversations_is_an_edit(draft: m.CeDraft, bob: User) -> None:
    judge_draft(draft.pk, bob, APPROVED)
    store_move(draft.pk, ("FEES", "IDLE"), ("UNKNOWN", "UNKNOWN"), "eve")
    draft.refresh_from_db()
    assert list_approvers(draft, hash_edits(draft)) == []
    assert draft.editors == ["ada", "eve"]


def test_who_changes_nothing_in_a_draft_is_no_editor(draft: m.CeDraft, bob: User) -> None:
    with open_draft(draft.pk, bob, writing=True):
        pass
    judge_draft(draft.pk, bob, APPROVED)
    assert list_approvers(draft, hash_edits(draft)) == ["bob"]


def test_a_reviewer_judges_what_they_saw(draft: m.CeDraft, ada: User, bob: User) -> None:
    seen = hash_edits(draft)
    edit(draft, ada, "Something else")
    with pytest.raises(ReviewRefused, match="changed meanwhile"):
        judge_draft(draft.pk, bob, APPROVED, edits_hash=seen)


def test_a_returned_draft_is_not_published_where_approvals_are_needed(
    draft: m.CeDraft, ada: User, bob: User, two_approvals: None
) -> None:
    judge_draft(draft.pk, bob, APPROVED)
    judge_draft(draft.pk, make_user("eve"), APPROVED)
    judge_draft(draft.pk, make_user("dan"), RETURNED, "The hours are wrong")
    with pytest.raises(PublicationRefused, match="dan returned the draft"):
        publish_draft(draft.pk, ada)
    send_for_review(draft.pk, ada, ["dan"], text="They are right")
    publish_draft(draft.pk, ada)


def test_a_return_says_why(draft: m.CeDraft, bob: User) -> None:
    with pytest.raises(ReviewRefused, match="what should change"):
        judge_draft(draft.pk, bob, RETURNED, " ")


def test_comments_are_about_the_draft_or_a_row(draft: m.CeDraft, bob: User) -> None:
    add_comment(draft.pk, bob, "Good")
    add_comment(draft.pk, bob, "Shorter?", ("ce_intent", "HOURS"))
    with pytest.raises(ReviewRefused):
        add_comment(draft.pk, bob, "What?", ("ce_intent", "OTHER"))
    comments = draft.reviews.filter(kind=ReviewKind.COMMENT).order_by("id")
    assert list(comments.values_list("table_name", "row_pk", "text")) == [
        ("", "", "Good"),
        ("ce_intent", "HOURS", "Shorter?"),
    ]


def test_an_ended_draft_is_not_reviewed(draft: m.CeDraft, bob: User) -> None:
    discard_draft(draft.pk)
    with pytest.raises(LookupError):
        judge_draft(draft.pk, bob, APPROVED)


def test_a_draft_that_lowers_the_number_of_approvals_needs_the_present_number(
    draft: m.CeDraft, ada: User, two_approvals: None
) -> None:
    with open_draft(draft.pk, ada, writing=True), change_set():
        m.CeConfig.objects.filter(config_key="APPROVALS").update(config_value="0")
    with pytest.raises(PublicationRefused):
        publish_draft(draft.pk, ada)


def test_reviewers_and_owner_get_mail(
    draft: m.CeDraft, ada: User, bob: User, settings: Any, django_capture_on_commit_callbacks: Any
) -> None:
    settings.CONVENGINE = {**settings.CONVENGINE, "NOTIFICATION_FROM": "desk@example.com"}
    with django_capture_on_commit_callbacks(execute=True):
        send_for_review(draft.pk, ada, ["bob"], text="Please look", url="https://example.com/draft")
        judge_draft(draft.pk, bob, APPROVED, "Fine")
    background.finish()
    sent = {message.to[0]: message for message in mail.outbox}
    assert sent["bob@example.com"].subject == "Review “Christmas hours”"
    assert "https://example.com/draft" in sent["bob@example.com"].body
    assert "bob approved the draft" in sent["ada@example.com"].body


def test_without_a_sender_nobody_gets_mail(
    draft: m.CeDraft, ada: User, bob: User, django_capture_on_commit_callbacks: Any
) -> None:
    with django_capture_on_commit_callbacks(execute=True) as calls:
        send_for_review(draft.pk, ada, ["bob"])
    assert calls == []
