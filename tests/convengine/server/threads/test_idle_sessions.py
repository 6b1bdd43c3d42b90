"""Idle sessions end by themselves, exactly when the settings say."""

import threading
import uuid
from collections import Counter
from datetime import datetime, timedelta

import pytest
from django.db import connection, connections, transaction

from audit.models import CeAudit
from config_admin.models import CeConfig
from convengine.server.database.sql import database_time
from convengine.server.sessions.models import CeConversation, CeConversationHistory, CeTurnTicket
from convengine.server.threads import idle_sessions
from convengine.server.threads.idle_sessions import close_idle_sessions
from tests.convengine.server.threads.sessions import CHANNEL, session

pytestmark = pytest.mark.dialects

MINUTES_30, HOURS_24, DAYS_7 = timedelta(minutes=30), timedelta(hours=24), timedelta(days=7)
A_BIT = timedelta(milliseconds=1)


def close() -> Counter[str]:
    total: Counter[str] = Counter()
    for counts in close_idle_sessions():
        total.update(counts)
    return total


def stands(row: CeConversation) -> tuple[str, str | None]:
    row.refresh_from_db()
    return row.lifecycle, row.lifecycle_detail.get("reason")


def setting(key: str, value: str, qualifier: str | None = None) -> None:
    name = f"{key}.{qualifier.upper()}" if qualifier else key
    CeConfig.objects.create(config_type="Session", config_key=name, config_value=value)


@pytest.fixture
def now(monkeypatch: pytest.MonkeyPatch, db: None) -> datetime:
    """The time at which the closer looks."""
    at = database_time()
    monkeypatch.setattr(idle_sessions, "database_time", lambda: at)
    return at


@pytest.mark.parametrize(
    ("mode", "idle", "then"),
    [
        ("new_session", MINUTES_30, ("RUNNING", None)),
        ("new_session", MINUTES_30 + A_BIT, ("ABORTED", "timeout")),
        ("new_session", HOURS_24, ("ABORTED", "timeout")),
        ("new_session", DAYS_7, ("ABORTED", "timeout")),
        ("new_session", DAYS_7 + A_BIT, ("ABORTED", "stale")),
        ("offer_resume", MINUTES_30 + A_BIT, ("RUNNING", None)),
        ("offer_resume", HOURS_24, ("RUNNING", None)),
        ("offer_resume", HOURS_24 + A_BIT, ("RUNNING", None)),
        ("offer_resume", DAYS_7, ("RUNNING", None)),
        ("offer_resume", DAYS_7 + A_BIT, ("ABORTED", "stale")),
    ],
)
def test_a_session_ends_when_its_time_is_over_and_not_at_its_limit(
    mode: str, idle: timedelta, then: tuple[str, str | None], now: datetime
) -> None:
    setting("RESUME_MODE", mode)
    row = session(idle, now)

    close()

    assert stands(row) == then


@pytest.mark.parametrize("lifecycle", ["RUNNING", "AWAITING_USER", "INTERRUPTED", "PENDING_COMPLETE"])
def test_every_open_state_ends_with_its_event(lifecycle: str, now: datetime) -> None:
    row = session(HOURS_24, now, lifecycle=lifecycle, lifecycle_detail={"question": "Which?"})

    assert close() == {"closed": 1}

    row.refresh_from_db()
    assert row.lifecycle_detail == {"reason": "timeout", "at": now.isoformat()}
    assert row.version == 1
    event = CeAudit.objects.get()
    assert (event.stage, str(event.conversation_id), event.turn_id) == ("SESSION_LIFECYCLE", str(row.pk), None)
    expected = {"from": lifecycle, "to": "ABORTED", "reason": "timeout", "turn_no": 3}
    assert event.payload_json == expected


@pytest.mark.parametrize("lifecycle", ["COMPLETE", "ABORTED"])
def test_what_has_ended_stays_as_it_ended(lifecycle: str, now: datetime) -> None:
    row = session(DAYS_7 * 2, now, lifecycle=lifecycle, lifecycle_detail={"reason": "confirmed"})

    assert close() == {}
    assert stands(row) == (lifecycle, "confirmed")


def test_a_conversation_of_the_plain_turn_api_never_ends_by_time(now: datetime) -> None:
    row = session(DAYS_7 * 50, now, channel="api")

    assert close() == {}
    assert stands(row) == ("RUNNING", None)


def test_limits_are_those_of_the_channel(now: datetime) -> None:
    setting("TIMEOUT_MINUTES", "5", "sms")
    quick, slow = session(timedelta(minutes=6), now, channel="sms"), session(timedelta(minutes=6), now)

    assert close() == {"closed": 1}
    assert (stands(quick)[0], stands(slow)[0]) == ("ABORTED", "RUNNING")


