"""Run tests: in the background of this process, with progress, cancelling and a lease.

A run reads its configuration once. Results are stored in batches, each with the counts and the lease, so that a page
shows the progress, a cancelled run ends at once, and the run of a dead process is marked as lost.
"""

import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any, TypeVar

import structlog
from django.db import transaction
from django.db.models import Count, Exists, F, Max, Model, OuterRef, Q, QuerySet

from config_admin.test_cases.models import CeTestCase, CeTestCaseTag, CeTestResult, CeTestRun
from config_admin.test_cases.play import CaseVerdict, list_changed_rows, play_test
from convengine import __version__
from convengine.engine.turn.snapshot import Snapshot
from convengine.server.database.sql import database_time, release_connections
from convengine.server.interfaces.configuration import ConfigurationName, named_configurations
from convengine.server.jobs.background_runs import OPEN, BackgroundRuns, in_parts

M = TypeVar("M", bound=Model)
log = structlog.get_logger(__name__)
#: Tests that are read and stored at once.
_BATCH = 100
#: Entries of a page; folders and tags that a page offers.
PAGE, _OFFERED = 100, 200
#: Runs whose results all stay; of older ones only the last pass of each test stays.
KEPT = 50


@dataclass(frozen=True)
class SelectedTests:
    """Which tests run; all without a choice."""

    tags: Sequence[str] = ()
    folder: str = ""
    cases: Sequence[int] = ()

    @classmethod
    def read(cls, stored: Mapping[str, Any]) -> "SelectedTests":
        return cls(**stored)

    def as_json(self) -> dict[str, Any]:
        return {name: value for name, value in asdict(self).items() if value}

    def query(self) -> QuerySet[CeTestCase]:
        """The tests that can run: those with one of the tags, in the folder or below it, with these keys."""
        tests = CeTestCase.objects.filter(erased_at=None)
        if self.tags:
            tests = tests.filter(tags__tag__in=self.tags).distinct()
        if self.folder:
            tests = tests.filter(Q(folder=self.folder) | Q(folder__startswith=f"{self.folder}/"))
        if self.cases:
            tests = tests.filter(pk__in=self.cases)
        return tests

    def describe(self) -> str:
        """What was chosen, in words."""
        parts = [
            *([f"tag {', '.join(self.tags)}"] if self.tags else []),
            *([f"folder {self.folder}"] if self.folder else []),
            *(["1 test" if len(self.cases) == 1 else f"{len(self.cases)} tests"] if self.cases else []),
        ]
        return " · ".join(parts) or "all tests"


def list_folders() -> list[str]:
    tests = CeTestCase.objects.exclude(folder="").order_by("folder")
    return list(tests.values_list("folder", flat=True).distinct()[:_OFFERED])


def count_tags() -> list[tuple[str, int]]:
    """The tags to choose from, each with the number of its tests."""
    return list(CeTestCaseTag.objects.values_list("tag").annotate(tests=Count("pk")).order_by("tag")[:_OFFERED])


def take_page(query: QuerySet[M], after: int) -> tuple[list[M], int | None]:
    """The rows of a page in the order of their keys, and the `after` of the next page (None on the last page)."""
    rows = list(query.filter(pk__gt=after).order_by("pk")[: PAGE + 1])
    return rows[:PAGE], rows[PAGE - 1].pk if len(rows) > PAGE else None


def read_results(run: CeTestRun, after: int, *, with_passed: bool) -> tuple[list[CeTestResult], int | None]:
    """A page of the failures of a run, or of all its results, without turns and rows."""
    results = run.results.all() if with_passed else run.results.filter(passed=False)
    shown = results.select_related("test_case").defer("turns", "deciding_rows", "positions", "test_case__document")
    return take_page(shown, after)


def create_run(name: ConfigurationName, selection: SelectedTests, user: str) -> CeTestRun:
    """Store a run that has not begun. Raises LookupError for a configuration that does not exist."""
    run = _build_run(name, selection, user)
    test_runs.create(run)
    return run


def start_run(name: ConfigurationName, selection: SelectedTests, user: str) -> CeTestRun:
    """Start a run in the background, when the transaction is committed. Raises LookupError, ReplayBusy."""
    run = _build_run(name, selection, user)
    test_runs.start(run)
    return run


def _build_run(name: ConfigurationName, selection: SelectedTests, user: str) -> CeTestRun:
    return CeTestRun(
        configuration=str(name),
        configuration_title=named_configurations().describe(name)[:200],
        selection=selection.as_json(),
        engine_version=__version__,
        total=selection.query().count(),
        started_by=user,
    )


def iterate_run(
    run_id: int, note: Callable[[CeTestCase, CaseVerdict], None] = lambda case, verdict: None
) -> Iterator[None]:
    """Run the tests of a run, with a break after each stored batch but the last. `note` gets each verdict."""
    with test_runs.perform(run_id) as run:
        if run is not None:
            yield from _play_all(run, note)


