"""The index of turns: the rows that decided a turn, and how often a row decided."""

import uuid
from collections.abc import Sequence
from datetime import timedelta
from uuid import uuid4

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext
from django.utils import timezone

from audit.models import CeTurnIndex
from audit.record import turn_index as module
from audit.record.turn_index import count_row_usage, read_deciding_rows

pytestmark = [pytest.mark.django_db, pytest.mark.dialects]

NOW = timezone.now()


def store_decisions(pk: int, days_ago: Sequence[float]) -> None:
    CeTurnIndex.objects.bulk_create(
        CeTurnIndex(turn_id=uuid4(), kind="ce_rule", value=str(pk), role="RULE", at=NOW - timedelta(days=days))
        for days in days_ago
    )


def test_rows_are_counted_since_a_moment_and_the_last_time_is_told_however_long_ago() -> None:
    store_decisions(1, [0.5, 2, 30])
    store_decisions(2, [30])

    found = count_row_usage([("ce_rule", "1"), ("ce_rule", "2"), ("ce_rule", "3")], NOW - timedelta(days=7))

    assert {pk: (one.turns, one.last) for (_, pk), one in found.items()} == {
        "1": (2, NOW - timedelta(days=0.5)),
        "2": (0, NOW - timedelta(days=30)),
        "3": (0, None),
    }


def test_counting_ends_where_it_says_nothing_more(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "MOST", 3)
    store_decisions(1, [1] * 5)

    assert count_row_usage([("ce_rule", "1")], NOW - timedelta(days=7))["ce_rule", "1"].turns == 3


@pytest.mark.parametrize(("rows", "queries"), [(0, 0), (1, 1), (500, 1)])
def test_it_is_one_query_for_all(rows: int, queries: int) -> None:
    with CaptureQueriesContext(connection) as captured:
        found = count_row_usage([("ce_rule", str(pk)) for pk in range(rows)], NOW)

    assert (len(captured), len(found)) == (queries, rows)


def test_the_rows_that_decided_stand_by_turn_in_their_order() -> None:
    first, second = uuid.uuid4(), uuid.uuid4()
    for turn_id, table, pk, role in (
        (first, "ce_intent_classifier", "3", "CLASSIFIER"),
        (second, "ce_rule", "4", "RULE"),
        (first, "ce_response", "5", "RESPONSE"),
    ):
        CeTurnIndex.objects.create(turn_id=turn_id, kind=table, value=pk, role=role)

    found = read_deciding_rows([first])

    assert [(one.role, one.table, one.pk) for one in found[first]] == [
        ("CLASSIFIER", "ce_intent_classifier", "3"), ("RESPONSE", "ce_response", "5"),
    ]  # fmt: skip
    assert second not in found
