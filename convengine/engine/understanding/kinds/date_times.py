"""A day, a time, or both together, for fields of kind date and time."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from datetime import date, datetime, time, timedelta
from typing import Any
from zoneinfo import ZoneInfo

from convengine.engine.understanding.field import FieldSpec
from convengine.engine.understanding.grammar import Chart, GrammarPhrase
from convengine.engine.understanding.kinds.clock import format_minutes, prefer_known_half
from convengine.engine.understanding.kinds.clock_phrases import DAY, HOUR, Times, narrow_times, read_times
from convengine.engine.understanding.kinds.day_arithmetic import read_moment_bound, read_time_bound
from convengine.engine.understanding.kinds.day_phrases import DayContext, read_days
from convengine.engine.understanding.kinds.days import (
    find_instant,
    find_now,
    get_zone,
    list_supplied,
    make_context,
    narrow_days,
    read_day,
    refuse_bounds,
)
from convengine.engine.understanding.kinds.find import find_phrases
from convengine.engine.understanding.kinds.zones import ZONE, find_zone, move_start, split_zoned
from convengine.engine.understanding.span import RefusalReason, Resolved, Situation, Sort, Span, choose_among, refuse

#: A moment knows no opening hours: within these, the half of the day is meant that the words leave open.
_USUAL_HOURS = range(6, 21)


class MomentFinder:
    """Finds days and times together (`Sort.MOMENT`), for fields of kind date-time."""

    def find(self, chart: Chart, specs: Sequence[FieldSpec]) -> Sequence[Span]:
        return find_phrases(chart, Sort.MOMENT)

    def resolve(self, span: Span, spec: FieldSpec, situation: Situation, *, is_meant: bool) -> Resolved | None:
        """The moment within the bounds of a field; its day or time alone is refused, with the half that is known.

        Returns None where neither is known.
        """
        slots = span.phrase.slots
        now, zone = find_now(situation), get_zone(situation.time_zone)
        context = make_context(spec, situation)
        held = situation.held.get(spec.name)
        held_time = read_time_bound(held[11:16]) if isinstance(held, str) else None
        day, clock = _split(slots)
        times = _read_times(slots, clock, day, find_instant(situation), held_time)
        if times.refusal:
            return times.refusal
        days = read_days(day, context) if day else _find_known_days(situation, context)
        if isinstance(days, Resolved):
            return days
        if times.moment and not day:
            return _narrow(spec, [times.moment], Times(), now, zone)
        if isinstance(held, str):
            times = prefer_known_half(times, held[11:16])
        other_zone = find_zone(clock)
        minutes = times.minutes or _find_known_minutes(situation, day is not None, held_time)
        if not (days and minutes):
            times = Times(hours=(0, 24)) if other_zone else times  # Which day decides which time it is here.
            return _refuse_half(day, days or (), times, context)
        starts = [
            datetime.combine(each_day, time()) + timedelta(minutes=minute) for each_day in days for minute in minutes
        ]
        if other_zone:
            starts = [move_start(start, other_zone, situation) for start in _prefer_usual(starts, times)]
            times = Times(times.minutes[: len(starts)])
        resolved = _narrow(spec, starts, times, now, zone)
        supplied = list_supplied(day, days, context.today) if day else []
        supplied += [ZONE] if other_zone else []
        return replace(resolved, supplied=resolved.supplied | set(supplied))


def _split(slots: Mapping[str, Any]) -> tuple[GrammarPhrase | None, GrammarPhrase | None]:
    """The day and the time of a phrase; None for what it does not have."""
    day, clock = slots.get("date"), slots.get("clock") or slots.get("marked_clock")
    if clock:
        own_day, clock = split_zoned(clock)
        day = day or own_day
    elif "time" in slots:
        clock = GrammarPhrase("time", {"time": slots["time"]})
    return day or (GrammarPhrase("relative_day", slots) if "relative_day" in slots else None), clock


def _read_times(
    slots: Mapping[str, Any], clock: GrammarPhrase | None, day: GrammarPhrase | None, now: datetime, held: int | None
) -> Times:
    """The times of the phrase, within the part of the day that it names."""
    times = read_times(clock, now, held) if clock else Times()
    part = slots.get("day_part") or slots.get("part") or (day.slots.get("hours") if day else None)
    if part is None or times.refusal:
        return times
    return narrow_times(times, tuple(part)) if times.minutes else Times(hours=tuple(part))


def _find_known_days(situation: Situation, context: DayContext) -> tuple[date, ...]:
    """The day that an earlier answer gave, else the one that the field holds."""
    day = read_day(situation.known_part) if ".." not in situation.known_part else None
    day = day or context.held
    return (day,) if day else ()


def _find_known_minutes(situation: Situation, has_day: bool, held: int | None) -> tuple[int, ...]:
    """The time that an earlier answer gave, else the one that the field holds."""
    known = read_time_bound(situation.known_part) if has_day else None
    known = held if known is None and has_day else known
    return () if known is None else (known,)


def _prefer_usual(starts: list[datetime], times: Times) -> list[datetime]:
    """Of both halves of the day the one that is written or usual."""
    if times.written is not None:
        return [start for start in starts if start.hour * HOUR + start.minute == times.written] or starts
    return [start for start in starts if start.hour in _USUAL_HOURS] or starts


def _narrow(spec: FieldSpec, starts: list[datetime], times: Times, now: datetime, zone: ZoneInfo | None) -> Resolved:
    first = read_moment_bound(spec.minimum, now.replace(tzinfo=zone), is_last=False)
    last = read_moment_bound(spec.maximum, now.replace(tzinfo=zone), is_last=True)
    local = [(start, start.replace(tzinfo=None)) for start in starts]
    allowed = [start for start, own in local if (first is None or own >= first) and (last is None or own <= last)]
    if not allowed:
        return refuse_bounds(next(iter(list_offsets(starts[0], zone)), starts[0].isoformat()), first, last)
    meant = _prefer_usual(allowed, times)
    texts = [text for start in meant for text in list_offsets(start, zone)]
    if not texts:
        return refuse(RefusalReason.INVALID_TIME, time=meant[0].isoformat(timespec="minutes"))
    has_half = len({start.time() for start in meant}) == len(times.minutes) or times.written is not None
    return choose_among(texts, *([] if has_half else ["half"]))


def list_offsets(start: datetime, zone: ZoneInfo | None) -> list[str]:
    """The time with its offset: none in the hour that the change of clocks leaves out, two in the one it repeats.

    A time that has its zone keeps its offset.
    """
    if zone is None or start.tzinfo:
        return [(start if zone else start.replace(tzinfo=None)).isoformat()]
    both = [start.replace(tzinfo=zone, fold=fold) for fold in (0, 1)]
    real = [
        moment for moment in both if moment.astimezone(ZoneInfo("UTC")).astimezone(zone).replace(tzinfo=None) == start
    ]
    return list(dict.fromkeys(moment.isoformat() for moment in real))


def _refuse_half(
    day: GrammarPhrase | None, days: tuple[date, ...], times: Times, context: DayContext
) -> Resolved | None:
    """Why a day or a time alone is no moment: the other half is missing, or the day is out of bounds.

    Returns None if neither is known.
    """
    if days:
        allowed = [item for item in days if context.bounds.allows(item)]
        if not allowed and day:
            return narrow_days(day, days, context)
        hours = {"hours": list(times.hours)} if times.hours else {}
        return refuse(
            RefusalReason.TIME_MISSING, **({"date": allowed[0].isoformat()} if len(allowed) == 1 else {}), **hours
        )
    texts = {format_minutes(minute % DAY) for minute in times.minutes}
    if texts:
        return refuse(RefusalReason.DATE_MISSING, **({"time": texts.pop()} if len(texts) == 1 else {}))
    return refuse(RefusalReason.DATE_MISSING) if times.hours else None
