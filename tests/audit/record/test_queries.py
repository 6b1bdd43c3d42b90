from collections.abc import Sequence
from datetime import timedelta
from uuid import uuid4

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext
from django.utils import timezone

from audit.models import CeAudit, CeTurnRow
from audit.record import queries as module
from audit.record.queries import count_row_usage, list_messages_not_understood
from convengine.server.sessions.models import CeConversationHistory
from tests.api import Caller
from tests.worlds import create_help_desk

pytestmark = [pytest.mark.django_db, pytest.mark.dialects]

NOW = timezone.now()


def store_decisions(pk: int, days_ago: Sequence[float]) -> None:
    CeTurnRow.objects.bulk_create(
        CeTurnRow(
            turn_id=uuid4(), table_name="ce_rule", row_pk=str(pk), role="RULE", created_at=NOW - timedelta(days=days)
        )
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


def test_messages_that_no_intent_got_are_listed_once_newest_first() -> None:
    create_help_desk()
    caller = Caller()
    for text in ("purple elephants", "green elephants", "purple elephants"):
        assert caller.say(text)["intent"] == "UNKNOWN"

    assert list_messages_not_understood(10) == ["purple elephants", "green elephants"]
    assert list_messages_not_understood(1) == ["purple elephants"]


def test_messages_inside_of_an_intent_that_nobody_understood_are_listed_by_their_event() -> None:
    create_help_desk()
    caller = Caller()
    caller.say("elephants")
    CeConversationHistory.objects.update(intent_code="HELP")

    assert CeAudit.objects.filter(stage="NOT_UNDERSTOOD").exists()
    assert list_messages_not_understood(10) == ["elephants"]


def test_the_messages_cost_two_queries() -> None:
    with CaptureQueriesContext(connection) as captured:
        list_messages_not_understood(300)
    assert len(captured) <= 3
