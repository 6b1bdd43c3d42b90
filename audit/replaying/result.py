"""What came of turns that ran again, as it is told: where each led, what failed, and every difference."""

import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

from audit.models import CeReplayJob
from audit.pages.comparing import Pair, StepPair
from audit.runs import Outcome, outcome
from audit.trace_replay import ERROR, TraceExpectation, TraceTurnResult, failures
from convengine.codec import dumps, plain
from convengine.domain.stages import Stage
from convengine.domain.text import excerpt
from convengine.sessions.models import CeConversationHistory

Json = Any
#: Characters of a call that the recording has no answer to.
_CALL = 500


def result_of(job: CeReplayJob, goes_on: Callable[[], None]) -> dict[str, Json]:
    """Run the turns, one after the other, with `goes_on` after each: `passed`, `turns`, `assertionFailures`, `diff`."""
    traced: list[TraceTurnResult] = []
    turns, failed, diff = [], [], []
    for index, turn_no in enumerate(job.asked["turns"]):
        began = time.monotonic()
        record = _record(job, turn_no)
        found = outcome(record, job.asked["configVersion"]) if record else None
        traced.append(_traced(index, found))
        milliseconds = round((time.monotonic() - began) * 1000)
        turns.append({**traced[-1].as_json(), "turnNo": turn_no, **_told(found), "durationMs": milliseconds})
        failed += [f"turn {index}: {text}" for text in _findings(found)]
        if found and (difference := _difference(found)):
            diff.append({"turnIndex": index, "turnNo": turn_no, **difference})
        goes_on()
    expected = [_expectation(one) for one in job.asked["expectations"]]
    failed += [text for one in expected for text in failures(one, traced)]
    return {"passed": not failed, "turns": turns, "assertionFailures": failed, "diff": diff}


def _record(job: CeReplayJob, turn_no: int) -> CeConversationHistory | None:
    turns = CeConversationHistory.objects.filter(conversation_id=job.conversation_id, turn_no=turn_no)
    return turns.defer("trace_graph").first()


def _expectation(given: Mapping[str, Json]) -> TraceExpectation:
    return TraceExpectation(given["turnIndex"], given.get("expectedIntent"), given.get("expectedState"))


def _traced(index: int, found: Outcome | None) -> TraceTurnResult:
    """Where the turn led; one that failed, or could not run, to ERROR."""
    text = (found.record.user_input or "") if found else ""
    session = found.run.ended if found and found.run else None
    if session is None:
        return TraceTurnResult(index, text, ERROR, ERROR, "{}")
    return TraceTurnResult(index, text, session.intent or "", session.state or "", dumps(plain(session.context)))


def _told(found: Outcome | None) -> dict[str, Json]:
    run = found.run if found else None
    return {
        "turnId": str(found.record.turn_id) if found else None,
        "configVersion": found.config_version if found else None,
        "equal": bool(found and found.equal),
        "payload": plain(run.ended.last_assistant) if run and run.ended else None,
        "errorCode": run.error_code if run else None,
        "stages": [row.stage for row in run.replayed] if run else [],
    }


def _findings(found: Outcome | None) -> Iterator[str]:
    """What makes the run of a turn a failure, whatever was expected of it."""
    if found is None:
        yield "it is not kept any more"
        return
    if found.run is None:
        yield f"it cannot be run again: {found.refused}"
        return
    yield from (excerpt(text, _CALL) for text in (*found.run.missing, *found.run.stretched))
    if found.own and not found.equal and not found.run.missing:
        yield _first(found)


def _first(found: Outcome) -> str:
    first = found.first
    sides = (first.recorded or first.replayed) if first else None
    if first is None or sides is None:
        return "it does not make the calls that are recorded" if first and first.calls else "it differs from its record"
    where = "in its answer" if sides[0] == "answer" else f"at event {first.seq} ({sides[0]})"
    return f"it differs from its record, first {where}"


def _difference(found: Outcome) -> dict[str, Json]:
    """Stages that were added, removed or changed, and the answer; empty where nothing differs."""
    if found.run is None:
        return {}
    pairs = [(step.step, pair) for step in found.steps for pair in (*_frame(step), *step.differing)]
    told: dict[str, Json] = {
        "added": [{"step": step, "stage": pair.stage} for step, pair in pairs if pair.left is None],
        "removed": [{"step": step, "stage": pair.stage} for step, pair in pairs if pair.right is None],
        "changed": [
            {"step": step, "stage": pair.stage, "paths": _paths(pair)} for step, pair in pairs if not pair.alone
        ],
    }
    then, now = found.run.answers
    if then != now:
        told["answer"] = {"recorded": then, "replayed": now}
    return told if any(told.values()) else {}


def _frame(step: StepPair) -> Sequence[Pair]:
    """The beginning of a step that only one side has; both sides' beginnings say nothing else."""
    if step.in_left and step.in_right:
        return ()
    return (Pair(Stage.STEP_ENTER.value, None, None, (), ()),)


def _paths(pair: Pair) -> list[dict[str, str]]:
    return [{"path": place.path, "recorded": place.left, "replayed": place.right} for place in pair.places]
