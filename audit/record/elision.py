"""Parts of events that are not stored, because every reader can compute them again (R33, api-and-audit 3.3).

Payload keys are left out when they follow from the stage and the other keys.

Starts and ends of steps can have no row. Half of a turn's events say that a step begins or ended normally, and
PIPELINE_TIMING contains all of that. So only starts and ends with more information are stored: the session changed, or
the step stopped the turn. The row of PIPELINE_TIMING lists the others in `_meta.leftOut`: its own milliseconds since
the turn began, then numbers in threes: the number of an event, its index among all starts and ends, and how many follow
it.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from datetime import timedelta
from functools import cache, lru_cache, partial
from itertools import groupby
from operator import attrgetter
from typing import Any

from audit.models import CeAudit
from convengine.engine.pipeline.order import DEFAULT_PIPELINE
from convengine.engine.pipeline.stages import PIPELINE_TIMING, STEP_ENTER, STEP_ERROR, STEP_EXIT
from convengine.engine.pipeline.timing import NOBODY_ASKED, STEP_KEYS, describe_steps, pack_steps, unpack_steps
from convengine.engine.rules.phase_events import build_flags
from convengine.engine.rules.stages import RULE_MATCH, RULE_NO_MATCH
from convengine.engine.rules.verdict import NOT_MET
from convengine.engine.stages import base_name, source_name
from convengine.engine.turn.enums import RulePhase
from convengine.engine.turn.stages import ASSISTANT_OUTPUT, DECISION
from convengine.engine.turn.turn import Turn

Json = Any
_STEP_CLASSES = {path.rpartition(".")[2]: path for path in DEFAULT_PIPELINE}
_STEP_ENTER, _STEP_EXIT = STEP_ENTER, STEP_EXIT
_NOT_MET: Mapping[str, Json] = {"matched": False, "reason": NOT_MET}
#: Events of rules and answers show the state at that moment.
_FOLDED: Mapping[str, Json] = {"context": {"$folded": "context"}, "schemaJson": {"$folded": "schemaJson"}}


def derive_fields(stage: str, payload: Mapping[str, Json]) -> Mapping[str, Json]:
    """Payload keys that can be recomputed from the stage and the other keys."""
    follows = _reader(stage)
    return follows(payload) if follows else {}


@cache
def _reader(stage: str) -> Callable[[Mapping[str, Json]], Mapping[str, Json]] | None:
    """The function for one stage; null for the many without such keys."""
    return partial(_of_rules, stage) if stage.startswith("RULE_") else _READERS.get(stage)


def _of_step(payload: Mapping[str, Json]) -> Mapping[str, Json]:
    known = _STEP_CLASSES.get(str(payload.get("step")))
    return {"stepClass": known} if known else {}


def _of_step_exit(payload: Mapping[str, Json]) -> Mapping[str, Json]:
    return {**_of_step(payload), "outcome": "Continue", "durationMs": 0}


def _of_timing(payload: Mapping[str, Json]) -> Mapping[str, Json]:
    defaults = NOBODY_ASKED if "wallMs" in payload else {}
    steps = payload.get("stepList") or ()
    return {**(describe_steps(steps) if isinstance(steps, (list, tuple)) else {}), **defaults}


def _of_decision(payload: Mapping[str, Json]) -> Mapping[str, Json]:
    winner = payload.get("winner")
    return {"candidates": [] if winner is None else [{"id": winner, "matched": True}]}


def _of_output(payload: Mapping[str, Json]) -> Mapping[str, Json]:
    return _FOLDED if payload.get("responseType") != "POLICY" else {}


def _of_rules(stage: str, payload: Mapping[str, Json]) -> Mapping[str, Json]:
    known = _flags(str(payload.get("rulePhase")), stage)
    return {**known, **_of_pass(stage, payload)} if known and "candidates" in payload else known


_READERS: Mapping[str, Callable[[Mapping[str, Json]], Mapping[str, Json]]] = {
    _STEP_ENTER: _of_step,
    STEP_ERROR: _of_step,
    _STEP_EXIT: _of_step_exit,
    PIPELINE_TIMING: _of_timing,
    DECISION: _of_decision,
    ASSISTANT_OUTPUT: _of_output,
}


def strip_implied(stage: str, payload: Mapping[str, Json]) -> Mapping[str, Json]:
    """The payload without keys that can be recomputed. A different value stays."""
    known = derive_fields(stage, payload)
    if not known:
        return payload
    rest = {key: value for key, value in payload.items() if key not in known or known[key] != value}
    if "stepList" in rest:
        rest["stepList"] = pack_steps(rest["stepList"])
    if "candidates" in rest:
        rest["candidates"] = [_short(candidate) for candidate in rest["candidates"]]
    return rest


def running(stage: str, payload: Mapping[str, Json], meta: Mapping[str, Json], step: str | None) -> str | None:
    """The step of an event; `step` is that of the event before it."""
    current_step: str | None = meta.get("step", payload.get("step") if stage == _STEP_ENTER else step)
    return current_step


def whole(stage: str, payload: Mapping[str, Json], step: str | None = None) -> dict[str, Json]:
    """The payload with restored keys, also from the current step; one that was stored completely stays unchanged."""
    if stage == _STEP_EXIT and step:
        payload = {"step": step, **payload}
    steps = payload.get("stepList")
    if isinstance(steps, str):
        with suppress(ValueError):  # A changed value stays as it is stored.
            payload = {**payload, "stepList": unpack_steps(steps)}
    elif isinstance(steps, list) and any(isinstance(step, list) for step in steps):
        # The older stored form.
        payload = {**payload, "stepList": [dict(zip(STEP_KEYS, step, strict=True)) for step in steps]}
    if stage.startswith("RULE_") and "candidates" in payload:
        payload = {**payload, "candidates": [_long(candidate) for candidate in payload["candidates"]]}
    return {**derive_fields(stage, payload), **payload}


def _short(candidate: Mapping[str, Json]) -> Mapping[str, Json]:
    """Nearly every tested rule that did not hold had failed comparisons."""
    if candidate.get("matched") is not False or candidate.get("reason") != NOT_MET:
        return candidate
    short = {key: value for key, value in candidate.items() if key not in _NOT_MET}
    if "operands" in short:
        short["operands"] = [
            {key: value for key, value in operand.items() if key != "result" or value is not False}
            for operand in short["operands"]
        ]
    return short


def _long(candidate: Mapping[str, Json]) -> Mapping[str, Json]:
    if "matched" in candidate:
        return candidate
    operands = [{"result": False, **operand} for operand in candidate.get("operands", ())]
    return {**candidate, **_NOT_MET, **({"operands": operands} if "operands" in candidate else {})}


@cache
def repeats_text(stage: str) -> bool:
    """True for a stage whose key holds the user's text, which is left out because the state has it."""
    return base_name(stage) == RULE_NO_MATCH


