"""Reports for programs: the numbers of the page, within the workspace of the key."""

from datetime import timedelta
from typing import Any

import pytest
from django.test import Client
from django.utils import timezone
from django.utils.timezone import localdate

from audit.reports.counting import count_new_turns
from audit.reports.measures import MEASURES
from audit.reports.topics import TOPICS, ReportTopic
from tests.api import make_key
from tests.audit.reports.counts import count
from tests.audit.reports.test_page import talk

pytestmark = pytest.mark.django_db


def call(query: dict[str, Any] | None = None, scopes: str = "audit", workspace: str = "default") -> Any:
    secret = make_key(workspace, scopes=[scopes])
    return Client().get("/api/v1/reports", query, headers={"Authorization": f"Api-Key {secret}"})


def test_the_report_has_every_measure() -> None:
    talk("hours|what?|fees", "fees")
    document = call({"days": 7}).json()
    assert set(document["total"]) == set(MEASURES)
    assert (document["total"]["turns"], document["total"]["conversations"]) == (4, 2)
    assert [period["numbers"]["turns"] for period in document["periods"]] == [0] * 6 + [4]
    assert document["forms"] == []


def test_numbers_that_are_not_counted_for_a_group_are_null() -> None:
    talk("hours|what?|fees", "fees")
    list(count_new_turns(timedelta()))
    # A fast machine may have no step of a millisecond.
    count("STEP", "RulesStep:20", 1, days=0, release=1)
    document = call({"days": 7}).json()

    def read_numbers(key: str) -> dict[str, Any]:
        return {name: value for name, value in document[key][0]["numbers"].items() if value is not None}

    assert read_numbers("notUnderstoodStates") == {"turns": 4, "not_understood": 1}
    assert set(read_numbers("steps")) == {"turns", "mean_ms", "median_ms", "p95_ms", "slow"}
    assert set(read_numbers("intents")) == {name for name, value in document["total"].items() if value is not None}


@pytest.mark.parametrize("topic", TOPICS)
def test_a_table_shows_only_what_is_counted_for_its_groups(topic: ReportTopic) -> None:
    for table in topic.tables:
        known = table.dimension.measures or set(MEASURES)
        assert {measure.name for measure in table.measures} <= known


def test_dates_choose_the_period() -> None:
    talk("hours")
    today = localdate()
    assert call({"first": today, "last": today}).json()["total"]["turns"] == 1
    assert call({"first": today - timedelta(days=2)}).json()["total"]["turns"] == 1
    assert call({"first": today - timedelta(days=9), "last": today - timedelta(days=1)}).json()["total"]["turns"] == 0


def test_a_range_outside_of_the_calendar_is_refused_in_every_zone() -> None:
    with timezone.override("Europe/Berlin"):
        assert call({"first": "0001-01-01", "last": "0001-01-02"}).status_code == 400


def test_another_workspace_sees_nothing() -> None:
    talk("hours")
    assert call(workspace="other").json()["total"]["turns"] == 0


@pytest.mark.parametrize(
    "query",
    [{"days": 3}, {"first": "x"}, {"last": "2026-01-01"}, {"first": "2026-02-01", "last": "2026-01-01"}, {"a": 1}],
)
def test_a_wrong_parameter_is_refused(query: dict[str, Any]) -> None:
    assert call(query).status_code == 400


def test_the_key_needs_the_scope() -> None:
    assert call(scopes="turn").status_code == 403
    assert Client().get("/api/v1/reports").status_code == 401
