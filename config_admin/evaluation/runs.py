"""Evaluate a configuration in the background of this process, with progress, cancelling and a lease."""

import time
from collections.abc import Sequence
from dataclasses import asdict

from config_admin.evaluation.models import CeEvaluation
from convengine.engine.text.compare import code
from convengine.engine.turn import rows
from convengine.evaluation.configuration import evaluate_messages, validate_configuration
from convengine.evaluation.labelled import LabelledMessage
from convengine.evaluation.read import EvaluationError
from convengine.server.database.sql import release_connections
from convengine.server.interfaces.configuration import ConfigurationName, named_configurations
from convengine.server.jobs.background_runs import OPEN, PAUSE_SECONDS, REPORT_SECONDS, BackgroundRuns

#: The newest evaluations that stay.
KEPT = 20


def start_evaluation(
    name: ConfigurationName, user: str, messages: Sequence[LabelledMessage] = (), file_name: str = ""
) -> CeEvaluation:
    """Start an evaluation when the transaction is committed; without messages, a cross-validation.

    Raises LookupError, ReplayBusy.
    """
    run = CeEvaluation(
        configuration=str(name),
        configuration_title=named_configurations().describe(name)[:200],
        file_name=file_name[:200],
        messages=[asdict(message) for message in messages],
        total=len(messages),
        started_by=user,
    )
    evaluations.start(run)
    return run


def _evaluate(run: CeEvaluation) -> None:
    """Measure, and store the document, and what the list of evaluations shows, so that it reads no whole documents."""
    snapshot, report = named_configurations().read(ConfigurationName.parse(run.configuration)), _Report(run.pk)
    release_connections()
    if run.file_name:
        messages = [LabelledMessage(**message) for message in run.messages]
        document = evaluate_messages(snapshot, messages, report=report)
    else:
        document = validate_configuration(snapshot, report=report)
    intents, fields = document["intents"] or {}, document["fields"] or {}
    measures = {name: intents.get(name) for name in ("messages", "precision", "recall", "near")}
    measures |= {"f1": (intents.get("weighted") or {}).get("f1"), "taken": fields.get("taken")}
    document["names"] = {code(row.intent_code): row.name for row in snapshot.rows(rows.Intent)}
    evaluations.report(run.pk, document=document, measures=measures, config_version=snapshot.config_version)


def _forget_messages(key: int) -> None:
    """Of an evaluation that ended, and of all but the newest ones, whose results have some."""
    CeEvaluation.objects.filter(pk=key).update(messages=[])
    newest = CeEvaluation.objects.order_by("-pk").values_list("pk", flat=True)[KEPT - 1 : KEPT].first()
    if newest is not None:
        CeEvaluation.objects.filter(pk__lt=newest).exclude(status__in=OPEN).delete()


class _Report:
    """Stores the progress, about once in a second."""

    def __init__(self, key: int) -> None:
        self._key = key
        self._at = 0.0

    def __call__(self, done: int, total: int) -> None:
        """Raises RunEnded when the evaluation was cancelled."""
        time.sleep(PAUSE_SECONDS)
        if done == total or time.monotonic() - self._at >= REPORT_SECONDS:
            self._at = time.monotonic()
            evaluations.report(self._key, done=done, total=total)


def _describe_failure(error: Exception, key: int) -> str:
    if isinstance(error, LookupError):
        return "The configuration does not exist any more."
    if isinstance(error, EvaluationError):
        return str(error)
    return "The evaluation failed. The server log has the details."


evaluations = BackgroundRuns(
    CeEvaluation, "evaluation", _evaluate, _describe_failure, most=20, clean_up=_forget_messages
)
