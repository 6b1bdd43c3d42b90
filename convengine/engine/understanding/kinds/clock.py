"""Times of day as people say them: "3pm", "half past four", "halb fünf", "at noon", "in two hours"."""

from collections.abc import Sequence
from dataclasses import replace
from datetime import date, datetime, tzinfo

from convengine.engine.understanding.field import FieldSpec
from convengine.engine.understanding.grammar import Chart
from convengine.engine.understanding.kinds.clock_phrases import DAY, HALF_DAY, HOUR, Times, list_starts, read_times
from convengine.engine.understanding.kinds.day_arithmetic import read_time_bound
from convengine.engine.understanding.kinds.day_phrases import read_days
from convengine.engine.understanding.kinds.days import find_instant, find_now, make_context, refuse_bounds
from convengine.engine.understanding.kinds.find import find_phrases
from convengine.engine.understanding.kinds.zones import ZONE, find_zone, move_start, split_zoned
from convengine.engine.understanding.span import RefusalReason, Resolved, Situation, Sort, Span, choose_among, refuse


class ClockFinder:
    """Finds times of day (`Sort.CLOCK`), for fields of kind time."""

    def find(self, chart: Chart, specs: Sequence[FieldSpec]) -> Sequence[Span]:
        return find_phrases(chart, Sort.CLOCK)

    def resolve(self, span: Span, spec: FieldSpec, situation: Situation, *, is_meant: bool) -> Resolved | None:
        """The time within the bounds of a field.

        Returns None for a time of another day ("in 24 hours"), and for a phrase without any time.
        """
        now = find_now(situation)
        day, clock = split_zoned(span.phrase)
        times = read_times(clock, find_instant(situation), read_time_bound(situation.held.get(spec.name)))
        if times.refusal:
            return times.refusal
        zone = find_zone(clock)
        if zone:
            days = read_days(day, make_context(spec, situation)) if day else (now.date(),)
            times = move_times(times, days[0], zone, situation) if isinstance(days, tuple) else Times()
        if times.moment:
            times = _count_from_now(times.moment, now, is_meant=is_meant)
        if not times.minutes:
            return refuse(RefusalReason.TIME_MISSING, hours=list(times.hours)) if times.hours else None
        times = prefer_known_half(times, situation.known_part)
        if (held := read_time_bound(situation.held.get(spec.name))) is not None and not situation.known_part:
            times = prefer_nearest(times, held)
        first, last = read_time_bound(spec.minimum), read_time_bound(spec.maximum)
        allowed = [minute for minute in times.minutes if allows_time(minute, first, last)]
        if not allowed:
            return refuse_bounds(format_minutes(times.minutes[0]), spec.minimum, spec.maximum)
        meant = [times.written] if times.written in allowed else allowed
        return choose_among([format_minutes(minute) for minute in meant], *([ZONE] if zone else []))


def _count_from_now(moment: datetime, now: datetime, *, is_meant: bool) -> Times:
    """The time of a moment; none of another day ("in 24 hours"), and where nobody asked: "I start in 5 minutes"."""
    return Times((moment.hour * HOUR + moment.minute,) if is_meant and moment.date() == now.date() else ())


def move_times(times: Times, day: date, zone: tzinfo, situation: Situation) -> Times:
    """The times of a day in the conversation's zone instead of another one."""
    starts = [move_start(start, zone, situation) for start in list_starts(day, times)]
    moved = tuple(start.hour * HOUR + start.minute for start in starts)
    return Times(moved, written=moved[times.minutes.index(times.written)] if times.written in times.minutes else None)


def prefer_known_half(times: Times, known_part: str) -> Times:
    """The times in the half of the day of an earlier answer: "07:00 or 19:00?", then "7 in the evening"."""
    known = read_time_bound(known_part)
    if known is None or len(times.minutes) < 2:
        return times
    near = tuple(minute for minute in times.minutes if (minute < HALF_DAY) is (known < HALF_DAY))
    return replace(times, minutes=near or times.minutes)


def prefer_nearest(times: Times, held: int) -> Times:
    """The time that is nearer to the one that is replaced: 11:00, then "12" or "make it 1"."""
    return replace(times, minutes=tuple(sorted(times.minutes, key=lambda minute: abs(minute - held))[:1]))


def allows_time(minute: int, first: int | None, last: int | None) -> bool:
    """True within the bounds, which may lie over midnight: 20:00 to 04:00."""
    if first is not None and last is not None and first > last:
        return minute >= first or minute <= last
    return (first is None or minute >= first) and (last is None or minute <= last)


def format_minutes(minutes: int) -> str:
    """Minutes since midnight as HH:MM."""
    return f"{minutes % DAY // HOUR:02}:{minutes % HOUR:02}"


def is_time(text: str) -> bool:
    """True for a time as it is stored, HH:MM, and for one as RFC 3339 writes it."""
    try:
        datetime.fromisoformat(f"2000-01-01T{text.upper()}")
    except ValueError:
        return False
    return len(text) >= len("00:00") and text[2] == ":"
