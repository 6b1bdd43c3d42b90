"""Ending one session outside its turns: only as it was seen, and never over somebody who waits."""

import uuid
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from django.db import transaction

from audit.models import CeAudit
from convengine.engine.errors import SessionTransitionInvalid
from convengine.engine.turn.enums import Lifecycle
from convengine.server.database.sql import database_time
from convengine.server.sessions.models import CeConversation, CeTurnTicket
from convengine.server.threads.end_session import ObservedSession, end_session
from convengine.server.turns import waiting
from tests.convengine.server.threads.sessions import session

pytestmark = [pytest.mark.django_db, pytest.mark.dialects]
NOON = datetime(2026, 3, 1, 12, tzinfo=UTC)


def make_observed_session(row: CeConversation, **values: Any) -> ObservedSession:
    return ObservedSession(**{
        "session_id": str(row.pk), "lifecycle": row.lifecycle, "last_message_at": row.last_message_at,
        "last_turn_no": row.last_turn_no, **values,
    })  # fmt: skip


def moves() -> list[tuple[str, str, str, int]]:
    payloads = CeAudit.objects.filter(stage="SESSION_LIFECYCLE").order_by("audit_id").values_list("payload_json")
    return [(event["from"], event["to"], event["reason"], event["turn_no"]) for (event,) in payloads]


def stands(row: CeConversation) -> tuple[str, int]:
    row.refresh_from_db()
    return row.lifecycle, row.version


def test_it_moves_the_session_with_its_event() -> None:
    row = session()

    with transaction.atomic():
        assert end_session(make_observed_session(row), Lifecycle.ABORTED, "timeout", NOON)

    assert stands(row) == ("ABORTED", 1)
    assert row.lifecycle_detail == {"reason": "timeout", "at": NOON.isoformat()}
    assert moves() == [("RUNNING", "ABORTED", "timeout", 3)]
    event = CeAudit.objects.get()
    assert (event.conversation_id, event.turn_id, event.turn_no, event.created_at) == (row.pk, None, None, NOON)


def test_who_ended_it_is_kept() -> None:
    row = session()

    end_session(make_observed_session(row), Lifecycle.COMPLETE, "closed", NOON, by="close")

    row.refresh_from_db()
    assert row.lifecycle_detail["by"] == "close"


def test_it_goes_by_RUNNING_where_it_has_to() -> None:
    row = session(lifecycle="INTERRUPTED")

    assert end_session(make_observed_session(row), Lifecycle.COMPLETE, "closed", NOON)

    assert stands(row) == ("COMPLETE", 1)
    assert moves() == [("INTERRUPTED", "RUNNING", "closed", 3), ("RUNNING", "COMPLETE", "closed", 3)]


@pytest.mark.parametrize(
    "meanwhile",
    [{"lifecycle": "AWAITING_USER"}, {"last_turn_no": 4}, {"lease_token": uuid.uuid4()}],
    ids=["it moved", "a turn came", "a turn runs"],
)
def test_a_session_that_is_not_as_it_was_seen_stays(meanwhile: dict[str, Any]) -> None:
    row = session()
    before = make_observed_session(row)
    CeConversation.objects.update(**meanwhile)

    assert not end_session(before, Lifecycle.ABORTED, "timeout", NOON)
    assert stands(row) == (meanwhile.get("lifecycle", "RUNNING"), 0)
    assert moves() == []


def test_who_waits_goes_first_unless_it_is_the_one_who_ends_it() -> None:
    row = session()
    mine = waiting.draw_ticket(str(row.pk))
    later = waiting.draw_ticket(str(row.pk))

    assert not end_session(make_observed_session(row), Lifecycle.ABORTED, "explicit_reset", NOON)
    assert not end_session(make_observed_session(row), Lifecycle.ABORTED, "explicit_reset", NOON, ticket=later)
    assert end_session(make_observed_session(row), Lifecycle.ABORTED, "explicit_reset", NOON, ticket=mine)


def test_a_waiter_that_died_holds_nobody_up() -> None:
    row = session()
    waiting.draw_ticket(str(row.pk))
    CeTurnTicket.objects.update(expires_at=database_time() - timedelta(seconds=1))

    assert end_session(make_observed_session(row), Lifecycle.ABORTED, "timeout", NOON)


@pytest.mark.parametrize(("start", "to"), [("COMPLETE", Lifecycle.ABORTED), ("ABORTED", Lifecycle.COMPLETE)])
def test_an_end_is_no_begin(start: str, to: Lifecycle) -> None:
    row = session(lifecycle=start)

    with pytest.raises(SessionTransitionInvalid, match="it is closed"):
        end_session(make_observed_session(row), to, "any", NOON)

    assert stands(row) == (start, 0)
