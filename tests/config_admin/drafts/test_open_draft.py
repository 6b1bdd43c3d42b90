"""A draft is edited in the tables of a transaction that is rolled back: nobody else sees it, and its edits stay."""

import pytest
from django.contrib.auth.models import User
from django.db import connection
from django.test.utils import CaptureQueriesContext

from config_admin import models as m
from config_admin.drafts.edits import merge_edits
from config_admin.drafts.named_configurations import read_configuration
from config_admin.drafts.open_draft import DraftEnded, RowsCollide, open_draft
from config_admin.drafts.publish_draft import discard_draft
from config_admin.releases import head
from config_admin.releases.active import snapshots
from config_admin.releases.change_set import change_set, get_released_head
from config_admin.releases.undo import roll_back
from config_admin.releases.working_copy import find_working_copy
from config_admin.transfer.apply_import import import_document
from config_admin.transfer.document import Document, ImportMode, locate_rows
from config_admin.transfer.import_plan import get_highest_id
from convengine.server.interfaces.configuration import ConfigurationName
from tests.config_admin.builders import make

pytestmark = [pytest.mark.django_db, pytest.mark.dialects]


@pytest.fixture
def rule():
    with change_set():
        return make(m.CeRule)


@pytest.fixture
def draft():
    return m.CeDraft.objects.create(title="Christmas hours")


def edit(draft, row, *, decides=True, **values):
    with open_draft(draft.pk, writing=True, decides=decides), change_set():
        stored = type(row).objects.get(pk=row.pk)
        for name, value in values.items():
            setattr(stored, name, value)
        stored.save()


def priority(rule):
    return m.CeRule.objects.get(pk=rule.pk).priority


def test_an_edit_is_in_the_draft_and_not_live(rule, draft):
    before, counted = head.newest(), head.read()
    edit(draft, rule, priority=7)

    assert (priority(rule), head.newest(), head.read()) == (100, before, counted)
    assert snapshots.current().tables["ce_rule"].by_pk[rule.pk].priority == 100
    assert read_configuration(ConfigurationName("draft", draft.pk)).tables["ce_rule"].by_pk[rule.pk].priority == 7
    with open_draft(draft.pk):
        assert priority(rule) == 7
        assert snapshots.current().tables["ce_rule"].by_pk[rule.pk].priority == 7
        assert snapshots.latest.tables["ce_rule"].by_pk[rule.pk].priority == 7
    assert priority(rule) == 100


def test_reading_a_draft_stores_nothing(rule, draft):
    with open_draft(draft.pk), change_set():
        m.CeRule.objects.filter(pk=rule.pk).update(priority=7)
    assert not draft.edits.exists()


def test_a_failed_change_stores_nothing(rule, draft):
    def fail():
        with open_draft(draft.pk, writing=True), change_set():
            m.CeRule.objects.filter(pk=rule.pk).update(priority=7)
            raise ValueError("no")

    with pytest.raises(ValueError, match="no"):
        fail()
    assert not draft.edits.exists()
    assert priority(rule) == 100


def test_several_edits_of_a_row_are_one_and_an_undone_one_is_none(rule, draft):
    ada = User.objects.create(username="ada")
    with open_draft(draft.pk, ada, "Quieter", writing=True), change_set():
        m.CeRule.objects.filter(pk=rule.pk).update(priority=7)
    edit(draft, rule, priority=8)
    assert [(e.before["priority"], e.after["priority"]) for e in draft.edits.all()] == [(100, 8)]
    edit(draft, rule, priority=100)
    assert not draft.edits.exists()


def test_rows_are_added_and_deleted(rule, draft):
    with open_draft(draft.pk, writing=True), change_set():
        new = make(m.CeRule, priority=1)
        m.CeRule.objects.filter(pk=rule.pk).delete()
    assert list(m.CeRule.objects.values_list("pk", flat=True)) == [rule.pk]
    live = make(m.CeRule)
    assert live.pk > new.pk  # The number of the draft's row stays its own.
    with open_draft(draft.pk):
        assert set(m.CeRule.objects.values_list("pk", flat=True)) == {new.pk, live.pk}


def test_a_change_of_a_live_row_shows_below_the_draft(rule, draft):
    edit(draft, rule, priority=7)
    m.CeRule.objects.filter(pk=rule.pk).update(description="live")
    with open_draft(draft.pk):
        stored = m.CeRule.objects.get(pk=rule.pk)
    assert (stored.priority, stored.description) == (7, "live")
    assert not merge_edits(draft).conflicts


def test_a_field_that_both_changed_is_a_conflict_until_the_row_is_saved_again(rule, draft):
    edit(draft, rule, priority=7)
    m.CeRule.objects.filter(pk=rule.pk).update(priority=8)
    assert list(merge_edits(draft).conflicts) == [("ce_rule", rule.pk)]
    edit(draft, rule, priority=9)
    assert not merge_edits(draft).conflicts


