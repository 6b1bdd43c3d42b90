"""A draft becomes one release, or none."""

import pytest
from django.contrib.auth.models import User

from config_admin import models as m
from config_admin.drafts.edits import DraftConflict
from config_admin.drafts.open_draft import DraftEnded, open_draft
from config_admin.drafts.publish_draft import DraftEmpty, discard_draft, publish_draft
from config_admin.releases import head
from config_admin.releases.change_set import change_set
from config_admin.releases.restore_rows import RestoreRefused
from tests.config_admin.builders import make

pytestmark = [pytest.mark.django_db, pytest.mark.dialects]


@pytest.fixture
def intent():
    with change_set():
        return make(m.CeIntent, intent_code="HOURS")


@pytest.fixture
def draft(intent):
    draft = m.CeDraft.objects.create(title="Christmas hours")
    with open_draft(draft.pk, User.objects.create(username="ada"), writing=True), change_set():
        m.CeIntent.objects.filter(pk="HOURS").update(description="When we are open")
        make(m.CeIntent, intent_code="GIFTS")
    return draft


def test_one_release_with_the_editors_as_authors(draft, intent):
    before = head.newest()
    bob = User.objects.create(username="bob")
    release = publish_draft(draft.pk, bob, "agreed with the shop")
    draft.refresh_from_db()

    assert (release.pk, release.origin, release.author) == (before + 1, "DRAFT", "bob")
    assert release.reason == "Christmas hours: agreed with the shop"
    assert (draft.status, draft.config_version) == ("PUBLISHED", release.pk)
    assert m.CeIntent.objects.get(pk="HOURS").description == "When we are open"
    assert m.CeIntent.objects.get(pk="GIFTS").history.get().history_user.username == "ada"
    with pytest.raises(DraftEnded):
        publish_draft(draft.pk)


def test_a_conflict_publishes_nothing(draft, intent):
    m.CeIntent.objects.filter(pk="HOURS").update(description="Meanwhile")
    before = head.newest()
    with pytest.raises(DraftConflict):
        publish_draft(draft.pk)
    assert head.newest() == before
    assert not m.CeIntent.objects.filter(pk="GIFTS").exists()


def test_rows_that_do_not_fit_publish_nothing(draft, intent):
    m.CeDraftEdit.objects.filter(row_pk="GIFTS").update(
        after={**draft.edits.get(row_pk="GIFTS").after, "description": ""}
    )
    before = head.newest()
    with pytest.raises(RestoreRefused):
        publish_draft(draft.pk)
    draft.refresh_from_db()
    assert (head.newest(), draft.status) == (before, "OPEN")


def test_a_draft_without_a_difference_is_refused(intent):
    with pytest.raises(DraftEmpty):
        publish_draft(m.CeDraft.objects.create(title="Nothing").pk)


def test_a_discarded_draft_changes_nothing(draft, intent):
    before = head.read()
    discard_draft(draft.pk)
    draft.refresh_from_db()
    assert (head.read(), draft.status, draft.edits.count()) == (before, "DISCARDED", 2)