def _of_pass(stage: str, payload: Mapping[str, Json]) -> Mapping[str, Json]:
    """Keys that can be recomputed for an event of a pass: nearly always the first pass in the present scope."""
    key = {"phase": payload.get("rulePhase"), "intent": payload.get("intent"), "state": payload.get("state")}
    known = {"pass": 1, "key": key}
    return {**known, "evaluatedState": payload.get("state")} if repeats_text(stage) else known


@lru_cache(maxsize=1024)
def _flags(phase_name: str, stage: str) -> Mapping[str, Json]:
    """Keys that follow from the phase and the stage; nothing for an unknown phase."""
    phase = RulePhase.read(phase_name)
    if phase is None:
        return {}
    folded = _FOLDED if base_name(stage) == RULE_MATCH else {}
    return {
        **{key: value for key, value in build_flags(phase, source_name(stage)).items() if key != "rulePhase"},
        **folded,
    }


KEY = "leftOut"
_ENTER, _EXIT, _TIMING = STEP_ENTER, STEP_EXIT, PIPELINE_TIMING


#: The start or the end of a step: the stage, the step, whole milliseconds since the turn began.
Frame = tuple[str, str, int]


class Leaving:
    """Decides which events of one turn the writer omits. Called in order, for each start and end of a step."""

    def __init__(self, turn: Turn) -> None:
        timing = next((event for event in reversed(turn.trail.events) if event.stage == _TIMING), None)
        #: The entries of the step list in the form that `takes` compares, fifty times a turn.
        self._frames = [frame[1:] for frame in _frames(timing.payload["stepList"])] if timing else []
        self._place = -1
        self._runs = [int(timing.at_ms)] if timing else []
        #: The event and the index that would continue the last run.
        self._next = (0, 0)

    def takes(self, seq: int, stage: str, payload: Mapping[str, Json], at_ms: int) -> bool:
        """True when the event is omitted."""
        index = self.passes()
        # The first is always a row: if it is missing, retention removed the rows of steps, and readers restore none.
        if not 0 < index < len(self._frames) or self._frames[index] != (_usual(stage, payload), at_ms):
            return False
        if self._next == (seq, index):
            self._runs[-1] += 1
        else:
            self._runs += [seq, index, 1]
        self._next = (seq + 1, index + 1)
        return True

    def passes(self) -> int:
        """The index of the next start or end, which is stored unless `takes` was called for it."""
        self._place += 1
        return self._place

    @property
    def meta_entry(self) -> Mapping[str, Json]:
        """The entry for `_meta` of PIPELINE_TIMING."""
        return {KEY: self._runs} if len(self._runs) > 1 else {}


