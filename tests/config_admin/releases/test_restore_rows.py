"""Rows of an older release pass the save checks of today before they are put back."""

import pytest
from django.db import connection

from config_admin import models as m
from config_admin.releases.change_set import change_set
from config_admin.releases.queries import row_at
from config_admin.releases.restore_rows import RestoreRefused, check_restored_rows
from config_admin.releases.undo import revert_release, revert_row, roll_back
from tests.config_admin.builders import make, version

pytestmark = [pytest.mark.django_db, pytest.mark.dialects]


def add(model, **values):
    with change_set():
        return make(model, **values)


@pytest.fixture
def loan():
    return add(m.CeIntent, intent_code="LOAN")


@pytest.fixture
def broken(loan):
    """A rule whose pattern was never a pattern, mended since; and the version in which it was not."""
    rule = add(m.CeRule, rule_type="REGEX", match_pattern="(")
    wrong = version()
    with change_set():
        m.CeRule.objects.update(match_pattern="yes")
    return rule, wrong


@pytest.mark.parametrize("way", [roll_back, lambda wrong: revert_release(wrong + 1)])
def test_going_back_to_a_row_with_an_error_is_refused_and_changes_nothing(broken, way):
    rule, wrong = broken
    before = version()

    with pytest.raises(RestoreRefused) as caught:
        way(wrong)

    (finding,) = caught.value.findings
    assert (finding.table, finding.row, finding.field) == ("ce_rule", rule.pk, "match_pattern")
    assert finding.code == "REGEX_INVALID"
    assert f"ce_rule {rule.pk}, match_pattern: REGEX_INVALID" in str(caught.value)
    rule.refresh_from_db()
    assert (rule.match_pattern, version()) == ("yes", before)


def test_putting_one_row_back_is_refused_by_the_function_too(broken):
    rule, wrong = broken
    with pytest.raises(RestoreRefused):
        revert_row("ce_rule", rule.pk, wrong)


def test_a_script_may_take_what_there_was(broken):
    rule, wrong = broken
    assert roll_back(wrong, checked=False)
    rule.refresh_from_db()
    assert rule.match_pattern == "("


def test_a_weak_row_is_a_warning_and_goes_back(loan):
    rule = add(m.CeRule, state_code="NOWHERE", enabled=False)
    before = version()
    with change_set():
        m.CeRule.objects.update(state_code="ANY")

    findings = check_restored_rows({"ce_rule": {rule.pk: row_at(before, "ce_rule", rule.pk)}})

    assert {(finding.code, finding.is_error) for finding in findings} == {("STATE_UNKNOWN", False)}
    assert roll_back(before)


def test_rows_are_judged_in_the_configuration_that_they_make(loan):
    with change_set():
        make(m.CeIntent, intent_code="CARD")
        rule = make(m.CeRule, intent_code="CARD")
    both = version()
    with change_set():
        m.CeRule.objects.all().delete()
        m.CeIntent.objects.filter(pk="CARD").delete()
    roll_back(both)
    assert m.CeRule.objects.filter(pk=rule.pk).exists()


def test_what_would_go_is_looked_at_as_a_deletion(loan):
    before = version()
    add(m.CeIntent, intent_code="CARD")
    card = version()
    add(m.CeRule, intent_code="CARD")

    with pytest.raises(RestoreRefused) as caught:
        revert_release(card)

    assert [finding.code for finding in caught.value.findings] == ["IN_USE"]
    assert roll_back(before)


@pytest.mark.skipif("connection.vendor != 'sqlite'", reason="PostgreSQL refuses such a write.")
def test_a_value_that_its_column_cannot_hold_is_not_put_back(loan):
    rule = add(m.CeRule)
    with connection.cursor() as cursor:
        cursor.execute("UPDATE ce_rule SET priority = 'soon'")
    add(m.CeIntent, intent_code="CARD")
    bad = version()
    with change_set():
        m.CeRule.objects.update(priority=5)

    with pytest.raises(RestoreRefused) as caught:
        roll_back(bad)

    (finding,) = caught.value.findings
    assert (finding.row, finding.field, finding.code) == (rule.pk, "priority", "SHAPE_INVALID")
    assert "'soon'" in finding.message
