"""Replays through the API: one per caller at a time, in the background of this process.

The process of a replay reports periodically that it is alive; a silent job is lost. The result counts differences
and failures.
"""

import time
import uuid
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from typing import Any

import structlog
from django.db import IntegrityError, transaction
from django.db.models import QuerySet

from audit.models import CeErasure, CeReplayJob
from audit.replay.comparison import EventPair, StepPair
from audit.replay.outcome import ReplayOutcome, replay_outcome
from audit.replay.trace_replay import ERROR, TraceExpectation, TraceTurnResult, find_failures
from convengine.engine.errors import ConversationNotFound, ReplayBusy
from convengine.engine.pipeline.stages import STEP_ENTER
from convengine.engine.text.compare import shorten
from convengine.engine.turn.codec import dumps, to_plain
from convengine.server.database.sql import database_time
from convengine.server.jobs.background import Background
from convengine.server.jobs.running import get_lease_end
from convengine.server.sessions.models import CeConversationHistory
from convengine.server.turns.waiting import release_connection

log = structlog.get_logger(__name__)
Status = CeReplayJob.Status
_OPEN = (Status.PENDING, Status.RUNNING)
#: One at a time, because a replay computes all the time and would slow down turns.
replays = Background(threads=1, waiting=100)
#: Jobs that this process runs or has in its queue.
_held: set[uuid.UUID] = set()


class _JobGone(Exception):
    """The job was erased with its conversation, or counted as lost."""


def start_job(job: CeReplayJob) -> None:
    """Store a job and start it. Raises ReplayBusy while another one of the same owner runs.

    Raises ConversationNotFound for an erased conversation.
    """
    mark_lost_jobs()
    job.created_at = database_time()
    job.lease_expires_at = get_lease_end(job.created_at)
    try:
        with transaction.atomic():
            job.save(force_insert=True)
            # An erasure locks the conversation: the row above was either before it and is removed with it, or comes
            # after it.
            if CeErasure.objects.filter(conversation_id=job.conversation_id).exists():
                raise ConversationNotFound("The data of this conversation was erased, so it cannot be replayed.")
    except IntegrityError:
        if not CeReplayJob.objects.filter(owner=job.owner, status__in=_OPEN).exists():
            raise
        raise ReplayBusy() from None
    _held.add(job.pk)
    if not replays.submit(partial(run_job, job.pk)):
        _held.discard(job.pk)
        job.delete()
        raise ReplayBusy("Too many replays are waiting. Try again later.")


def mark_lost_jobs() -> None:
    """Mark jobs of dead processes as lost."""
    now = database_time()
    dead = CeReplayJob.objects.filter(status__in=_OPEN, lease_expires_at__lt=now)
    dead.update(status=Status.LOST, finished_at=now, error="The process of this replay ended. Start it again.")


def run_job(key: uuid.UUID) -> None:
    """Run a waiting job, without holding a transaction. A failure is in its row, never raised."""
    try:
        now = database_time()
        if not _select_job(key, Status.PENDING).update(
            status=Status.RUNNING, started_at=now, lease_expires_at=get_lease_end(now)
        ):
            return
        job = CeReplayJob.objects.filter(pk=key).first()
        if job is not None:
            result = run_job_turns(job, partial(_renew_leases, key))
            _select_job(key, Status.RUNNING).update(status=Status.DONE, result=result, finished_at=database_time())
    except _JobGone:
        log.info("replay given up", replay=str(key))
    except Exception as error:
        log.error("replay failed", replay=str(key), error=str(error), exc_info=error)
        release_connection()
        text = f"{type(error).__name__}: {error}"
        _select_job(key, Status.RUNNING).update(status=Status.FAILED, error=text, finished_at=database_time())
    finally:
        _held.discard(key)


def _renew_leases(key: uuid.UUID) -> None:
    """Report that this process is alive, for all its jobs. Raises _Gone."""
    held = CeReplayJob.objects.filter(pk__in=list(_held), status__in=_OPEN)
    held.update(lease_expires_at=get_lease_end(database_time()))
    if not _select_job(key, Status.RUNNING).exists():
        raise _JobGone
    release_connection()


def _select_job(key: uuid.UUID, status: CeReplayJob.Status) -> QuerySet[CeReplayJob]:
    return CeReplayJob.objects.filter(pk=key, status=status)


Json = Any
#: Maximum length of a call without a recorded answer.
_CALL = 500


