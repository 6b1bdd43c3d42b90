"""One row, or one release, is taken back; what came later is not undone in silence."""

import pytest

from config_admin import models as m
from config_admin.releases.change_set import change_set
from config_admin.releases.restore_rows import RowsBelongTogether
from config_admin.releases.revert import RevertConflict, revert_release, revert_row
from tests.config_admin.builders import changed_rows, make, version

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
