"""Evaluations in the background: progress, cancelling, lost processes, and what stays."""

from datetime import timedelta
from typing import Any

import pytest

from config_admin.evaluation import runs
from config_admin.evaluation.models import CeEvaluation
from config_admin.evaluation.runs import evaluations, start_evaluation
from config_admin.tables.classifier import CeIntentClassifier
from convengine.evaluation.labelled import LabelledMessage
from convengine.server.database.sql import database_time
from convengine.server.interfaces.configuration import ConfigurationName
from tests.worlds import create_help_desk

pytestmark = [pytest.mark.django_db, pytest.mark.dialects]
LIVE = ConfigurationName("live")
PHRASES = {"HOURS": ["when do you open", "until when do you open"], "FEES": ["what does it cost", "the cost of it"]}


@pytest.fixture(autouse=True)
def desk() -> None:
    create_help_desk()
    for intent, texts in PHRASES.items():
        for text in texts:
            CeIntentClassifier.objects.create(intent_code=intent, state_code="IDLE", rule_type="PHRASE", pattern=text)


def evaluate(*messages: LabelledMessage, name: ConfigurationName = LIVE) -> CeEvaluation:
    """An evaluation that has ended; without messages a cross-validation."""
    run = start_evaluation(name, "ada", messages, "messages.csv" if messages else "")
    evaluations.run(run.pk)
    run.refresh_from_db()
    return run


def test_a_cross_validation_stores_its_measures_with_the_names_of_intents() -> None:
    run = evaluate()

    assert (run.status, run.done, run.total, run.percent) == ("DONE", 4, 4, 100)
    assert run.document["intents"]["messages"] == run.measures["messages"] == 4
    assert run.document["names"]["HOURS"] == "Hours"
    assert run.config_version
    assert run.configuration_title == "Live"


def test_messages_are_stored_only_until_they_are_evaluated() -> None:
    run = start_evaluation(LIVE, "ada", [LabelledMessage("the fees", "FEES")], "messages.csv")
    assert run.messages[0]["text"] == "the fees"

    evaluations.run(run.pk)
    run.refresh_from_db()

    assert (run.messages, run.document["intents"]["recall"]) == ([], 1.0)


def test_what_cannot_be_evaluated_is_in_its_row() -> None:
    CeIntentClassifier.objects.all().delete()

    run = evaluate()

    assert (run.status, run.error) == (
        "FAILED",
        "There is nothing to cross-validate: no intent has two different phrases.",
    )


def test_a_cancelled_evaluation_ends_at_its_next_report(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(runs, "REPORT_SECONDS", 0.0)
    run = start_evaluation(LIVE, "ada")
    report = evaluations.report

    def report_and_cancel(key: Any, **values: Any) -> None:
        report(key, **values)
        evaluations.cancel(key)

    monkeypatch.setattr(evaluations, "report", report_and_cancel)
    evaluations.run(run.pk)
    run.refresh_from_db()

    assert (run.status, run.done, run.document) == ("CANCELLED", 1, None)


def test_an_evaluation_of_a_dead_process_is_lost_when_another_one_starts() -> None:
    run = start_evaluation(LIVE, "ada")
    CeEvaluation.objects.update(lease_expires_at=database_time() - timedelta(minutes=1))

    evaluate()
    run.refresh_from_db()

    assert run.status == "LOST"


def test_the_newest_evaluations_stay(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(runs, "KEPT", 2)

    made = [evaluate().pk for _ in range(3)]

    assert sorted(CeEvaluation.objects.values_list("pk", flat=True)) == made[1:]
