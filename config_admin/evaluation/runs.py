"""Evaluate a configuration in the background of this process, with progress, cancelling and a lease."""

import time
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from typing import Any

from django.db import transaction

from config_admin.evaluation.models import CeEvaluation
from convengine.engine.text.compare import code
from convengine.engine.turn import rows
from convengine.engine.turn.snapshot import Snapshot
from convengine.evaluation.configuration import evaluate_messages, validate_configuration
from convengine.evaluation.labelled import LabelledMessage
from convengine.evaluation.read import EvaluationError
from convengine.server.database.sql import database_time, release_connections
from convengine.server.interfaces.configuration import ConfigurationName, named_configurations
from convengine.server.jobs.background_runs import OPEN, BackgroundRuns, RunStatus
from convengine.server.jobs.running import get_lease_end

evaluations = BackgroundRuns(CeEvaluation, "evaluation", waiting=20)
#: The newest evaluations that stay.
KEPT = 20
#: Seconds between two reports of the progress.
_REPORT = 1.0
#: How long the interpreter is given away after each message, in seconds: turns come first.
_PAUSE = 0.0005


class EvaluationBusy(ValueError):
    """Too many evaluations are waiting."""

    def __init__(self) -> None:
        super().__init__("Too many evaluations are waiting. Try again later.")


def start_evaluation(
    name: ConfigurationName, user: str, messages: Sequence[LabelledMessage] = (), file_name: str = ""
) -> CeEvaluation:
    """Start an evaluation when the transaction is committed; without messages, a cross-validation.

    Raises LookupError, EvaluationBusy.
    """
    evaluations.mark_lost()
    if evaluations.is_full:
        raise EvaluationBusy
    now = database_time()
    run = CeEvaluation.objects.create(
        configuration=str(name),
        configuration_title=named_configurations().describe(name)[:200],
        file_name=file_name[:200],
        messages=[asdict(message) for message in messages],
        total=len(messages),
        started_by=user,
        created_at=now,
        lease_expires_at=get_lease_end(now),
    )
    transaction.on_commit(lambda: _submit(run.pk))
    return run


def _submit(key: int) -> None:
    if not evaluations.submit(key, perform_evaluation):
        CeEvaluation.objects.filter(pk=key).update(
            status=RunStatus.FAILED, error=str(EvaluationBusy()), messages=[], finished_at=database_time()
        )


def perform_evaluation(key: int) -> None:
    """Perform a waiting evaluation. A failure is in its row, never raised."""
    try:
        with evaluations.perform(key, _describe_failure) as run:
            if run is not None:
                snapshot = named_configurations().read(ConfigurationName.parse(run.configuration))
                release_connections()
                names = {code(row.intent_code): row.name for row in snapshot.rows(rows.Intent)}
                document = {**_evaluate(run, snapshot), "names": names}
                measures = _list_measures(document)
                evaluations.report(run.pk, document=document, measures=measures, config_version=snapshot.config_version)
    finally:
        CeEvaluation.objects.filter(pk=key).update(messages=[])
        # All but the newest evaluations go: their results have messages.
        newest = CeEvaluation.objects.order_by("-pk").values_list("pk", flat=True)[KEPT - 1 : KEPT].first()
        if newest is not None:
            CeEvaluation.objects.filter(pk__lt=newest).exclude(status__in=OPEN).delete()


def _evaluate(run: CeEvaluation, snapshot: Snapshot) -> dict[str, Any]:
    report = _Report(run.pk)
    if not run.file_name:
        return validate_configuration(snapshot, report=report)
    return evaluate_messages(snapshot, [LabelledMessage(**message) for message in run.messages], report=report)


def _list_measures(document: Mapping[str, Any]) -> dict[str, Any]:
    """What the list of evaluations shows, so that it reads no whole documents."""
    intents, fields = document["intents"] or {}, document["fields"] or {}
    names = ("messages", "precision", "recall", "near")
    weighted = intents.get("weighted") or {}
    return {**{name: intents.get(name) for name in names}, "f1": weighted.get("f1"), "taken": fields.get("taken")}


class _Report:
    """Stores the progress, about once in a second."""

    def __init__(self, key: int) -> None:
        self._key = key
        self._at = 0.0

    def __call__(self, done: int, total: int) -> None:
        """Raises RunEnded when the evaluation was cancelled."""
        time.sleep(_PAUSE)
        if done == total or time.monotonic() - self._at >= _REPORT:
            self._at = time.monotonic()
            evaluations.report(self._key, done=done, total=total)
            release_connections()


def _describe_failure(error: Exception) -> str:
    if isinstance(error, LookupError):
        return "The configuration does not exist any more."
    if isinstance(error, EvaluationError):
        return str(error)
    return "The evaluation failed. The server log has the details."
