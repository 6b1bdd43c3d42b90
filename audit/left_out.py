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
from typing import Any

from audit.implied import whole
from audit.models import CeAudit
from convengine.domain.stages import Stage
from convengine.domain.turn import Turn

Json = Any
KEY = "leftOut"
#: Payloads that were met, by their identity; they are kept, so that no other gets it.
_KNOWN: dict[int, tuple[str, Mapping[str, Json]]] = {}
_MOST_KNOWN = 1000
_ENTER, _EXIT, _TIMING = Stage.STEP_ENTER.value, Stage.STEP_EXIT.value, Stage.PIPELINE_TIMING.value


#: The beginning or the end of a step: the stage, the step, whole milliseconds since the turn began.
Frame = tuple[str, str, int]


class Leaving:
    """What the writer leaves out of one turn. It is asked in order, for each beginning and each end of a step."""

    def __init__(self, turn: Turn) -> None:
        told = next((event for event in reversed(turn.trail.events) if event.stage == _TIMING), None)
        #: What the list of steps says of each, spelled out for the eye of `takes`, which is asked fifty times a turn.
        self._frames = [frame[1:] for frame in _frames(told.payload["stepList"])] if told else []
        self._place = -1
        self._runs = [int(told.at_ms)] if told else []
        #: The event and the place that would go on with the last run.
        self._next = (0, 0)

    def takes(self, seq: int, stage: str, payload: Mapping[str, Json], at_ms: int) -> bool:
        """True when the event is not to be stored. It says nothing of the session, or is not left out."""
        place = self.passes()
        # The first is always a row: where it is gone, retention took the rows of steps, and readers put none in.
        if not 0 < place < len(self._frames) or self._frames[place] != (_usual(stage, payload), at_ms):
            return False
        if self._next == (seq, place):
            self._runs[-1] += 1
        else:
            self._runs += [seq, place, 1]
        self._next = (seq + 1, place + 1)
        return True

    def passes(self) -> int:
        """The place of the next beginning or end, which is stored unless `takes` was asked of it."""
        self._place += 1
        return self._place

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
    """They are told in hundredths, which add up without a rest."""
    found: list[Frame] = []
    for one in steps:
        step, start = one["step"], one["startedAtMs"]
        end = (round(start * 100) + round(one["durationMs"] * 100)) // 100
        found += [(_ENTER, step, int(start)), (_EXIT, step, end)]
    return found


def _usual(stage: str, payload: Mapping[str, Json]) -> str | None:
    """The step of a beginning or an end that says nothing more; null for any other.

    The engine says it with the same object every turn, which is known again by its identity.
    """
    known = _KNOWN.get(id(payload))
    if known is not None:
        return known[0]
    step: str = payload["step"]
    if whole(stage, {"step": step}) != payload:
        return None
    if len(_KNOWN) < _MOST_KNOWN:
        _KNOWN[id(payload)] = step, payload
    return step


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
                # An end knows its step from the beginning, as a stored one does.
                payload_json={"step": step} if stage == _ENTER else {},
                created_at=began + timedelta(milliseconds=frame_at),
            )
