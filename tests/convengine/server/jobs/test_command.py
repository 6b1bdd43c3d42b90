"""`manage.py jobs`: listing, and running by hand."""

from collections.abc import Callable, Iterator
from io import StringIO

import pytest
from django.core.management import CommandError, call_command

from convengine.engine.turn.job import Counts, Job
from convengine.server.jobs.models import CeJobRun

pytestmark = pytest.mark.django_db


def wash() -> Iterator[Counts]:
    yield {"washed": 6}


def failing() -> Iterator[Counts]:
    raise OSError("the sink is blocked")
    yield {}


def run_command(*arguments: str) -> str:
    out = StringIO()
    call_command("jobs", *arguments, stdout=out)
    return out.getvalue()


def test_a_job_is_listed_with_its_last_and_its_next_run(job: Callable[..., Job]) -> None:
    job(wash)
    assert "last: has not run yet" in run_command("--list")
    run_command("--once")

    listed = run_command("--list", "chores")
    assert "Do the chores, every 10 minutes" in listed
    assert "OK, 6 washed; next: 20" in listed


def test_once_runs_a_job_whether_it_is_due_or_not(job: Callable[..., Job]) -> None:
    job(wash)

    assert "OK, 6 washed" in run_command("--once", "chores")
    assert "OK, 6 washed" in run_command("--once")
    assert CeJobRun.objects.count() == 2


def test_due_runs_what_is_due_and_no_more(job: Callable[..., Job]) -> None:
    job(wash)

    assert "6 washed" in run_command("--due")
    assert run_command("--due") == ""


def test_a_job_that_failed_fails_the_command(job: Callable[..., Job]) -> None:
    job(failing)

    with pytest.raises(CommandError, match=r"Failed: chores\."):
        run_command("--once")


def test_a_job_that_is_not_there_is_refused(job: Callable[..., Job]) -> None:
    job(wash)

    with pytest.raises(CommandError, match=r"The job sweep does not exist\. Jobs: chores\."):
        run_command("--once", "sweep")
