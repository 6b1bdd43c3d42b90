"""Who made the versions of rows, when and why: read with one query."""

from typing import Any

import pytest

from config_admin import models as m
from config_admin.releases.change_set import change_set
from config_admin.releases.models import Origin
from config_admin.releases.row_history import (
    find_last_version,
    find_last_versions,
    list_versions_after,
    read_versions,
)
from tests.config_admin.builders import make

pytestmark = pytest.mark.django_db


def version() -> int:
    return int(m.CeConfigHead.objects.get(pk=1).config_version)


@pytest.fixture
def rule() -> Any:
    """A rule that ada made, ben changed, and a file changed again."""
    with change_set(Origin.ADMIN, "ada", "first"):
        rule = make(m.CeRule, priority=1)
        make(m.CeIntent)
    for origin, author, reason, priority in (
        (Origin.ADMIN, "ben", "second", 2),
        (Origin.IMPORT, None, "third", 3),
    ):
        with change_set(origin, author, reason):
            rule.priority = priority
            rule.save()
    return rule


def test_the_last_version_says_who_made_it_why_and_in_which_release(rule: Any) -> None:
    last = find_last_version("ce_rule", rule.pk)

    assert (last.made_by, last.reason, last.config_version, last.sign) == ("Import", "third", version(), "~")
    assert not last.is_deleted


def test_the_version_of_an_earlier_release_is_found_too(rule: Any) -> None:
    key = "ce_rule", str(rule.pk)

    assert find_last_versions([key], version() - 1)[key].made_by == "ben"
    assert find_last_versions([key], version() - 3) == {}


def test_rows_of_several_tables_cost_one_query(rule: Any, django_assert_num_queries: Any) -> None:
    rows = [("ce_rule", rule.pk), ("ce_intent", "LOAN"), ("ce_rule", 4711), ("ce_rule", "no number"), ("no_table", 1)]

    with django_assert_num_queries(1):
        versions = find_last_versions(rows)

    assert {key: each.made_by for key, each in versions.items()} == {
        ("ce_rule", str(rule.pk)): "Import",
        ("ce_intent", "LOAN"): "ada",
    }


def test_the_versions_after_a_release_come_newest_first(rule: Any) -> None:
    assert [each.made_by for each in list_versions_after("ce_rule", rule.pk, version() - 2)] == ["Import", "ben"]


def test_a_version_has_the_content_of_its_release(rule: Any) -> None:
    key = "ce_rule", str(rule.pk)
    versions = [find_last_versions([key], version() - back)[key] for back in (0, 1, 2)]

    contents = read_versions(versions)

    assert [contents[each]["priority"] for each in versions] == [3, 2, 1]


def test_a_deleted_row_has_a_last_version_and_one_without_history_is_by_somebody(rule: Any) -> None:
    pk = rule.pk
    with change_set(Origin.ADMIN, "ada", "away"):
        rule.delete()

    assert (find_last_version("ce_rule", pk).is_deleted, find_last_version("ce_rule", pk).made_by) == (True, "ada")
    assert find_last_version("ce_rule", 4711).made_by == "somebody"
