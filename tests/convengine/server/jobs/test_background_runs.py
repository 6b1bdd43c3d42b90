"""Runs in the background: queue, lease, progress and end of a run, and what becomes of its failure."""

from datetime import timedelta
from typing import Any

import pytest

from config_admin.test_cases.models import CeTestRun
from convengine.engine.errors import ReplayBusy
from convengine.server.database.sql import database_time
from convengine.server.jobs.background_runs import BackgroundRuns, RunStatus
from convengine.server.jobs.running import get_lease_end

pytestmark = pytest.mark.django_db


@pytest.fixture
def runs() -> BackgroundRuns[CeTestRun]:
    def say(error: Exception, key: int) -> str:
        return f"It failed: {error}"

    return BackgroundRuns(CeTestRun, "test run", lambda run: None, say, most=1)


def create_run() -> CeTestRun:
    now = database_time()
    return CeTestRun.objects.create(configuration="live", created_at=now, lease_expires_at=now + timedelta(minutes=1))


def test_a_run_is_performed_once(runs: BackgroundRuns[CeTestRun]) -> None:
    run = create_run()
    with runs.perform(run.pk) as row:
        assert row is not None
        with runs.perform(run.pk) as other:
            assert other is None
        run.refresh_from_db()
        assert (run.status, run.is_open) == (RunStatus.RUNNING, True)
    run.refresh_from_db()
    assert (run.status, run.is_open) == (RunStatus.DONE, False)
    assert run.finished_at


def test_a_failure_is_in_the_row(runs: BackgroundRuns[CeTestRun]) -> None:
    run = create_run()
    with runs.perform(run.pk):
        raise ValueError("no rows")
    run.refresh_from_db()
    assert (run.status, run.error) == (RunStatus.FAILED, "It failed: no rows")


def test_a_run_whose_process_died_is_never_performed_again(runs: BackgroundRuns[CeTestRun]) -> None:
    run = create_run()
    CeTestRun.objects.update(status=RunStatus.RUNNING, lease_expires_at=database_time() - timedelta(seconds=1))
    runs.mark_lost()
    with runs.perform(run.pk) as row:
        assert row is None
    run.refresh_from_db()
    assert run.status == RunStatus.LOST


def test_a_failure_whose_text_no_database_takes_is_in_the_row(runs: BackgroundRuns[CeTestRun]) -> None:
    run = create_run()
    with runs.perform(run.pk):
        raise ValueError("no rows \0\ud800")
    run.refresh_from_db()
    assert (run.status, run.error) == (RunStatus.FAILED, "It failed: no rows \ufffd\ufffd")


def test_a_run_that_is_cancelled_ends_at_its_next_report(runs: BackgroundRuns[CeTestRun]) -> None:
    run = create_run()
    with runs.perform(run.pk):
        runs.report(run.pk, passed=1)
        assert runs.cancel(run.pk)
        runs.report(run.pk, passed=2)
        raise AssertionError("not reached")
    run.refresh_from_db()
    assert (run.status, run.passed) == (RunStatus.CANCELLED, 1)
    assert not runs.cancel(run.pk)


@pytest.mark.parametrize("ends_in", [-1, 131, 86_400])
def test_a_report_renews_the_leases_of_the_runs_that_wait_and_no_clock_that_was_ahead_does(
    runs: BackgroundRuns[CeTestRun],
    monkeypatch: pytest.MonkeyPatch,
    django_capture_on_commit_callbacks: Any,
    ends_in: int,
) -> None:
    monkeypatch.setattr(runs.queue, "submit", lambda job: True)
    waiting = CeTestRun(configuration="live")
    with django_capture_on_commit_callbacks(execute=True):
        runs.start(waiting)
    dead = create_run()
    CeTestRun.objects.update(lease_expires_at=database_time() + timedelta(seconds=ends_in))
    run = create_run()
    with runs.perform(run.pk):
        runs.report(run.pk)

    runs.mark_lost()
    for row in (waiting, dead):
        row.refresh_from_db()
    assert (waiting.status, dead.status) == (RunStatus.PENDING, RunStatus.LOST)
    assert dead.error == "The process of this test run ended. Start it again."


def test_a_run_that_renews_its_lease_while_lost_runs_are_looked_for_is_not_lost(
    runs: BackgroundRuns[CeTestRun],
) -> None:
    run = create_run()
    CeTestRun.objects.update(lease_expires_at=get_lease_end(database_time()) + timedelta(seconds=1))
    runs.mark_lost()
    run.refresh_from_db()
    assert run.status == RunStatus.PENDING


def test_a_full_queue_refuses_a_run(
    runs: BackgroundRuns[CeTestRun], monkeypatch: pytest.MonkeyPatch, django_capture_on_commit_callbacks: Any
) -> None:
    monkeypatch.setattr(runs.queue, "submit", lambda job: True)
    with django_capture_on_commit_callbacks(execute=True):
        runs.start(CeTestRun(configuration="live"))
    with pytest.raises(ReplayBusy, match="Too many test runs are waiting"):
        runs.start(CeTestRun(configuration="live"))
    assert CeTestRun.objects.count() == 1


def test_a_run_for_which_there_is_no_thread_fails(
    runs: BackgroundRuns[CeTestRun], monkeypatch: pytest.MonkeyPatch, django_capture_on_commit_callbacks: Any
) -> None:
    monkeypatch.setattr(runs.queue, "submit", lambda job: False)
    for _ in range(2):
        with django_capture_on_commit_callbacks(execute=True):
            runs.start(CeTestRun(configuration="live"))
    assert set(CeTestRun.objects.values_list("status", "error")) == {
        ("FAILED", "Too many test runs are waiting. Try again later.")
    }


@pytest.mark.django_db(transaction=True)
def test_a_started_run_is_performed_in_the_background(runs: BackgroundRuns[CeTestRun]) -> None:
    run = CeTestRun(configuration="live")
    runs.start(run)
    runs.queue.finish()
    run.refresh_from_db()
    assert run.status == RunStatus.DONE
