"""What-if runs: progress, cancel, lost processes, and what an erasure leaves of them."""

import hashlib
import uuid
from datetime import timedelta
from typing import Any

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext
from django.utils import timezone

from audit.erasure.erase import EraseOrder, erase_conversation
from audit.models import CeWhatIf, CeWhatIfTurn
from audit.record import retention
from audit.what_if import jobs
from audit.what_if.engine import DifferenceKind
from audit.what_if.jobs import pack_unsaved, start_run, what_ifs
from audit.what_if.results import count_differences, read_groups
from config_admin.models import CeIntentClassifier, CeResponse
from config_admin.releases.content import content_of
from convengine.server.jobs import background_runs
from convengine.server.jobs.background_runs import RunStatus
from tests.api import Caller

pytestmark = pytest.mark.django_db


def build_run(**values: Any) -> CeWhatIf:
    """Live with another answer about fees."""
    row = CeResponse.objects.get(intent_code="FEES")
    unsaved = pack_unsaved({"ce_response": {row.pk: {**content_of(row), "exact_text": "Ten."}}})
    return CeWhatIf(**{"owner": "user:ada", "configuration": "live", "unsaved": unsaved, "last": 100, **values})


def run_now(**values: Any) -> CeWhatIf:
    run = build_run(**values)
    start_run(run)
    what_ifs.run(run.pk)
    return CeWhatIf.objects.get(pk=run.pk)


def erase(caller: Caller) -> None:
    for _ in erase_conversation(uuid.UUID(caller.conversation_id), EraseOrder("ada", "asked for")):
        pass


def test_a_run_stores_keys_and_codes_and_never_a_word(caller: Caller) -> None:
    for text in ("fees", "hours"):
        caller.say(text)

    phrase = CeIntentClassifier.objects.get(intent_code="FEES")
    run = run_now(
        unsaved=pack_unsaved({"ce_intent_classifier": {phrase.pk: {**content_of(phrase), "pattern": "costs"}}})
    )

    assert (run.status, run.turns, run.done, run.conversations) == (RunStatus.DONE, 2, 2, 1)
    assert run.title == "Live with rows as in the form"
    first, second = run.results.order_by("turn_no")
    assert (first.kind, first.table_name, first.is_after_difference) == (
        DifferenceKind.INTENT,
        "ce_intent_classifier",
        False,
    )
    assert (second.kind, second.is_after_difference) == (DifferenceKind.SAME, True)
    stored = str([list(CeWhatIf.objects.values_list()), list(CeWhatIfTurn.objects.values_list())])
    assert "No fees." not in stored
    assert [(group.kind, group.count) for group in read_groups(run)] == [("INTENT", 1), ("AFTER", 1)]


def hash_tables() -> dict[str, str]:
    """The content of every table, as a hash."""
    names = sorted(connection.introspection.table_names())
    with connection.cursor() as cursor:
        hashes = {}
        for name in names:
            cursor.execute(f"SELECT * FROM {connection.ops.quote_name(name)}")
            rows = sorted(repr(row) for row in cursor.fetchall())
            hashes[name] = hashlib.sha256("\n".join(rows).encode()).hexdigest()
    return hashes


def test_a_run_changes_no_table_but_its_own(caller: Caller) -> None:
    for text in ("fees", "hours"):
        caller.say(text)
    before = hash_tables()

    run_now()

    after = hash_tables()
    changed = {name for name in after if before[name] != after[name]}
    assert changed == {CeWhatIf._meta.db_table, CeWhatIfTurn._meta.db_table}


def test_filters_and_the_number_of_conversations_choose_them(caller: Caller) -> None:
    others = [Caller(caller.secret) for _ in range(3)]
    for other in others:
        other.say("fees")
    others[0].say("hours")

    assert run_now(last=2).conversations == 2
    assert run_now(filters={"intent": "HOURS"}).turns == 2
    assert run_now(filters={"intent": "NOBODY"}).turns == 0


def test_an_erased_conversation_vanishes_from_the_results(caller: Caller) -> None:
    caller.say("fees")
    other = Caller(caller.secret)
    other.say("fees")
    run = run_now()
    assert count_differences(read_groups(run)) == 2

    erase(caller)

    assert [str(row.conversation_id) for row in run.results.all()] == [other.conversation_id]
    assert count_differences(read_groups(run)) == 1


def test_what_is_erased_while_it_runs_is_not_stored(caller: Caller, monkeypatch: pytest.MonkeyPatch) -> None:
    caller.say("fees")
    store = jobs._store_results

    def erase_first(run: CeWhatIf, results: Any) -> None:
        erase(caller)
        store(run, results)

    monkeypatch.setattr(jobs, "_store_results", erase_first)

    run = run_now()
    assert run.status == RunStatus.DONE
    assert not run.results.exists()


def test_a_run_that_is_cancelled_on_the_way_stops_and_keeps_its_results(
    caller: Caller, monkeypatch: pytest.MonkeyPatch
) -> None:
    for _ in range(3):
        Caller(caller.secret).say("fees")
    monkeypatch.setattr(jobs, "_BATCH", 1)
    store = jobs._store_results

    def cancel_later(run: CeWhatIf, results: Any) -> None:
        store(run, results)
        if run.results.count() == 2:
            what_ifs.cancel(run.pk)

    monkeypatch.setattr(jobs, "_store_results", cancel_later)
    run = run_now()

    assert (run.status, run.done, run.results.count()) == (RunStatus.CANCELLED, 1, 2)


def test_a_failure_is_said(caller: Caller) -> None:
    run = build_run(unsaved=None)
    start_run(run)
    CeWhatIf.objects.update(configuration="release:999999")
    what_ifs.run(run.pk)
    run.refresh_from_db()
    assert run.status == RunStatus.FAILED
    assert run.error


def test_a_fault_is_in_the_log_and_not_on_the_page(caller: Caller, monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(*args: Any) -> None:
        raise ValueError("secret")

    monkeypatch.setattr(jobs, "select_turns", fail)

    run = run_now()

    assert (run.status, run.error) == (
        RunStatus.FAILED,
        f"The run failed. The server log has the details under {run.pk}.",
    )


def test_old_runs_are_removed(caller: Caller) -> None:
    caller.say("fees")
    run_now()
    CeWhatIf.objects.update(created_at=timezone.now() - timedelta(days=8))

    for _ in retention.remove_old():
        pass

    assert not CeWhatIf.objects.exists()
    assert not CeWhatIfTurn.objects.exists()


def test_the_queries_grow_with_batches_only(caller: Caller, monkeypatch: pytest.MonkeyPatch) -> None:
    # A slow machine reports its progress more often.
    monkeypatch.setattr(background_runs, "REPORT_SECONDS", 60.0)
    counts = []
    for turns in (2, 20):
        for _ in range(turns):
            Caller(caller.secret).say("fees")
        with CaptureQueriesContext(connection) as queries:
            run_now()
        counts.append(len(queries))
    assert counts[0] == counts[1]
