"""`manage.py jobs`: listing, and running by hand."""

from collections.abc import Callable, Iterator
from io import StringIO

import pytest
from django.core.management import CommandError, call_command

from convengine.domain.job import Counts, Job
from convengine.jobs.models import CeJobRun

pytestmark = pytest.mark.django_db


def washed() -> Iterator[Counts]:
    yield {"washed": 6}


def failing() -> Iterator[Counts]:
    raise OSError("the sink is blocked")
    yield {}


def told(*arguments: str) -> str:
    out = StringIO()
    call_command("jobs", *arguments, stdout=out)
    return out.getvalue()


def test_a_job_is_listed_with_its_last_and_its_next_run(job: Callable[..., Job]) -> None:
    job(washed)
    assert "last: never ran" in told("--list")
    told("--once")

    listed = told("--list", "chores")
    assert "Do the chores, every 10 minutes" in listed
    assert "OK, 6 washed; next: 20" in listed


def test_once_runs_a_job_whether_it_is_due_or_not(job: Callable[..., Job]) -> None:
    job(washed)

    assert "OK, 6 washed" in told("--once", "chores")
    assert "OK, 6 washed" in told("--once")
    assert CeJobRun.objects.count() == 2


def test_due_runs_what_is_due_and_no_more(job: Callable[..., Job]) -> None:
    job(washed)

    assert "6 washed" in told("--due")
    assert told("--due") == ""


def test_a_job_that_failed_fails_the_command(job: Callable[..., Job]) -> None:
    job(failing)

    with pytest.raises(CommandError, match=r"Failed: chores\."):
        told("--once")


def test_a_job_that_is_not_there_is_refused(job: Callable[..., Job]) -> None:
    job(washed)

    with pytest.raises(CommandError, match=r"There is no job sweep\. Jobs: chores\."):
        told("--once", "sweep")