def restore_elided_events(rows: Iterable[CeAudit]) -> Iterator[CeAudit]:
    """Stored events of whole turns, turn by turn, with the omitted ones, which have no `audit_id`."""
    for _, turn in groupby(rows, attrgetter("conversation_id", "turn_no")):
        stored = list(turn)
        yield from sorted([*stored, *_build_elided(stored)], key=attrgetter("seq"))


def numbers(payload: Json) -> set[int]:
    """The numbers of the events that a PIPELINE_TIMING payload lists as omitted; none for others."""
    _, runs = _read_elided(payload)
    return {number for seq, _, count in runs for number in range(seq, seq + count)}


def follows(row: CeAudit) -> bool:
    """True for a restored event without a row."""
    return row.audit_id is None


def _frames(steps: Sequence[Mapping[str, Json]]) -> list[Frame]:
    """They are stored in hundredths, which add up exactly."""
    frames: list[Frame] = []
    for entry in steps:
        step, start = entry["step"], entry["startedAtMs"]
        end = (round(start * 100) + round(entry["durationMs"] * 100)) // 100
        frames += [(_ENTER, step, int(start)), (_EXIT, step, end)]
    return frames


def _usual(stage: str, payload: Mapping[str, Json]) -> str | None:
    """The step of a start or an end without more information; null for any other."""
    step: str = payload["step"]
    return step if whole(stage, {"step": step}) == payload else None


def _read_elided(payload: Json) -> tuple[int, list[tuple[int, int, int]]]:
    """The payload's list; nothing if it is damaged, which the chain of seals reports."""
    meta = payload.get("_meta") if isinstance(payload, dict) else None
    numbers = meta.get(KEY) if isinstance(meta, dict) else None
    if not isinstance(numbers, list) or len(numbers) % 3 != 1 or not all(type(number) is int for number in numbers):
        return 0, []
    return numbers[0], list(zip(numbers[1::3], numbers[2::3], numbers[3::3], strict=True))


def _build_elided(stored: Sequence[CeAudit]) -> Iterator[CeAudit]:
    timing = next((row for row in reversed(stored) if row.stage == _TIMING), None)
    at_ms, runs = _read_elided(timing.payload_json) if timing else (0, [])
    steps = whole(_TIMING, timing.payload_json).get("stepList") if timing and runs else None
    if timing is None or not isinstance(steps, list) or all(row.stage != _ENTER for row in stored):
        return
    frames, began = _frames(steps), timing.created_at - timedelta(milliseconds=at_ms)
    for seq, index, count in runs:
        for more, (stage, step, frame_at) in enumerate(frames[index : index + count]):
            yield CeAudit(
                conversation_id=timing.conversation_id,
                turn_id=timing.turn_id,
                turn_no=timing.turn_no,
                config_version=timing.config_version,
                seq=seq + more,
                stage=stage,
                # An end takes its step from the start, like a stored one.
                payload_json={"step": step} if stage == _ENTER else {},
                created_at=began + timedelta(milliseconds=frame_at),
            )
