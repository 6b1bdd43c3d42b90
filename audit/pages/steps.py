"""The steps of a turn as a waterfall: when each began, how long it took, and what of it failed."""

from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from audit.expand import Event
from audit.timeline import Frame, frames
from convengine.domain.stages import Stage

Json = Any
#: A step that took no time that can be seen still has a place.
_THINNEST = 0.4
_OF_THE_FRAME = frozenset({Stage.STEP_ENTER, Stage.STEP_EXIT})


@dataclass(frozen=True)
class Bar:
    """One step."""

    step: str
    #: OK, ERROR, or RUNNING for one that was never closed.
    status: str
    #: Milliseconds; null where nobody noted them.
    start_ms: float | None
    duration_ms: float | None
    #: Where the bar begins and how wide it is, as CSS.
    left: str
    width: str
    error: str
    #: How many events it left, beside its beginning and end.
    events: int


def waterfall(events: Sequence[Event]) -> list[Bar]:
    """The steps in order; those that were never closed behind the others."""
    timing = next((event.payload for event in events if event.name == Stage.PIPELINE_TIMING), None)
    found = frames(events)
    counts = Counter(event.step for event in events if event.name not in _OF_THE_FRAME)
    if timing and isinstance(timing.get("stepList"), list):
        return list(_timed(timing, found, counts))
    return [
        Bar(one.step, one.status, None, one.duration_ms, "0", "0", one.error or "", counts[one.step]) for one in found
    ]


def unclosed(events: Sequence[Event]) -> list[str]:
    """Steps that began and did not end: the process died, or the end was filtered out."""
    return [frame.step for frame in frames(events) if frame.status == "RUNNING"]


def _timed(timing: Mapping[str, Json], found: Sequence[Frame], counts: Counter[str | None]) -> Iterator[Bar]:
    steps = [one for one in timing["stepList"] if isinstance(one, Mapping)]
    whole = max([float(timing.get("wallMs") or 0), *(_end(one) for one in steps), 0.01])
    by_step: dict[str, list[Frame]] = defaultdict(list)
    for frame in found:
        by_step[frame.step].append(frame)
    for one in steps:
        name = str(one.get("step"))
        of_it = by_step[name].pop(0) if by_step[name] else None
        start, took = float(one.get("startedAtMs") or 0), float(one.get("durationMs") or 0)
        width = max(100 * took / whole, _THINNEST)
        left = min(100 * start / whole, 100 - width)
        status = "OK" if one.get("success", True) else "ERROR"
        yield Bar(
            name, status, start, took, f"{left:.2f}%", f"{width:.2f}%", (of_it and of_it.error) or "", counts[name]
        )
    for left_over in (frame for rest in by_step.values() for frame in rest):
        yield Bar(left_over.step, left_over.status, None, None, "0", "0", "", counts[left_over.step])


def _end(one: Mapping[str, Json]) -> float:
    return float(one.get("startedAtMs") or 0) + float(one.get("durationMs") or 0)
