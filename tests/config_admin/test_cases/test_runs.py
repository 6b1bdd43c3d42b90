"""Runs of tests: progress, cancelling, lost processes, drafts, and what stays of old runs."""

from collections.abc import Callable
from datetime import timedelta

import pytest
from django.test import Client
from django.urls import reverse

from config_admin import models as m
from config_admin.drafts.open_draft import open_draft
from config_admin.releases.change_set import change_set
from config_admin.test_cases import runs
from config_admin.test_cases.gate import judge_gate
from config_admin.test_cases.models import CeTestResult, CeTestRun
from config_admin.test_cases.runs import SelectedTests, create_run, iterate_run, test_runs
from convengine.server.database.sql import database_time
from convengine.server.interfaces.configuration import ConfigurationName
from convengine.server.jobs.background_runs import RunStatus
from tests.config_admin.test_cases.builders import make_test, run_tests
from tests.worlds import create_help_desk

pytestmark = [pytest.mark.django_db, pytest.mark.dialects]
LIVE = ConfigurationName("live")


@pytest.fixture(autouse=True)
def desk() -> None:
    create_help_desk()


def test_a_run_plays_what_was_chosen() -> None:
    smoke = make_test("Hours", tags=("smoke", "hours"), folder="desk")
    make_test("Fees", {"user": "fees", "expect": {"intent": "HOURS"}}, folder="desk/late")
    assert (run_tests().passed, run_tests().failed) == (1, 1)
    assert run_tests(tags=["smoke", "hours"]).total == 1
    assert run_tests(folder="desk").total == 2
    run = run_tests(cases=[smoke.pk])
    assert (run.status, run.total, run.passed, run.turns) == ("DONE", 1, 1, 1)
    assert run.content_hash
    assert run.finished_at


def test_a_draft_is_tested_before_it_is_live() -> None:
    make_test("Hours", {"user": "hours", "expect": {"response": {"equals": "Never."}}})
    draft = m.CeDraft.objects.create(title="Closed")
    with open_draft(draft.pk, "ada", writing=True), change_set():
        m.CeResponse.objects.filter(exact_text="Nine to five.").update(exact_text="Never.")
    assert run_tests().failed == 1
    run = run_tests(f"draft:{draft.pk}")
    assert (run.passed, run.configuration_title) == (1, "Draft: Closed")


def test_a_cancelled_run_ends_at_the_next_batch(monkeypatch: pytest.MonkeyPatch) -> None:
    for number in range(4):
        make_test(f"Hours {number}")
    monkeypatch.setattr(runs, "_BATCH", 1)
    run = create_run(LIVE, SelectedTests(), "ada")
    list(iterate_run(run.pk, lambda case, verdict: test_runs.cancel(run.pk) and None))
    run.refresh_from_db()
    assert (run.status, run.done) == (RunStatus.CANCELLED, 0)
    assert not test_runs.cancel(run.pk)


@pytest.mark.parametrize(("group", "status", "run_status"), [("integrator", 403, "PENDING"), ("qa", 200, "LOST")])
def test_the_list_writes_for_those_who_may_see_it(
    somebody: Callable[..., Client], group: str, status: int, run_status: str
) -> None:
    run = create_run(LIVE, SelectedTests(), "ada")
    CeTestRun.objects.update(lease_expires_at=database_time() - timedelta(seconds=1))

    assert somebody("ines", group).get(reverse("admin:config_admin_cetestrun_changelist")).status_code == status

    run.refresh_from_db()
    assert run.status == run_status


def test_a_run_of_a_draft_that_has_ended_fails_with_the_reason() -> None:
    draft = m.CeDraft.objects.create(title="Closed")
    run = create_run(ConfigurationName("draft", draft.pk), SelectedTests(), "ada")
    m.CeDraft.objects.update(status="DISCARDED")
    test_runs.run(run.pk)
    run.refresh_from_db()
    assert (run.status, run.error) == ("FAILED", "The configuration does not exist any more.")
    with pytest.raises(LookupError):
        create_run(ConfigurationName("draft", draft.pk), SelectedTests(), "ada")


def test_a_pass_does_not_outlive_a_later_failure_on_the_same_state(monkeypatch: pytest.MonkeyPatch) -> None:
    test, other = make_test("Hours", tags=("smoke",)), make_test("Fees", {"user": "fees"})
    monkeypatch.setattr(runs, "KEPT", 1)
    passed, failed = run_tests(cases=[test.pk]), run_tests(cases=[test.pk])
    # As after an update of the engine: the same test on the same state.
    CeTestResult.objects.filter(run=failed).update(passed=False)
    state = judge_gate(passed.content_hash, ["smoke"])
    assert not state.is_open
    for _ in range(3):
        run_tests(cases=[other.pk])
    assert not judge_gate(passed.content_hash, ["smoke"]).is_open


def test_of_old_runs_only_the_last_pass_of_each_test_stays(monkeypatch: pytest.MonkeyPatch) -> None:
    good, bad = make_test("Hours"), make_test("Fees", {"user": "fees", "expect": {"intent": "X"}})
    monkeypatch.setattr(runs, "KEPT", 1)
    first = run_tests(cases=[good.pk])
    for _ in range(3):
        last = run_tests(cases=[bad.pk])
    assert set(CeTestRun.objects.all()) == {first, last}
    assert {(result.run_id, result.passed) for result in CeTestResult.objects.all()} == {
        (first.pk, True),
        (last.pk, False),
    }
