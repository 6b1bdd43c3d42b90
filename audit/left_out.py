"""Beginnings and ends of steps that are no rows of the table: every reader puts them in (R33, api-and-audit 3.3).

That a step begins, and that it ended as usual, is half of what a turn tells, and PIPELINE_TIMING says it all again. So
only those are stored that say more: that the session changed, that the step took its time, or stopped the turn. Which
are not stored is told by the row of PIPELINE_TIMING as `_meta.leftOut`: its own milliseconds since the turn began, then
numbers by threes: the number of an event, its place among all beginnings and ends, and how many follow it like that.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import timedelta
from itertools import groupby
from operator import attrgetter
from typing import Any, NamedTuple

from audit.implied import whole
from audit.models import CeAudit
from convengine.domain.stages import Stage
from convengine.domain.turn import Turn

Json = Any
KEY = "leftOut"
_ENTER, _EXIT, _TIMING = Stage.STEP_ENTER.value, Stage.STEP_EXIT.value, Stage.PIPELINE_TIMING.value


class Frame(NamedTuple):
    """The beginning or the end of a step."""

    stage: str
    step: str
    #: Whole milliseconds since the turn began.
    at_ms: int


class Leaving:
    """What the writer leaves out of one turn. It is asked in order, for each beginning and each end of a step."""

    def __init__(self, turn: Turn) -> None:
        told = next((event for event in reversed(turn.trail.events) if event.stage == _TIMING), None)
        self._steps = told.payload["stepList"] if told else ()
        self._place = -1
        self._runs = [int(told.at_ms)] if told else []

    def takes(self, seq: int, stage: str, step: str, at_ms: int, *, usual: bool) -> bool:
        """True when the event is not to be stored; `usual` says that there is nothing more to it."""
        self._place = place = self._place + 1
        if not usual or place >> 1 >= len(self._steps):
            return False
        told = self._steps[place >> 1]
        is_end = place & 1
        if told["step"] != step or stage != (_EXIT if is_end else _ENTER) or at_ms != _at_ms(told, is_end):
            return False
        runs = self._runs
        if len(runs) > 1 and runs[-3] + runs[-1] == seq and runs[-2] + runs[-1] == place:
            runs[-1] += 1
        else:
            runs += [seq, place, 1]
        return True

    @property
    def told(self) -> Mapping[str, Json]:
        """What the row of PIPELINE_TIMING says of it in its `_meta`."""
        return {KEY: self._runs} if len(self._runs) > 1 else {}


def completed(rows: Iterable[CeAudit]) -> Iterator[CeAudit]:
    """Stored events of whole turns, turn by turn, with those that were left out; these have no `audit_id`."""
    for _, turn in groupby(rows, attrgetter("conversation_id", "turn_no")):
        stored = list(turn)
        yield from sorted([*stored, *_made(stored)], key=attrgetter("seq"))


def numbers(payload: Json) -> set[int]:
    """The numbers of the events that a payload of PIPELINE_TIMING says are no rows; of any other none."""
    _, runs = _told(payload)
    return {number for seq, _, count in runs for number in range(seq, seq + count)}


def follows(row: CeAudit) -> bool:
    """True for an event that was put in: there is no row of it."""
    return row.audit_id is None


def _frames(steps: Sequence[Mapping[str, Json]]) -> list[Frame]:
    return [
        Frame(stage, one["step"], _at_ms(one, is_end)) for one in steps for is_end, stage in enumerate((_ENTER, _EXIT))
    ]


def _at_ms(step: Mapping[str, Json], is_end: int) -> int:
    """When it began, or ended, as the list of steps says: in hundredths, which add up without a rest."""
    if not is_end:
        return int(step["startedAtMs"])
    end: int = round(step["startedAtMs"] * 100) + round(step["durationMs"] * 100)
    return end // 100


def _told(payload: Json) -> tuple[int, list[tuple[int, int, int]]]:
    """What a payload says of it; nothing where somebody damaged it, which is for the chain of seals to tell."""
    meta = payload.get("_meta") if isinstance(payload, dict) else None
    told = meta.get(KEY) if isinstance(meta, dict) else None
    if not isinstance(told, list) or len(told) % 3 != 1 or not all(type(one) is int for one in told):
        return 0, []
    return told[0], list(zip(told[1::3], told[2::3], told[3::3], strict=True))


def _made(stored: Sequence[CeAudit]) -> Iterator[CeAudit]:
    timing = next((row for row in reversed(stored) if row.stage == _TIMING), None)
    at_ms, runs = _told(timing.payload_json) if timing else (0, [])
    steps = whole(_TIMING, timing.payload_json).get("stepList") if timing and runs else None
    if timing is None or not isinstance(steps, list):
        return
    frames, began = _frames(steps), timing.created_at - timedelta(milliseconds=at_ms)
    for seq, place, count in runs:
        for more, frame in enumerate(frames[place : place + count]):
            yield CeAudit(
                conversation_id=timing.conversation_id,
                turn_id=timing.turn_id,
                turn_no=timing.turn_no,
                config_version=timing.config_version,
                seq=seq + more,
                stage=frame.stage,
                # An end knows its step from the beginning, as a stored one does.
                payload_json={"step": frame.step} if frame.stage == _ENTER else {},
                created_at=began + timedelta(milliseconds=frame.at_ms),
            )
