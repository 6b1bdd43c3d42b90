"""Who runs a job, how it goes on after a failure or a death, and what is noted of it."""

from collections.abc import Callable, Iterator
from contextlib import suppress

import pytest
from django.db import DatabaseError

from convengine.engine.turn.job import Counts, Job
from convengine.server.jobs import running
from convengine.server.jobs.models import CeJob, CeJobRun

pytestmark = [pytest.mark.django_db, pytest.mark.dialects]
Work = Callable[[], Iterator[Counts]]
MakeJob = Callable[..., Job]
Clock = Callable[[float], None]


def three() -> Iterator[Counts]:
    for _ in range(3):
        yield {"washed": 2}


def nothing() -> Iterator[Counts]:
    yield from ()


def failing() -> Iterator[Counts]:
    yield {"washed": 1}
    raise OSError("the sink is blocked")


class Killed(BaseException):
    """What no handler of errors sees, like the end of a process."""


def wash_and_die() -> Iterator[Counts]:
    yield {"washed": 1}
    raise Killed


def die(job: MakeJob) -> None:
    job(wash_and_die)
    with pytest.raises(Killed):
        running.run("chores")


def test_a_run_is_noted_with_what_all_its_batches_did(job: MakeJob) -> None:
    job(three)

    record = running.run("chores", by="alice")

    assert record
    stored = CeJobRun.objects.get(pk=record.pk)
    assert (stored.status, stored.counts, stored.started_by, stored.error) == ("OK", {"washed": 6}, "alice", "")
    assert stored.finished_at
    assert stored.finished_at >= stored.started_at
    assert CeJob.objects.get().lease_token is None


def test_a_job_is_due_at_its_first_sight_and_not_again_before_its_pause_is_over(job: MakeJob, clock: Clock) -> None:
    job(nothing, seconds=600)

    assert running.due() == ["chores"]
    running.run_due()
    assert running.due() == []
    assert running.run("chores") is None
    clock(601)
    assert running.due() == ["chores"]


@pytest.mark.parametrize("ahead", [131, 86_400, 400 * 86_400])
@pytest.mark.parametrize("work", [nothing, wash_and_die])
def test_a_clock_that_was_ahead_keeps_no_job_waiting(job: MakeJob, clock: Clock, ahead: int, work: Work) -> None:
    clock(ahead)
    job(work, seconds=1)
    with suppress(Killed):
        running.run("chores")

    clock(0)

    assert running.due() == ["chores"]
    job(nothing, seconds=1)
    assert running.run("chores")


def test_a_person_may_run_a_job_that_is_not_due(job: MakeJob) -> None:
    job(nothing)
    running.run_due()

    assert running.run("chores", by="alice")


def test_a_job_that_somebody_runs_is_run_by_nobody_else(job: MakeJob) -> None:
    seen: list[CeJobRun | None] = []

    def work() -> Iterator[Counts]:
        seen.append(running.run("chores", by="bob"))
        yield {"washed": 1}

    job(work)
    running.run("chores", by="alice")

    assert seen == [None]
    assert CeJobRun.objects.count() == 1


def test_a_failure_is_noted_and_tried_again_later_and_later(job: MakeJob, clock: Clock) -> None:
    job(failing, seconds=3600)

    record = running.run("chores")
    assert record
    assert (record.status, record.counts, record.error) == ("FAILED", {"washed": 1}, "OSError: the sink is blocked")
    assert running.due() == []
    clock(61)
    assert running.due() == ["chores"]
    running.run_due()
    clock(61 + 61)
    assert running.due() == []
    clock(61 + 121)
    assert running.due() == ["chores"]


def test_a_job_that_ends_well_has_its_failures_forgiven(job: MakeJob, clock: Clock) -> None:
    job(failing)
    running.run("chores")
    assert CeJob.objects.get().failures == 1

    job(nothing)
    running.run("chores", by="alice")

    assert CeJob.objects.get().failures == 0


def test_a_run_whose_process_died_holds_the_job_for_its_lease_and_is_then_noted_as_lost(
    job: MakeJob, clock: Clock
) -> None:
    die(job)
    job(three)

    assert running.due() == []
    assert running.run("chores", by="alice") is None
    clock(121)
    assert running.due() == ["chores"]
    record = running.run("chores")

    assert record
    assert [run.status for run in CeJobRun.objects.order_by("pk")] == ["LOST", "OK"]
    assert CeJobRun.objects.order_by("pk")[0].counts == {"washed": 1}


def test_a_run_that_lost_its_job_to_another_stops_and_leaves_the_other_alone(job: MakeJob, clock: Clock) -> None:
    others: list[CeJobRun | None] = []

    def slow() -> Iterator[Counts]:
        yield {"washed": 1}
        clock(121)
        job(three)
        others.append(running.run("chores"))
        yield {"washed": 1}
        raise AssertionError("it was not stopped")

    job(slow)
    mine = running.run("chores")

    (other,) = others
    assert mine
    assert other
    assert (mine.status, other.status) == ("LOST", "OK")
    assert CeJobRun.objects.get(pk=other.pk).counts == {"washed": 6}


def test_a_failure_of_the_database_is_a_failure_of_the_job(job: MakeJob) -> None:
    def work() -> Iterator[Counts]:
        raise DatabaseError("gone")
        yield {}

    job(work)
    record = running.run("chores")

    assert record
    assert (record.status, record.error) == ("FAILED", "DatabaseError: gone")


def test_a_job_that_is_not_there_is_refused_with_the_names_of_those_that_are(job: MakeJob) -> None:
    job(nothing)

    with pytest.raises(running.NoSuchJob, match=r"The job sweep does not exist\. Jobs: chores\."):
        running.run("sweep")


def test_every_job_of_the_settings_is_told_and_runs_on_an_empty_database() -> None:
    for name, job in running.all_jobs().items():
        assert all((job.title, job.help, job.schedule.describe()))
        record = running.run(name, by="alice")
        assert record
        assert (record.status, any(record.counts.values())) == ("OK", False), name


def test_a_job_that_ends_its_processes_is_taken_over_ever_more_rarely_and_counts_as_failing(
    job: MakeJob, clock: Clock
) -> None:
    job(three)
    seconds = 0
    for failures, lease in enumerate((120, 120, 240, 480, 960)):
        assert running.due() == ["chores"]
        die(job)
        assert CeJob.objects.get().failures == failures
        clock(seconds + lease - 1)
        assert running.due() == []
        seconds += lease + 1
        clock(seconds)
    job(three)
    running.run_due()

    assert CeJob.objects.get().failures == 0
    assert [run.status for run in CeJobRun.objects.order_by("pk")] == [*5 * ["LOST"], "OK"]


def test_a_failure_whose_text_no_database_takes_is_noted_like_others(job: MakeJob) -> None:
    def choke() -> Iterator[Counts]:
        yield {"wash\0ed": 1}
        raise OSError("the sink said \0\ud800")

    job(choke)
    record = running.run("chores")

    assert record
    record.refresh_from_db()
    assert (record.status, record.error) == ("FAILED", "OSError: the sink said \ufffd\ufffd")
