"""The result of replayed turns: intent and state, failures, and differences."""

import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

from audit.models import CeReplayJob
from audit.replay.comparison import EventPair, StepPair
from audit.replay.outcome import ReplayOutcome, replay_outcome
from audit.replay.trace_replay import ERROR, TraceExpectation, TraceTurnResult, find_failures
from convengine.engine.pipeline.stages import STEP_ENTER
from convengine.engine.text.compare import shorten
from convengine.engine.turn.codec import dumps, to_plain
from convengine.server.sessions.models import CeConversationHistory

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
        found = replay_outcome(record, job.asked["configVersion"]) if record else None
        traced.append(_trace_turn(index, found))
        milliseconds = round((time.monotonic() - began) * 1000)
        turns.append({**traced[-1].as_json(), "turnNo": turn_no, **_turn_fields(found), "durationMs": milliseconds})
        failed += [f"turn {index}: {text}" for text in _find_failures(found)]
        if found and (difference := _difference_document(found)):
            diff.append({"turnIndex": index, "turnNo": turn_no, **difference})
        goes_on()
    expected = [_parse_expectation(one) for one in job.asked["expectations"]]
    failed += [text for one in expected for text in find_failures(one, traced)]
    return {"passed": not failed, "turns": turns, "assertionFailures": failed, "diff": diff}


def _read_record(job: CeReplayJob, turn_no: int) -> CeConversationHistory | None:
    turns = CeConversationHistory.objects.filter(conversation_id=job.conversation_id, turn_no=turn_no)
    return turns.defer("trace_graph").first()


def _parse_expectation(given: Mapping[str, Json]) -> TraceExpectation:
    return TraceExpectation(given["turnIndex"], given.get("expectedIntent"), given.get("expectedState"))


def _trace_turn(index: int, found: ReplayOutcome | None) -> TraceTurnResult:
    """The intent and state of the turn; ERROR for one that failed, or could not run."""
    text = (found.record.user_input or "") if found else ""
    session = found.run.ended if found and found.run else None
    if session is None:
        return TraceTurnResult(index, text, ERROR, ERROR, "{}")
    return TraceTurnResult(index, text, session.intent or "", session.state or "", dumps(to_plain(session.context)))


def _turn_fields(found: ReplayOutcome | None) -> dict[str, Json]:
    run = found.run if found else None
    return {
        "turnId": str(found.record.turn_id) if found else None,
        "configVersion": found.config_version if found else None,
        "equal": bool(found and found.equal),
        "payload": to_plain(run.ended.last_assistant) if run and run.ended else None,
        "errorCode": run.error_code if run else None,
        "stages": [row.stage for row in run.replayed] if run else [],
    }


def _find_failures(found: ReplayOutcome | None) -> Iterator[str]:
    """Failures of a replay, besides expectations."""
    if found is None:
        yield "it is no longer stored"
        return
    if found.run is None:
        yield f"it cannot be replayed: {found.refused}"
        return
    yield from (shorten(text, _CALL) for text in (*found.run.missing, *found.run.stretched))
    if found.own and not found.equal and not found.run.missing:
        yield _describe_first_difference(found)


def _describe_first_difference(found: ReplayOutcome) -> str:
    first = found.first
    sides = (first.recorded or first.replayed) if first else None
    if first is None or sides is None:
        return "it does not make the calls that are recorded" if first and first.calls else "it differs from its record"
    where = "in its answer" if sides[0] == "answer" else f"at event {first.seq} ({sides[0]})"
    return f"it differs from its record, first {where}"


def _difference_document(found: ReplayOutcome) -> dict[str, Json]:
    """Added, removed or changed stages, and the answer; empty without a difference."""
    if found.run is None:
        return {}
    pairs = [(step.step, pair) for step in found.steps for pair in (*_frame(step), *step.differing)]
    document: dict[str, Json] = {
        "added": [{"step": step, "stage": pair.stage} for step, pair in pairs if pair.left is None],
        "removed": [{"step": step, "stage": pair.stage} for step, pair in pairs if pair.right is None],
        "changed": [
            {"step": step, "stage": pair.stage, "paths": _paths(pair)} for step, pair in pairs if not pair.alone
        ],
    }
    then, now = found.run.answers
    if then != now:
        document["answer"] = {"recorded": then, "replayed": now}
    return document if any(document.values()) else {}


def _frame(step: StepPair) -> Sequence[EventPair]:
    """The start of a step that only one side has; other starts have no information."""
    if step.in_left and step.in_right:
        return ()
    return (EventPair(STEP_ENTER, None, None, (), ()),)


def _paths(pair: EventPair) -> list[dict[str, str]]:
    return [{"path": place.path, "recorded": place.left, "replayed": place.right} for place in pair.places]
