"""Two releases are compared row by row and field by field."""

import pytest

from config_admin import models as m
from config_admin.releases.change_set import change_set
from config_admin.releases.diff import differences
from config_admin.releases.queries import NoSuchRelease
from tests.config_admin.builders import make, rules, version

pytestmark = pytest.mark.django_db


@pytest.fixture
def story():
    """A release with two rules, and one in which one is changed, one removed and an intent added."""
    with change_set(reason="first"):
        remaining, gone = make(m.CeRule), make(m.CeRule)
    first, gone_pk = version(), gone.pk
    with change_set("ADMIN", "ada", "second"):
        remaining.priority, remaining.action_value = 3, "ELSEWHERE"
        remaining.save()
        gone.delete()
        make(m.CeIntent)
    return first, version(), remaining.pk, gone_pk


def test_added_removed_and_changed_rows_are_told_apart(story):
    first, second, remaining, gone = story
    by_table = differences(first, second)
    assert list(by_table) == ["ce_intent", "ce_rule"]
    assert [(row.pk, row.how) for row in by_table["ce_intent"]] == [("LOAN", "added")]
    assert [(row.pk, row.how, row.fields) for row in by_table["ce_rule"]] == [
        (remaining, "changed", {"priority": (100, 3), "action_value": ("DONE", "ELSEWHERE")}),
        (gone, "removed", {}),
    ]


def test_the_other_way_round_adds_what_was_removed(story):
    first, second, _, gone = story
    added = [row.pk for row in differences(second, first)["ce_rule"] if row.how == "added"]
    assert added == [gone]


def test_a_release_does_not_differ_from_itself(story):
    assert differences(story[1], story[1]) == {}


def test_version_zero_is_the_empty_configuration(story):
    assert [(row.pk, row.how) for row in differences(0, story[0])["ce_rule"]] == [
        (story[2], "added"),
        (story[3], "added"),
    ]


def test_an_unknown_release_is_told():
    with pytest.raises(NoSuchRelease, match="Release 999 does not exist"):
        differences(0, 999)


def test_comparing_reads_what_differs_only(django_assert_max_num_queries):
    with change_set():
        made_rules = m.CeRule.objects.bulk_create(rules(3000))
    before = version()
    with change_set():
        made_rules[7].priority = 1
        made_rules[7].save()
    after = version()
    with django_assert_max_num_queries(4):
        assert [row.how for row in differences(before, after)["ce_rule"]] == ["changed"]
