"""Starts and ends of steps without rows of their own; every reader restores them (R33, api-and-audit 3.3).

Half of a turn's events say that a step begins or ended normally, and PIPELINE_TIMING contains all of that. So only
starts and ends with more information are stored: the session changed, or the step stopped the turn. The row of
PIPELINE_TIMING lists the others in `_meta.leftOut`: its own milliseconds since the turn began, then numbers in threes:
the number of an event, its index among all starts and ends, and how many follow it.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import timedelta
from itertools import groupby
from operator import attrgetter
from typing import Any

from audit.models import CeAudit
from audit.record.implied import whole
from convengine.engine.pipeline.stages import PIPELINE_TIMING, STEP_ENTER, STEP_EXIT
from convengine.engine.turn.turn import Turn

Json = Any
KEY = "leftOut"
_ENTER, _EXIT, _TIMING = STEP_ENTER, STEP_EXIT, PIPELINE_TIMING


#: The start or the end of a step: the stage, the step, whole milliseconds since the turn began.
Frame = tuple[str, str, int]


class Leaving:
    """Decides which events of one turn the writer omits. Called in order, for each start and end of a step."""

    def __init__(self, turn: Turn) -> None:
        told = next((event for event in reversed(turn.trail.events) if event.stage == _TIMING), None)
        #: The entries of the step list in the form that `takes` compares, fifty times a turn.
        self._frames = [frame[1:] for frame in _frames(told.payload["stepList"])] if told else []
        self._place = -1
        self._runs = [int(told.at_ms)] if told else []
        #: The event and the index that would continue the last run.
        self._next = (0, 0)

    def takes(self, seq: int, stage: str, payload: Mapping[str, Json], at_ms: int) -> bool:
        """True when the event is omitted."""
        place = self.passes()
        # The first is always a row: if it is missing, retention removed the rows of steps, and readers restore none.
        if not 0 < place < len(self._frames) or self._frames[place] != (_usual(stage, payload), at_ms):
            return False
        if self._next == (seq, place):
            self._runs[-1] += 1
        else:
            self._runs += [seq, place, 1]
        self._next = (seq + 1, place + 1)
        return True

    def passes(self) -> int:
        """The index of the next start or end, which is stored unless `takes` was called for it."""
        self._place += 1
        return self._place

    @property
    def told(self) -> Mapping[str, Json]:
        """The value for `_meta` of PIPELINE_TIMING."""
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
    found: list[Frame] = []
    for one in steps:
        step, start = one["step"], one["startedAtMs"]
        end = (round(start * 100) + round(one["durationMs"] * 100)) // 100
        found += [(_ENTER, step, int(start)), (_EXIT, step, end)]
    return found


def _usual(stage: str, payload: Mapping[str, Json]) -> str | None:
    """The step of a start or an end without more information; null for any other."""
    step: str = payload["step"]
    return step if whole(stage, {"step": step}) == payload else None


def _read_elided(payload: Json) -> tuple[int, list[tuple[int, int, int]]]:
    """The payload's list; nothing if it is damaged, which the chain of seals reports."""
    meta = payload.get("_meta") if isinstance(payload, dict) else None
    told = meta.get(KEY) if isinstance(meta, dict) else None
    if not isinstance(told, list) or len(told) % 3 != 1 or not all(type(one) is int for one in told):
        return 0, []
    return told[0], list(zip(told[1::3], told[2::3], told[3::3], strict=True))


def _build_elided(stored: Sequence[CeAudit]) -> Iterator[CeAudit]:
    timing = next((row for row in reversed(stored) if row.stage == _TIMING), None)
    at_ms, runs = _read_elided(timing.payload_json) if timing else (0, [])
    steps = whole(_TIMING, timing.payload_json).get("stepList") if timing and runs else None
    if timing is None or not isinstance(steps, list) or all(row.stage != _ENTER for row in stored):
        return
    frames, began = _frames(steps), timing.created_at - timedelta(milliseconds=at_ms)
    for seq, place, count in runs:
        for more, (stage, step, frame_at) in enumerate(frames[place : place + count]):
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
