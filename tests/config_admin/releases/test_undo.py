"""Undo of a row, of a release, and of all since one."""

import pytest

from config_admin import models as m
from config_admin.releases.change_set import change_set
from config_admin.releases.diff import differences
from config_admin.releases.queries import NoSuchRelease
from config_admin.releases.restore_rows import RowsBelongTogether
from config_admin.releases.undo import RevertConflict, revert_release, revert_row, roll_back
from tests.config_admin.builders import MODELS, changed_rows, edit, make, version

pytestmark = [pytest.mark.django_db, pytest.mark.dialects]


def change(row, **values):
    with change_set():
        for name, value in values.items():
            setattr(row, name, value)
        row.save()
    return version()


@pytest.fixture
def rule():
    with change_set():
        return make(m.CeRule)


def test_a_row_is_put_back(rule):
    before = version()
    change(rule, priority=1)
    other = change(make(m.CePolicy), priority=4)
    release = revert_row("ce_rule", rule.pk, before, author="ada", checked=False)
    rule.refresh_from_db()
    assert (rule.priority, rule.updated_by) == (100, "ada")
    assert (release.origin, release.config_version) == ("REVERT", other + 1)
    assert release.reason == f"ce_rule {rule.pk} as in version {before}"
    assert changed_rows(version()) == [("ce_rule", rule.pk)]
    assert m.CePolicy.objects.get().priority == 4


def test_a_deleted_row_comes_back_under_its_number(rule):
    before, pk = version(), rule.pk
    rule.delete()
    revert_row("ce_rule", pk, before, checked=False)
    assert [entry.history_type for entry in m.CeRule.objects.get(pk=pk).history.all()] == ["+", "-", "+"]


def test_a_row_that_is_so_already_makes_no_release(rule):
    before = version()
    assert revert_row("ce_rule", rule.pk, before, checked=False) is None
    assert version() == before


def test_a_row_that_was_not_there_goes(rule):
    revert_row("ce_rule", rule.pk, version() - 1, checked=False)
    assert not m.CeRule.objects.exists()


def test_a_release_is_taken_back(rule):
    with change_set():
        policy = make(m.CePolicy)
        rule.priority = 1
        rule.save()
        intent = make(m.CeIntent)
    bad = version()
    intent_later = change(make(m.CeIntent, intent_code="OTHER"), priority=9)
    release = revert_release(bad, checked=False)
    rule.refresh_from_db()
    assert rule.priority == 100
    assert not m.CePolicy.objects.filter(pk=policy.pk).exists()
    assert not m.CeIntent.objects.filter(pk=intent.pk).exists()
    assert m.CeIntent.objects.get().priority == 9
    assert release.config_version == intent_later + 1


def test_rows_changed_since_are_told_and_nothing_is_done(rule):
    bad = change(rule, priority=1)
    last = change(rule, priority=2)
    with pytest.raises(RevertConflict, match=f"Rule {rule.pk}") as conflict:
        revert_release(bad, checked=False)
    assert conflict.value.rows == [("ce_rule", rule.pk)]
    assert version() == last


def test_a_field_that_was_changed_since_stays_when_the_release_did_not_touch_it(rule):
    bad = change(rule, priority=1)
    change(rule, action_value="LATER")
    revert_release(bad, checked=False)
    rule.refresh_from_db()
    assert (rule.priority, rule.action_value) == (100, "LATER")


def test_one_of_two_fields_that_is_as_it_was_before_is_no_conflict(rule):
    bad = change(rule, priority=1, action_value="WRONG")
    change(rule, priority=100)
    revert_release(bad, checked=False)
    rule.refresh_from_db()
    assert (rule.priority, rule.action_value) == (100, "DONE")


def test_a_row_that_was_deleted_since_is_a_conflict_when_it_was_changed_before(rule):
    bad, pk = change(rule, priority=1), rule.pk
    with change_set():
        rule.delete()
    with pytest.raises(RevertConflict) as conflict:
        revert_release(bad, checked=False)
    assert conflict.value.rows == [("ce_rule", pk)]


def test_force_takes_back_rows_changed_since_too(rule):
    bad = change(rule, priority=1)
    change(rule, priority=2)
    revert_release(bad, force=True, checked=False)
    rule.refresh_from_db()
    assert rule.priority == 100


def test_what_is_taken_back_already_is_no_conflict(rule):
    before = version()
    bad = change(rule, priority=1)
    revert_row("ce_rule", rule.pk, before, checked=False)
    assert revert_release(bad, checked=False) is None


def test_a_tool_is_not_taken_from_the_row_that_belongs_to_it():
    with change_set():
        tool = make(m.CeMcpTool)
    bad = version()
    with change_set():
        make(m.CeMcpDbTool, tool=tool)
    with pytest.raises(RowsBelongTogether):
        revert_release(bad, checked=False)
    assert m.CeMcpDbTool.objects.get().tool == tool


@pytest.mark.parametrize("model", MODELS)
def test_rows_of_every_table_are_as_they_were(model):
    with change_set():
        changed = make(model)
    before, pk = version(), changed.pk
    created = changed.created_at
    with change_set():
        model.objects.filter(pk=pk).update(**edit(model))
    release = roll_back(before, author="ada", reason="too much", checked=False)
    assert differences(before, version()) == {}
    assert model.objects.get(pk=pk).created_at == created
    assert (release.origin, release.author, release.reason) == ("ROLLBACK", "ada", "too much")
    assert release.content_hash == m.CeRelease.objects.get(pk=before).content_hash
    entry = model.history.filter(**{model._meta.pk.name: pk}).latest()
    assert (entry.history_type, entry.config_version) == ("~", version())


@pytest.mark.parametrize("model", MODELS)
def test_rows_that_were_deleted_come_back_and_new_ones_go(model):
    before = version()
    with change_set():
        row = make(model)
    between, pk = version(), row.pk
    roll_back(before, checked=False)
    assert not model.objects.filter(pk=pk).exists()
    roll_back(between, checked=False)
    assert model.objects.filter(pk=pk).exists()
    assert differences(between, version()) == {}


def test_rows_may_swap_unique_names():
    with change_set():
        first, two = make(m.CeConfig, config_key="A"), make(m.CeConfig, config_key="B")
    before = version()
    with change_set():
        for row, key in ((first, "C"), (two, "A"), (first, "B")):
            row.config_key = key
            row.save()
    roll_back(before, checked=False)
    first.refresh_from_db()
    assert first.config_key == "A"


def test_what_the_engine_wrote_stays():
    server = make(m.CeMcpServer)
    with change_set():
        m.CeMcpServer.objects.update(timeout_ms=5)
    before = version()
    with change_set():
        m.CeMcpServer.objects.update(timeout_ms=6, last_status="UP")
    roll_back(before, checked=False)
    server.refresh_from_db()
    assert (server.timeout_ms, server.last_status) == (5, "UP")


def test_nothing_to_do_makes_no_release():
    before = version()
    assert roll_back(before, checked=False) is None
    assert version() == before


def test_an_unknown_release_changes_nothing():
    before = version()
    with pytest.raises(NoSuchRelease):
        roll_back(12345)
    assert version() == before


def test_it_says_what_it_did_when_nobody_else_does():
    before = version()
    with change_set():
        make(m.CeRule)
    assert roll_back(before, checked=False).reason == f"Roll back to version {before}"
