from datetime import timedelta

import pytest
from django.db import connection
from django.db.migrations.recorder import MigrationRecorder
from django.utils import timezone

from convengine.server.jobs.models import CeJob
from convengine.server.probes.database_state import DatabaseState, has_all_migrations, use_own_connection
from tests.worlds import create_help_desk


@pytest.mark.django_db(transaction=True)
def test_everything_is_read_on_a_connection_of_its_own() -> None:
    create_help_desk()
    CeJob.objects.all().delete()
    CeJob.objects.create(name="close_sessions", due_at=timezone.now() - timedelta(seconds=90))
    CeJob.objects.create(name="a job of an earlier version", due_at=timezone.now() - timedelta(days=90))
    state = DatabaseState()

    state.read()

    assert (state.answers, state.is_writable, state.is_migrated, state.is_configured) == (True, True, True, True)
    assert state.overdue is not None
    assert 89 < state.overdue["close_sessions"] < 120
    assert "a job of an earlier version" not in state.overdue


@pytest.mark.django_db(transaction=True)
def test_a_database_that_only_reads_is_noticed() -> None:
    if connection.vendor != "postgresql":
        pytest.skip("SQLite has no such mode for a whole database")
    name = connection.ops.quote_name(connection.settings_dict["NAME"])
    with connection.cursor() as cursor:
        cursor.execute(f"ALTER DATABASE {name} SET default_transaction_read_only = on")
    try:
        state = DatabaseState()
        state.read()
    finally:
        with connection.cursor() as cursor:
            cursor.execute(f"ALTER DATABASE {name} RESET default_transaction_read_only")

    assert (state.answers, state.is_writable) == (True, False)


@pytest.mark.django_db
def test_a_missing_migration_is_noticed() -> None:
    MigrationRecorder(connection).record_unapplied("audit", _last_migration("audit"))

    assert not has_all_migrations()


@pytest.mark.django_db
def test_a_job_that_runs_is_not_late() -> None:
    from convengine.server.probes.database_state import read_jobs

    CeJob.objects.all().delete()
    now = timezone.now()
    CeJob.objects.create(
        name="old_turns", due_at=now - timedelta(hours=1), lease_expires_at=now + timedelta(minutes=1), failures=2
    )

    assert read_jobs() == ({"old_turns": 0.0}, {"old_turns": 2})


@pytest.mark.django_db
def test_the_own_connection_is_not_of_the_pool() -> None:
    usual = connection.settings_dict
    with use_own_connection():
        assert "pool" not in connection.settings_dict["OPTIONS"]
        assert connection.settings_dict["NAME"] == usual["NAME"]

    assert connection.settings_dict is usual


def _last_migration(app: str) -> str:
    return max(name for label, name in MigrationRecorder(connection).applied_migrations() if label == app)