def test_a_session_without_a_message_is_idle_since_it_was_made(now: datetime) -> None:
    row = session(HOURS_24, now, last_message_at=None)

    close()

    assert stands(row) == ("ABORTED", "timeout")


def test_a_session_whose_turn_runs_goes_on(now: datetime) -> None:
    row = session(HOURS_24, now, lease_token=uuid.uuid4(), lease_expires_at=now + timedelta(seconds=60))

    assert close() == {}
    assert stands(row) == ("RUNNING", None)


def test_a_session_that_a_message_waits_for_goes_on(now: datetime) -> None:
    row = session(HOURS_24, now)
    CeTurnTicket.objects.create(conversation_id=row.pk, arrived_at=now, expires_at=now + timedelta(seconds=60))

    assert close() == {}
    assert stands(row) == ("RUNNING", None)


def test_a_dead_turn_is_recorded_before_its_session_ends(now: datetime) -> None:
    info = {"turnId": str(uuid.uuid4()), "turnNo": 4, "userText": "hello", "head": "1:x"}
    dead = {"lease_token": uuid.uuid4(), "lease_expires_at": now - HOURS_24, "lease_info": info, "last_turn_no": 4}
    row = session(HOURS_24, now, **dead)

    assert close() == {"closed": 1, "dead turns recorded": 1}
    assert stands(row) == ("ABORTED", "timeout")
    assert CeConversationHistory.objects.get().error_code == "LEASE_EXPIRED"


def test_closing_again_changes_nothing(now: datetime) -> None:
    row = session(HOURS_24, now)
    close()
    row.refresh_from_db()
    version = row.version

    assert close() == {}
    row.refresh_from_db()
    assert (row.version, CeAudit.objects.count()) == (version, 1)


def test_many_are_ended_in_batches(now: datetime) -> None:
    batch = idle_sessions.BATCHES[connection.vendor]
    for _ in range(batch + 5):
        session(HOURS_24, now)

    assert [dict(counts) for counts in close_idle_sessions()] == [{"closed": batch}, {"closed": 5}]


def test_a_session_with_a_person_waits_for_days(now: datetime) -> None:
    waiting = [session(HOURS_24, now, context_json={"handover": said}) for said in (True, "yes", 1)]
    others = [session(HOURS_24, now, context_json=context) for context in ({"handover": False}, {"more": True})]
    stale = session(DAYS_7 + A_BIT, now, context_json={"handover": True})
    CeConfig.objects.create(config_type="HandOverStep", config_key="HAS_DESK", config_value="true")

    assert close() == {"closed": 3}
    assert [stands(row) for row in waiting] == [("RUNNING", None)] * 3
    assert [stands(row) for row in others] == [("ABORTED", "timeout")] * 2
    assert stands(stale) == ("ABORTED", "stale")


def test_without_a_desk_a_hand_over_changes_nothing(now: datetime) -> None:
    handed_over = session(HOURS_24, now, context_json={"handover": True})

    close()

    assert stands(handed_over) == ("ABORTED", "timeout")


def test_the_closer_reads_an_index_of_what_it_may_close(now: datetime) -> None:
    session(HOURS_24, now)
    for _ in range(100):
        session(HOURS_24, now, lifecycle="COMPLETE")
    with connection.cursor() as cursor:
        if connection.vendor == "postgresql":
            cursor.execute("ANALYZE ce_conversation")
            cursor.execute("SET LOCAL enable_seqscan = off")
        explain = "EXPLAIN QUERY PLAN" if connection.vendor == "sqlite" else "EXPLAIN"
        at = idle_sessions.dialect().time_param(now)
        statement = idle_sessions.idle_sessions_sql()
        cursor.execute(f"{explain} {statement}", [CHANNEL, at, at, at])
        plan = " ".join(str(row) for row in cursor.fetchall())

    assert "ce_conversation_to_close" in plan


@pytest.mark.django_db(transaction=True)
@pytest.mark.skipif("connection.vendor != 'postgresql'", reason="one writer at a time elsewhere")
def test_a_session_that_somebody_writes_to_is_left_to_them() -> None:
    row = session(HOURS_24)
    others = session(HOURS_24)
    held, done = threading.Event(), threading.Event()

    def write() -> None:
        with transaction.atomic():
            CeConversation.objects.select_for_update().get(pk=row.pk)
            held.set()
            done.wait(60)
        connections.close_all()

    writer = threading.Thread(target=write)
    writer.start()
    held.wait(60)
    first = close()
    done.set()
    writer.join()

    assert first == {"closed": 1}
    assert (stands(row)[0], stands(others)[0]) == ("RUNNING", "ABORTED")