def test_who_does_not_see_a_conflict_does_not_decide_it_in_a_field_that_they_leave(rule, draft):
    edit(draft, rule, priority=7)
    m.CeRule.objects.filter(pk=rule.pk).update(priority=8)
    edit(draft, rule, decides=False, description="Quieter")
    assert [list(merge.find_fields()) for merge in merge_edits(draft).conflicts.values()] == [["priority"]]
    edit(draft, rule, decides=False, priority=9)
    assert not merge_edits(draft).conflicts


def test_a_change_that_was_made_live_too_is_no_edit_any_more(rule, draft):
    edit(draft, rule, priority=7)
    m.CeRule.objects.filter(pk=rule.pk).update(priority=7)
    assert not merge_edits(draft).wanted


def test_a_change_outside_of_the_application_gets_its_release_first(rule, draft):
    edit(draft, rule, priority=7)
    before = head.newest()
    with connection.cursor() as cursor:
        cursor.execute("UPDATE ce_rule SET description = 'by hand'")
    with open_draft(draft.pk):
        assert m.CeRule.objects.get(pk=rule.pk).description == "by hand"
    assert head.newest() == before + 1
    assert m.CeRelease.objects.get(pk=before + 1).origin == "OUT_OF_BAND"


def test_an_ended_draft_is_not_opened(draft):
    discard_draft(draft.pk)
    with pytest.raises(DraftEnded), open_draft(draft.pk):
        pass


def test_a_change_that_failed_after_it_was_read_stores_nothing(rule, draft):
    def fail():
        with change_set():
            m.CeRule.objects.filter(pk=rule.pk).update(priority=7)
            get_released_head()  # As the message about a saved row does.
            raise ValueError("no")

    with open_draft(draft.pk, writing=True):
        with pytest.raises(ValueError, match="no"):
            fail()
        assert snapshots.current().tables["ce_rule"].by_pk[rule.pk].priority == 100
    assert not draft.edits.exists()


def test_an_import_starts_from_the_rows_of_the_draft(rule, draft):
    with change_set():
        make(m.CeIntent, intent_code=rule.intent_code)
    edit(draft, rule, priority=7)
    with CaptureQueriesContext(connection) as queries, open_draft(draft.pk, writing=True):
        document = Document(
            locate_rows({"ce_rule": [{"rule_id": rule.pk, "description": "imported"}]}), ImportMode.UPDATE
        )
        import_document(document, author="ada", reason="more")
    after = draft.edits.get().after
    assert (after["priority"], after["description"]) == (7, "imported")
    # A lock of the head would let this page and a live change wait for each other.
    assert not [query for query in queries if "ce_config_head" in query["sql"] and "FOR UPDATE" in query["sql"]]


def test_a_roll_back_takes_the_edits_of_the_draft_back_too(rule, draft):
    before = head.newest()
    edit(draft, rule, priority=7)
    with open_draft(draft.pk, writing=True):
        roll_back(before, checked=False)
    assert not draft.edits.exists()


def test_a_live_change_during_an_edit_is_not_taken_back(rule, draft):
    with open_draft(draft.pk, writing=True), change_set():
        m.CeRule.objects.filter(pk=rule.pk).update(priority=7)
        copy = find_working_copy()
        # Another connection makes a release meanwhile; here it is done when the draft has left the tables.
        copy.later.append(lambda: m.CeRule.objects.filter(pk=rule.pk).update(description="live"))
    merged = merge_edits(draft).wanted["ce_rule"][rule.pk]
    assert (merged["priority"], merged["description"]) == (7, "live")


def test_the_ids_of_new_rows_are_not_given_again(rule, draft):
    with open_draft(draft.pk, writing=True), change_set():
        new = make(m.CeRule, rule_id=rule.pk + 50)
    assert get_highest_id("ce_rule") == new.pk
    assert make(m.CeRule).pk > new.pk


def test_a_unique_name_that_was_made_live_too_is_told(rule, draft):
    values = {"config_type": "Releases", "config_key": "MODE", "config_value": "LIVE"}
    with open_draft(draft.pk, writing=True), change_set():
        m.CeConfig.objects.create(**values)
    with change_set():
        m.CeConfig.objects.create(**values)
    with pytest.raises(RowsCollide), open_draft(draft.pk):
        pass


def test_an_edit_from_before_a_new_column_still_merges(rule, draft):
    edit(draft, rule, priority=7)
    stored = draft.edits.get()
    del stored.before["description"], stored.after["description"]
    stored.save()
    assert merge_edits(draft).wanted["ce_rule"][rule.pk]["priority"] == 7


def test_the_same_new_intent_live_and_in_the_draft_differs_only_in_what_people_wrote(draft):
    with open_draft(draft.pk, writing=True), change_set():
        make(m.CeIntent, intent_code="PIES", description="Pies")
    with change_set():
        make(m.CeIntent, intent_code="PIES", description="Pies of the day")
    (merge,) = merge_edits(draft).conflicts.values()
    assert list(merge.find_fields()) == ["description"]

    with change_set():
        m.CeIntent.objects.filter(pk="PIES").update(description="Pies")
    merged = merge_edits(draft)
    assert (merged.conflicts, merged.wanted) == ({}, {})
