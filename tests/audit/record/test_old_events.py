"""What of the record leaves by retention, and what stays (settings 2.11, 2.13; R84)."""

import uuid
from collections import Counter
from datetime import timedelta
from typing import Any

import pytest
from django.db import connection, transaction

from audit.models import CeAudit, CeLlmCallLog, CeTurnRow
from audit.record import old_events, partitions
from audit.record.old_events import remove_old
from config_admin.models import CeConfig
from convengine.server.database.sql import database_time

pytestmark = pytest.mark.dialects

OLD, YOUNG = timedelta(days=31), timedelta(days=29)
on_postgres = pytest.mark.skipif("connection.vendor != 'postgresql'", reason="partitions are PostgreSQL's")


def run() -> Counter[str]:
    total: Counter[str] = Counter()
    for counts in remove_old():
        total.update(counts)
    return total


def keep(days: int) -> None:
    CeConfig.objects.create(config_type="AUDIT", config_key="RETENTION_DAYS", config_value=str(days))


def event(ago: timedelta, **values: Any) -> CeAudit:
    at = database_time() - ago
    row: CeAudit = CeAudit.objects.create(
        conversation_id=uuid.uuid4(), stage="USER_INPUT", payload_json={}, seq=1, created_at=at, **values
    )
    return row


def call(ago: timedelta) -> None:
    CeLlmCallLog.objects.create(conversation_id=uuid.uuid4(), prompt_text="?", created_at=database_time() - ago)


@pytest.mark.django_db
class TestRows:
    def test_events_are_kept_unless_somebody_says_how_long_and_model_calls_for_thirty_days(self) -> None:
        event(OLD * 10)
        call(OLD)
        call(YOUNG)

        assert run() == {"model calls": 1}
        assert (CeAudit.objects.count(), CeLlmCallLog.objects.count()) == (1, 1)

    def test_events_and_deciding_rows_that_are_older_go(self) -> None:
        keep(30)
        event(OLD)
        young = event(YOUNG)
        for ago in (OLD, YOUNG):
            CeTurnRow.objects.create(
                turn_id=uuid.uuid4(), table_name="ce_rule", row_pk="1", role="RULE", created_at=database_time() - ago
            )

        assert run() == {"events": 1, "deciding rows": 1}
        assert [row.pk for row in CeAudit.objects.all()] == [young.pk]

    def test_they_go_in_batches(self, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr(old_events, "BATCH", 2)
        keep(30)
        for _ in range(5):
            event(OLD)

        assert [dict(counts) for counts in remove_old()] == [{"events": 2}, {"events": 2}, {"events": 1}]


def number_of(row: CeAudit) -> int:
    return row.pk // partitions.SIZE


def go_on_at(audit_id: int) -> None:
    with connection.cursor() as cursor:
        cursor.execute("SELECT setval('ce_audit_audit_id_seq', %s)", [audit_id])


def tables() -> set[str]:
    with connection.cursor() as cursor:
        cursor.execute("SELECT relname FROM pg_class WHERE relkind = 'r' AND relname ~ '^ce_audit_p[0-9]+$'")
        return {name for (name,) in cursor.fetchall()}


@on_postgres
@pytest.mark.django_db(transaction=True)
class TestPartitions:
    """Events of the years before: three partitions, the last one being written."""

    @pytest.fixture(autouse=True)
    def years(self, transactional_db: None) -> Any:
        partitions.ensure_partitions()
        event(OLD * 3, audit_id=5)
        event(OLD * 2, audit_id=partitions.SIZE + 5)
        go_on_at(2 * partitions.SIZE + 5)
        partitions.ensure_partitions()
        yield
        with connection.cursor() as cursor:
            for number in range(2):
                cursor.execute(f"CREATE TABLE IF NOT EXISTS ce_audit_p{number} (LIKE ce_audit INCLUDING ALL)")
                start = number * partitions.SIZE
                cursor.execute(
                    "SELECT count(*) FROM pg_inherits WHERE inhrelid = %s::regclass", [f"ce_audit_p{number}"]
                )
                if not cursor.fetchone()[0]:
                    cursor.execute(
                        f"ALTER TABLE ce_audit ATTACH PARTITION ce_audit_p{number} "
                        f"FOR VALUES FROM ({start}) TO ({start + partitions.SIZE})"
                    )
            cursor.execute("SELECT setval('ce_audit_audit_id_seq', 1, false)")
            cursor.execute("TRUNCATE ce_audit")

    def test_those_that_hold_only_old_events_are_dropped(self) -> None:
        keep(30)
        young = event(YOUNG)

        assert run() == {"partitions": 2}
        assert tables() == {"ce_audit_p2", "ce_audit_p3", "ce_audit_p4"}
        assert [row.pk for row in CeAudit.objects.all()] == [young.pk]

    def test_one_that_holds_a_younger_event_stays_and_its_old_ones_go_one_by_one(self) -> None:
        keep(30)
        young = event(YOUNG, audit_id=partitions.SIZE + 6)

        assert run() == {"partitions": 1, "events": 1}
        assert [row.pk for row in CeAudit.objects.all()] == [young.pk]

    def test_the_one_that_is_written_and_those_ahead_stay_however_old(self) -> None:
        keep(1)
        event(OLD)

        assert run() == {"partitions": 2, "events": 1}
        assert tables() == {"ce_audit_p2", "ce_audit_p3", "ce_audit_p4"}

    def test_a_new_partition_refuses_changes_like_the_others(self) -> None:
        row = event(YOUNG)
        assert number_of(row) == 2

        with connection.cursor() as cursor, pytest.raises(Exception, match="append-only"), transaction.atomic():
            cursor.execute("UPDATE ce_audit SET stage = 'X' WHERE audit_id = %s", [row.pk])

    def test_what_a_killed_process_took_off_and_did_not_drop_is_dropped(self) -> None:
        keep(30)
        with connection.cursor() as cursor:
            cursor.execute("ALTER TABLE ce_audit DETACH PARTITION ce_audit_p0")

        assert run() == {"partitions": 1}
        assert tables() == {"ce_audit_p2", "ce_audit_p3", "ce_audit_p4"}

    def test_running_again_finds_nothing_to_do(self) -> None:
        keep(30)
        run()

        assert run() == {}
        assert partitions.ensure_partitions() == 0
