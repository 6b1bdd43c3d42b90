"""Replays through the API: one per caller at a time, in the background of this process.

The process of a replay reports periodically that it is alive; a silent job is lost. The result counts differences
and failures.
"""

import time
from collections.abc import Iterator, Mapping, Sequence
from typing import NamedTuple

from audit.models import CeErasure, CeReplayJob
from audit.record.events import expand_events
from audit.replay.comparison import EventPair, StepPair
from audit.replay.replay import Replay, replay_turn
from convengine.engine.errors import ConversationNotFound, ReplayBusy
from convengine.engine.pipeline.stages import STEP_ENTER
from convengine.engine.text.compare import shorten
from convengine.engine.turn.codec import dumps, to_plain
from convengine.json_value import Json
from convengine.server.database.unreadable import read_rows
from convengine.server.jobs.background_runs import BackgroundRuns
from convengine.server.sessions.models import CeConversation, CeConversationHistory


def start_job(job: CeReplayJob) -> None:
    """Store a job and start it. Raises ReplayBusy while another one of the same owner runs.

    Raises ConversationNotFound for an erased conversation.
    """

    def refuse_erased() -> None:
        # An erasure locks the conversation: the job's row was either before it and is removed with it, or comes after.
        if CeErasure.objects.filter(conversation_id=job.conversation_id).exists():
            raise ConversationNotFound("The data of this conversation was erased, so it cannot be replayed.")

    try:
        replays.start(job, refuse_erased)
    except ReplayBusy:
        if not CeConversation.objects.filter(pk=job.conversation_id).exists():
            raise ConversationNotFound() from None
        raise


#: Intent and state of a turn that failed.
ERROR = "ERROR"
#: What is expected of a turn, by key of the call: the key of the turn.
_EXPECTED = {"expectedIntent": "intent", "expectedState": "state"}
#: Maximum length of a call without a recorded answer.
_CALL = 500


def _run_turns(job: CeReplayJob) -> None:
    """Run the turns one after the other, and store `passed`, `turns`, `assertionFailures`, `diff`."""
    turns: list[dict[str, Json]] = []
    failed, diff = [], []
    for index, turn_no in enumerate(job.asked["turns"]):
        began = time.monotonic()
        stored = CeConversationHistory.objects.filter(conversation_id=job.conversation_id, turn_no=turn_no)
        record = next(iter(read_rows(stored.defer(None)[:1])), None)
        outcome = replay_turn(record, job.asked["configVersion"]) if record else None
        described = _describe_turn(outcome)
        milliseconds = round((time.monotonic() - began) * 1000)
        turns.append({"turnIndex": index, "turnNo": turn_no, **described, "durationMs": milliseconds})
        failed += [f"turn {index}: {text}" for text in _find_failures(outcome)]
        if outcome and (difference := _difference_document(outcome)):
            diff.append({"turnIndex": index, "turnNo": turn_no, **difference})
        replays.report(job.pk)
    failed += [text for expected in job.asked["expectations"] for text in _find_unmet(expected, turns)]
    result = {"passed": not failed, "turns": turns, "assertionFailures": failed, "diff": diff}
    replays.report(job.pk, result=result)


replays = BackgroundRuns(
    CeReplayJob, "replay", _run_turns, lambda error, key: f"{type(error).__name__}: {error}", most=101
)


def _describe_turn(outcome: Replay | None) -> dict[str, Json]:
    """Where the turn led; ERROR for one that failed, or could not run."""
    turn = outcome.turn if outcome else None
    end = _read_end(outcome) if outcome else None
    return {
        "userText": (outcome.record.user_input or "") if outcome else "",
        "intent": (end.intent or "") if end else ERROR,
        "state": (end.state or "") if end else ERROR,
        "contextJson": dumps(to_plain(end.context)) if end else "{}",
        "turnId": str(outcome.record.turn_id) if outcome else None,
        "configVersion": outcome.config_version if outcome else None,
        "equal": bool(outcome and outcome.is_equal),
        "payload": to_plain(end.answer) if end else None,
        "errorCode": turn.error if turn else None,
        "stages": [event.stage for event in outcome.events] if outcome else [],
    }


class _End(NamedTuple):
    """Where a turn led."""

    intent: str | None
    state: str | None
    context: Json
    answer: Json


def _read_end(outcome: Replay) -> _End | None:
    """Of a turn handled elsewhere, what the record says. Returns None for a turn that failed or could not run."""
    if outcome.is_external:
        *_, last = expand_events(outcome.stored_events)
        end = last.state
        return _End(end["intent"], end["state"], end["context"], outcome.record.assistant_output)
    if outcome.turn is None or outcome.turn.error:
        return None
    session = outcome.turn.session
    return _End(session.intent, session.state, session.context, session.last_assistant)


def _find_unmet(expected: Mapping[str, Json], turns: Sequence[Mapping[str, Json]]) -> Iterator[str]:
    """The expectations of one turn that are not met, in words. Case does not matter."""
    index = expected["turnIndex"]
    if not 0 <= index < len(turns):
        yield f"turn {index} is out of range"
        return
    for key, name in _EXPECTED.items():
        wanted, actual = expected.get(key), turns[index][name]
        if wanted is not None and wanted.lower() != actual.lower():
            yield f"turn {index}: expected {name} {wanted}, got {actual}"


def _find_failures(outcome: Replay | None) -> Iterator[str]:
    """Failures of a replay, besides expectations."""
    if outcome is None:
        yield "it is no longer stored"
        return
    if outcome.refused:
        yield f"it cannot be replayed: {outcome.refused}"
        return
    yield from (shorten(text, _CALL) for text in outcome.missing)
    if outcome.is_on_own_release and not outcome.is_equal and not outcome.missing:
        yield _describe_first_difference(outcome)


def _describe_first_difference(outcome: Replay) -> str:
    first = outcome.first_difference
    sides = (first.recorded or first.replayed) if first else None
    if first is None or sides is None:
        return "it does not make the calls that are recorded" if first and first.calls else "it differs from its record"
    where = "in its answer" if sides[0] == "answer" else f"at event {first.seq} ({sides[0]})"
    return f"it differs from its record, first {where}"


def _difference_document(outcome: Replay) -> dict[str, Json]:
    """Added, removed or changed stages, and the answer; empty without a difference."""
    if outcome.turn is None:
        return {}
    pairs = [(step.step, pair) for step in outcome.steps for pair in (*_frame(step), *step.differing)]
    document: dict[str, Json] = {
        "added": [{"step": step, "stage": pair.stage} for step, pair in pairs if pair.left is None],
        "removed": [{"step": step, "stage": pair.stage} for step, pair in pairs if pair.right is None],
        "changed": [
            {
                "step": step,
                "stage": pair.stage,
                "paths": [difference.as_json("recorded", "replayed") for difference in pair.places],
            }
            for step, pair in pairs
            if not pair.alone
        ],
    }
    then, now = outcome.answers
    if then != now:
        document["answer"] = {"recorded": then, "replayed": now}
    return document if any(document.values()) else {}


def _frame(step: StepPair) -> Sequence[EventPair]:
    """The start of a step that only one side has; other starts have no information."""
    if step.in_left and step.in_right:
        return ()
    return (EventPair(STEP_ENTER, None, None, (), ()),)
