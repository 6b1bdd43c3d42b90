"""The steps of a turn as a waterfall: start, duration and failures."""

from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from audit.record.expand import Event
from audit.record.step_timeline import Frame, build_frames
from convengine.engine.pipeline.stages import PIPELINE_TIMING, STEP_ENTER, STEP_EXIT

Json = Any
#: Minimum width of a bar.
_MIN_WIDTH = 0.4
_FRAME_STAGES = frozenset({STEP_ENTER, STEP_EXIT})


@dataclass(frozen=True)
class Bar:
    """One step."""

    step: str
    #: OK, ERROR, or RUNNING for one without an end.
    status: str
    #: Milliseconds; null if unknown.
    start_ms: float | None
    duration_ms: float | None
    #: Start and width of the bar, as CSS.
    left: str
    width: str
    error: str
    #: The number of its events, besides its start and end.
    events: int


def build_waterfall(events: Sequence[Event]) -> list[Bar]:
    """The steps in order; those without an end come last."""
    timing = next((event.payload for event in events if event.name == PIPELINE_TIMING), None)
    found = build_frames(events)
    counts = Counter(event.step for event in events if event.name not in _FRAME_STAGES)
    if timing and isinstance(timing.get("stepList"), list):
        return list(_build_timed_bars(timing, found, counts))
    return [
        Bar(one.step, one.status, None, one.duration_ms, "0", "0", one.error or "", counts[one.step]) for one in found
    ]


def list_unclosed_steps(events: Sequence[Event]) -> list[str]:
    """Steps without an end: the process died, or the end was filtered out."""
    return [frame.step for frame in build_frames(events) if frame.status == "RUNNING"]


def _build_timed_bars(timing: Mapping[str, Json], found: Sequence[Frame], counts: Counter[str | None]) -> Iterator[Bar]:
    steps = [one for one in timing["stepList"] if isinstance(one, Mapping)]
    whole = max([float(timing.get("wallMs") or 0), *(_end_ms(one) for one in steps), 0.01])
    by_step: dict[str, list[Frame]] = defaultdict(list)
    for frame in found:
        by_step[frame.step].append(frame)
    for one in steps:
        name = str(one.get("step"))
        of_it = by_step[name].pop(0) if by_step[name] else None
        start, took = float(one.get("startedAtMs") or 0), float(one.get("durationMs") or 0)
        width = max(100 * took / whole, _MIN_WIDTH)
        left = min(100 * start / whole, 100 - width)
        status = "OK" if one.get("success", True) else "ERROR"
        yield Bar(
            name, status, start, took, f"{left:.2f}%", f"{width:.2f}%", (of_it and of_it.error) or "", counts[name]
        )
    for left_over in (frame for rest in by_step.values() for frame in rest):
        yield Bar(left_over.step, left_over.status, None, None, "0", "0", "", counts[left_over.step])


def _end_ms(one: Mapping[str, Json]) -> float:
    return float(one.get("startedAtMs") or 0) + float(one.get("durationMs") or 0)
