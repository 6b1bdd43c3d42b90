"""The pages of jobs: what ran, how it ended, when it runs next; operators have one run."""

from collections.abc import Callable, Iterator
from typing import Any

import pytest
from django.contrib.admin.models import LogEntry
from django.test import Client
from django.urls import reverse

from convengine.engine.turn.job import Counts, Job
from convengine.server.jobs import running
from convengine.server.jobs.models import CeJob, CeJobRun
from tests.sign_in import sign_in

pytestmark = pytest.mark.django_db
LIST = "admin:ce_jobs_cejob_changelist"


def member(group: str) -> Client:
    return sign_in(group, group)


def wash() -> Iterator[Counts]:
    yield {"washed": 6}


def failing() -> Iterator[Counts]:
    raise OSError("the sink is blocked")
    yield {}


def page_of(name: str) -> str:
    return reverse("admin:ce_jobs_cejob_change", args=[name])


def test_every_job_is_listed_before_it_ever_ran() -> None:
    page = member("operator").get(reverse(LIST)).content.decode()

    for job in running.all_jobs().values():
        assert job.title in page
        assert job.schedule.describe() in page
    assert "has not run yet" in page


def test_a_job_shows_its_last_run_its_result_and_its_next_run(job: Callable[..., Job]) -> None:
    job(wash)
    running.run("chores", by="alice")
    client = member("operator")

    listed = client.get(reverse(LIST)).content.decode()
    page = client.get(page_of("chores")).content.decode()

    assert "6 washed" in listed
    assert "every 10 minutes" in listed
    assert "alice" in page
    assert "6 washed" in page


def test_a_failure_says_why(job: Callable[..., Job]) -> None:
    job(failing)
    run = running.run("chores")
    assert run

    client = member("operator")
    assert "the sink is blocked" in client.get(reverse(LIST)).content.decode()
    page = client.get(reverse("admin:ce_jobs_cejobrun_change", args=[run.pk])).content.decode()
    assert "OSError: the sink is blocked" in page


def test_a_long_error_is_told_at_its_length_on_the_page_of_the_run_only(job: Callable[..., Job]) -> None:
    def fail() -> Iterator[Counts]:
        yield {"washed": 6}
        raise OSError("the sink is blocked " * 20 + "to the end")

    job(fail)
    run = running.run("chores")
    assert run

    client = member("operator")
    for address in (reverse(LIST), page_of("chores"), reverse("admin:ce_jobs_cejobrun_changelist")):
        text = client.get(address).content.decode()
        assert "6 washed; OSError: the sink is blocked" in text
        assert "to the end" not in text
    text = client.get(reverse("admin:ce_jobs_cejobrun_change", args=[run.pk])).content.decode()
    assert text.count("to the end") == 1
    assert ">Failed<" in text.replace("\n", "").replace(" ", "")


def test_the_next_run_is_told_as_other_times_are(job: Callable[..., Job]) -> None:
    job(wash)
    running.run_due()
    CeJob.objects.update(due_at="2041-02-03T04:05:06Z")

    client = member("operator")
    for address in (reverse(LIST), page_of("chores")):
        assert "3 Feb 2041, 04:05:06" in client.get(address).content.decode()


def test_an_operator_has_a_job_run_at_the_next_look(job: Callable[..., Job]) -> None:
    job(wash)
    running.run_due()
    assert running.due() == []
    operator = member("operator")
    address = reverse("admin:ce_jobs_cejob_run", args=["chores"])
    assert address in operator.get(page_of("chores")).content.decode()

    answer: Any = operator.post(address, follow=True)

    assert "the next worker runs it" in answer.content.decode()
    assert running.due() == ["chores"]
    assert LogEntry.objects.get().user.username == "operator"


def test_who_may_only_look_has_no_button_and_is_refused(job: Callable[..., Job]) -> None:
    job(wash)
    running.run_due()
    reader, address = member("qa"), reverse("admin:ce_jobs_cejob_run", args=["chores"])

    assert address not in reader.get(page_of("chores")).content.decode()
    assert reader.post(address).status_code == 403
    assert member("analyst").get(reverse(LIST)).status_code == 403
    assert running.due() == []


def test_a_job_that_is_not_there_is_not_found_and_reading_runs_nothing(job: Callable[..., Job]) -> None:
    job(wash)
    operator = member("operator")

    assert operator.post(reverse("admin:ce_jobs_cejob_run", args=["sweep"])).status_code == 404
    assert operator.get(reverse("admin:ce_jobs_cejob_run", args=["chores"])).status_code == 405
    assert not CeJobRun.objects.exists()


def test_the_list_costs_the_same_however_many_runs_there_were(
    job: Callable[..., Job], django_assert_max_num_queries: Any
) -> None:
    job(wash)
    for _ in range(30):
        running.run("chores", by="alice")
    client = member("operator")

    with django_assert_max_num_queries(9):
        client.get(reverse(LIST))
    assert CeJob.objects.count() == 1