def _play_all(run: CeTestRun, note: Callable[[CeTestCase, CaseVerdict], None]) -> Iterator[None]:
    began, played = time.monotonic(), 0
    snapshot = named_configurations().read(ConfigurationName.parse(run.configuration))
    run.config_version, run.content_hash = snapshot.config_version, snapshot.content_hash
    run.save(update_fields=["config_version", "content_hash"])
    for verdicts in in_parts(_play_each(run, snapshot, note), _BATCH):
        _store(run, snapshot, verdicts, began)
        played += len(verdicts)
        if played < run.total:
            yield
    _store(run, snapshot, (), began)
    remove_old_results()


def _play_each(
    run: CeTestRun, snapshot: Snapshot, note: Callable[[CeTestCase, CaseVerdict], None]
) -> Iterator[tuple[CeTestCase, CaseVerdict]]:
    """The tests of a run in order, some read at a time: no query stays open while they are played."""
    query, last, at = SelectedTests.read(run.selection).query(), 0, database_time()
    while cases := list(query.filter(pk__gt=last).order_by("pk")[:_BATCH]):
        for case in cases:
            try:
                verdict = play_test(case, snapshot, at)
            except Exception as error:
                log.error("test not played", test=case.name, error=str(error), exc_info=error)
                text = f"{type(error).__name__}: {error}"
                failure = {"turn": None, "where": "test", "expected": "turns that can be played", "got": text}
                verdict = CaseVerdict([failure])
            note(case, verdict)
            yield case, verdict
        last = cases[-1].pk


def _play_in_background(run: CeTestRun) -> None:
    for _ in _play_all(run, lambda case, verdict: None):
        pass


def _describe_failure(error: Exception, key: int) -> str:
    return "The configuration does not exist any more." if isinstance(error, LookupError) else str(error)


test_runs = BackgroundRuns(CeTestRun, "test run", _play_in_background, _describe_failure, most=100)


def _store(run: CeTestRun, snapshot: Snapshot, played: Sequence[tuple[CeTestCase, CaseVerdict]], began: float) -> None:
    """Store results, counts and the lease. Raises RunEnded when the run was cancelled."""
    passes = _read_last_passes([case.pk for case, verdict in played if not verdict.has_passed])
    results = [
        CeTestResult(
            run=run,
            test_case=case,
            document_hash=case.document_hash,
            content_hash=snapshot.content_hash,
            passed=verdict.has_passed,
            failures=verdict.failures,
            turns=[] if verdict.has_passed else verdict.turns,
            deciding_rows=verdict.deciding_rows,
            positions=verdict.positions,
            since_passed=_describe_changes(passes.get(case.pk), case, verdict, snapshot),
            milliseconds=verdict.milliseconds,
        )
        for case, verdict in played
    ]
    passed = sum(result.passed for result in results)
    test_runs.report(
        run.pk,
        passed=F("passed") + passed,
        failed=F("failed") + len(results) - passed,
        turns=F("turns") + sum(len(verdict.turns) for _, verdict in played),
        milliseconds=round((time.monotonic() - began) * 1000),
    )
    with transaction.atomic():
        # Locked, so that an erasure meanwhile finds these results or prevents them.
        tests = CeTestCase.objects.select_for_update().filter(pk__in=[case.pk for case, _ in played], erased_at=None)
        known = set(tests.values_list("pk", flat=True))
        CeTestResult.objects.bulk_create([result for result in results if result.test_case_id in known])
    release_connections()


def _read_last_passes(case_ids: Sequence[int]) -> dict[int, CeTestResult]:
    if not case_ids:
        return {}
    newest = (
        CeTestResult.objects.filter(test_case_id__in=case_ids, passed=True)
        .values("test_case_id")
        .annotate(newest=Max("result_id"))
        .values_list("newest", flat=True)
    )
    results = CeTestResult.objects.filter(pk__in=list(newest)).select_related("run")
    return {result.test_case_id: result for result in results}


def _describe_changes(
    passed: CeTestResult | None, case: CeTestCase, verdict: CaseVerdict, snapshot: Snapshot
) -> dict[str, Any] | None:
    """What changed since a test last passed, most suspicious first."""
    if passed is None:
        return None
    return {
        "run": passed.run_id,
        "configuration": passed.run.configuration_title,
        "config_version": passed.run.config_version,
        "at": passed.run.created_at.isoformat(),
        "is_edited": passed.document_hash != case.document_hash,
        "rows": list_changed_rows(passed.deciding_rows, verdict.deciding_rows, snapshot),
    }


def remove_old_results() -> None:
    """Remove the results of older runs, except the last pass of each test, and runs that have none left.

    A pass goes when the test failed later on the same state: without that failure, it would open the gate.
    """
    newest = CeTestRun.objects.order_by("-run_id").values_list("run_id", flat=True)[KEPT : KEPT + 1].first()
    if newest is None:
        return
    later = CeTestResult.objects.filter(test_case=OuterRef("test_case"), pk__gt=OuterRef("pk"))
    outdated = later.filter(Q(passed=True) | Q(content_hash=OuterRef("content_hash")))
    old = CeTestResult.objects.filter(run_id__lte=newest)
    old.filter(Q(passed=False) | Exists(outdated)).only("pk").delete()
    has_result = CeTestResult.objects.filter(run=OuterRef("pk"))
    CeTestRun.objects.filter(~Exists(has_result), pk__lte=newest).exclude(status__in=OPEN).delete()