def run_job_turns(job: CeReplayJob, goes_on: Callable[[], None]) -> dict[str, Json]:
    """Run the turns one after the other, with `goes_on` after each: `passed`, `turns`, `assertionFailures`, `diff`."""
    traced: list[TraceTurnResult] = []
    turns, failed, diff = [], [], []
    for index, turn_no in enumerate(job.asked["turns"]):
        began = time.monotonic()
        record = _read_record(job, turn_no)
        outcome = replay_outcome(record, job.asked["configVersion"]) if record else None
        traced.append(_trace_turn(index, outcome))
        milliseconds = round((time.monotonic() - began) * 1000)
        turns.append({**traced[-1].as_json(), "turnNo": turn_no, **_turn_fields(outcome), "durationMs": milliseconds})
        failed += [f"turn {index}: {text}" for text in _find_failures(outcome)]
        if outcome and (difference := _difference_document(outcome)):
            diff.append({"turnIndex": index, "turnNo": turn_no, **difference})
        goes_on()
    expected = [_parse_expectation(expectation) for expectation in job.asked["expectations"]]
    failed += [text for expectation in expected for text in find_failures(expectation, traced)]
    return {"passed": not failed, "turns": turns, "assertionFailures": failed, "diff": diff}


def _read_record(job: CeReplayJob, turn_no: int) -> CeConversationHistory | None:
    turns = CeConversationHistory.objects.filter(conversation_id=job.conversation_id, turn_no=turn_no)
    return turns.defer("trace_graph").first()


def _parse_expectation(given: Mapping[str, Json]) -> TraceExpectation:
    return TraceExpectation(given["turnIndex"], given.get("expectedIntent"), given.get("expectedState"))


def _trace_turn(index: int, outcome: ReplayOutcome | None) -> TraceTurnResult:
    """The intent and state of the turn; ERROR for one that failed, or could not run."""
    text = (outcome.record.user_input or "") if outcome else ""
    session = outcome.run.ended if outcome and outcome.run else None
    if session is None:
        return TraceTurnResult(index, text, ERROR, ERROR, "{}")
    return TraceTurnResult(index, text, session.intent or "", session.state or "", dumps(to_plain(session.context)))


def _turn_fields(outcome: ReplayOutcome | None) -> dict[str, Json]:
    run = outcome.run if outcome else None
    return {
        "turnId": str(outcome.record.turn_id) if outcome else None,
        "configVersion": outcome.config_version if outcome else None,
        "equal": bool(outcome and outcome.equal),
        "payload": to_plain(run.ended.last_assistant) if run and run.ended else None,
        "errorCode": run.error_code if run else None,
        "stages": [row.stage for row in run.replayed] if run else [],
    }


def _find_failures(outcome: ReplayOutcome | None) -> Iterator[str]:
    """Failures of a replay, besides expectations."""
    if outcome is None:
        yield "it is no longer stored"
        return
    if outcome.run is None:
        yield f"it cannot be replayed: {outcome.refused}"
        return
    yield from (shorten(text, _CALL) for text in (*outcome.run.missing, *outcome.run.stretched))
    if outcome.own and not outcome.equal and not outcome.run.missing:
        yield _describe_first_difference(outcome)


def _describe_first_difference(outcome: ReplayOutcome) -> str:
    first = outcome.first
    sides = (first.recorded or first.replayed) if first else None
    if first is None or sides is None:
        return "it does not make the calls that are recorded" if first and first.calls else "it differs from its record"
    where = "in its answer" if sides[0] == "answer" else f"at event {first.seq} ({sides[0]})"
    return f"it differs from its record, first {where}"


def _difference_document(outcome: ReplayOutcome) -> dict[str, Json]:
    """Added, removed or changed stages, and the answer; empty without a difference."""
    if outcome.run is None:
        return {}
    pairs = [(step.step, pair) for step in outcome.steps for pair in (*_frame(step), *step.differing)]
    document: dict[str, Json] = {
        "added": [{"step": step, "stage": pair.stage} for step, pair in pairs if pair.left is None],
        "removed": [{"step": step, "stage": pair.stage} for step, pair in pairs if pair.right is None],
        "changed": [
            {"step": step, "stage": pair.stage, "paths": _paths(pair)} for step, pair in pairs if not pair.alone
        ],
    }
    then, now = outcome.run.answers
    if then != now:
        document["answer"] = {"recorded": then, "replayed": now}
    return document if any(document.values()) else {}


def _frame(step: StepPair) -> Sequence[EventPair]:
    """The start of a step that only one side has; other starts have no information."""
    if step.in_left and step.in_right:
        return ()
    return (EventPair(STEP_ENTER, None, None, (), ()),)


def _paths(pair: EventPair) -> list[dict[str, str]]:
    return [
        {"path": difference.path, "recorded": difference.left, "replayed": difference.right}
        for difference in pair.places
    ]
