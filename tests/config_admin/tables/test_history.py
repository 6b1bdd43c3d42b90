"""The library's own questions work on the history that releases write."""

import pytest
from django.utils import timezone

from config_admin import models as m
from tests.config_admin.builders import make

pytestmark = [pytest.mark.django_db, pytest.mark.dialects]


@pytest.fixture
def rule():
    rule = make(m.CeRule)
    for priority in (2, 1):
        rule.priority = priority
        rule.save()
    return rule


def test_the_newest_entry_comes_first(rule):
    assert [entry.priority for entry in rule.history.all()] == [1, 2, 100]


def test_entries_know_their_neighbours(rule):
    newest = rule.history.first()
    assert newest.prev_record.priority == 2
    assert newest.prev_record.next_record == newest
    assert newest.next_record is None


def test_two_entries_can_be_compared(rule):
    newest, before, _ = rule.history.all()
    delta = newest.diff_against(before)
    assert [(change.field, change.old, change.new) for change in delta.changes if change.field == "priority"] == [
        ("priority", 2, 1)
    ]


def test_rows_can_be_had_as_they_stood_at_a_time(rule):
    between = rule.history.all()[1].history_date
    assert [row.priority for row in m.CeRule.history.as_of(between)] == [2]
    rule.delete()
    assert list(m.CeRule.history.as_of(timezone.now())) == []


def test_a_deleted_rows_entry_holds_its_last_content(rule):
    pk = rule.pk
    rule.delete()
    entry = m.CeRule.history.filter(rule_id=pk).first()
    assert (entry.history_type, entry.priority, entry.match_pattern) == ("-", 1, "ANY")
    assert entry.instance.created_at == entry.created_at
