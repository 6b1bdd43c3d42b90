"""What the phrases for times of day mean: "half past four", "1630", "noon", "in two hours".

Each function of `_MEANINGS` gives the times that a phrase of `calendar.toml` may mean.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from datetime import UTC, date, datetime, time, timedelta

from convengine.engine.understanding.grammar import GrammarPhrase
from convengine.engine.understanding.kinds.lengths import count_seconds, read_parts
from convengine.engine.understanding.span import RefusalReason, Resolved, refuse
from convengine.json_value import Json

Slots = Mapping[str, Json]
DAY, HALF_DAY, HOUR = 24 * 60, 12 * 60, 60
#: Slots with the minutes past or to an hour.
_MINUTES = ("minutes", "minutes_of", "number_word", "digits")
#: Slots with the time of a phrase.
_TIMES = ("time", "exact_time", "full_time", "written_time")


@dataclass(frozen=True)
class Times:
    """The times that a phrase may mean, in minutes since midnight."""

    #: The most likely first. 1440 is the midnight at the end of the day.
    minutes: tuple[int, ...] = ()
    #: Meant only where a part of the day says so: 12:30 am.
    unlikely: tuple[int, ...] = ()
    #: The one that is meant where nothing else decides: "10:30" is in the morning.
    written: int | None = None
    #: A time that has its own day, and its zone: "in two hours".
    moment: datetime | None = None
    #: Only the hours of a part of the day: "in the morning".
    hours: tuple[int, int] | None = None
    refusal: Resolved | None = None


def read_times(phrase: GrammarPhrase, now: datetime, held: int | None = None) -> Times:
    """The times that a phrase of the sort CLOCK may mean. `held`: what the field holds, in minutes.

    `now` has its zone.
    """
    slots = phrase.slots
    if phrase.means == "part":
        return Times(hours=tuple(slots["day_part"])) if "day_part" in slots else Times(hours=(0, 24))
    if phrase.means in ("after_now", "after_held_time"):
        parts = read_parts(slots["time_length"]) if "time_length" in slots else {}
        minutes = count_seconds(parts) // 60 * slots.get("sign", 1)
        if phrase.means == "after_now":  # Also where clocks change in between.
            return Times(moment=(now.astimezone(UTC) + timedelta(minutes=minutes)).astimezone(now.tzinfo))
        return Times() if held is None else Times(((held + minutes) % DAY,))  # "An hour later"
    clock = next(slots[name] for name in _TIMES if name in slots)
    times = _MEANINGS[clock.means](clock.slots)
    part = slots.get("day_part")
    return narrow_times(times, tuple(part)) if part else times


def list_starts(day: date, times: Times) -> list[datetime]:
    """The moments of a day that times mean."""
    return [datetime.combine(day, time()) + timedelta(minutes=minute) for minute in times.minutes]


def narrow_times(times: Times, hours: tuple[int, ...]) -> Times:
    """The times within a part of the day, `hours`; a refusal if there are none."""
    first, last = hours
    inside = tuple(
        minute for minute in (*times.minutes, *times.unlikely) if is_within(minute // HOUR % 24, first, last)
    ) or tuple(  # The night of a day is over on the next one: "tonight at 1".
        minute % DAY + DAY for minute in times.minutes if minute % DAY // HOUR < last - 24
    )
    if not inside and DAY in times.minutes:
        inside = (DAY,)  # "Midnight tonight" is the end of the day.
    return Times(inside) if inside else Times(refusal=refuse(RefusalReason.INVALID_TIME))


def is_within(hour: int, first: int, last: int) -> bool:
    """True for an hour of a part of the day, which may go on after midnight."""
    return first <= hour < last if first < last else hour >= first or hour < last


def _read_clock(slots: Slots) -> Times:
    """ "5", "17:30", "05:45 pm": both halves of the day unless the words say which."""
    hour = next(slots[name] for name in ("hour", "hour_of", "two_digits", "early_hour") if name in slots)
    minute = slots.get("minute", slots.get("minutes_of", 0))
    if slots.get("exact"):
        # "05:45 pm" is in the afternoon.
        times = _list_times(hour, minute)
        return replace(times, minutes=(hour * HOUR + minute,), unlikely=times.minutes[1:]) if times.minutes else times
    if hour == 12 and minute < HOUR and "minute" in slots:
        return Times((HALF_DAY + minute,), unlikely=(minute,))
    times = _list_times(hour, minute)
    is_written = len(times.minutes) > 1 and slots.get("written", 99) <= hour
    return replace(times, written=times.minutes[0]) if is_written else times


def _read_joint(slots: Slots) -> Times:
    """ "1630"; "330" where am or pm follows."""
    return _list_times(*divmod(slots["joined_time"], 100))


def _read_past(slots: Slots) -> Times:
    """Minutes past or to an hour, half hours, quarters."""
    minutes = next((slots[name] for name in _MINUTES if name in slots), 0)
    hour = slots["hour_of"]
    if hour > 24 or minutes >= HOUR:
        return Times(refusal=refuse(RefusalReason.INVALID_TIME))
    base = hour % 24 * HOUR + minutes * slots.get("sign", 1) + slots.get("offset", 0)
    both = (base % DAY, (base + HALF_DAY) % DAY) if 0 < hour <= 12 else (base % DAY,)
    return Times(tuple(dict.fromkeys(both)))


def _read_named(slots: Slots) -> Times:
    return Times((slots["time_name"],) if slots["time_name"] else (0, DAY))


def _read_shifted(slots: Slots) -> Times:
    """ "Half an hour after noon"."""
    minutes = count_seconds(read_parts(slots["time_length"])) // 60 * slots.get("sign", 1)
    return Times(((slots["time_name"] + minutes) % DAY,))


def _list_times(hour: int, minute: int) -> Times:
    """The time; both halves of the day for an hour up to 12 that does not say which."""
    if minute >= HOUR or hour > 24 or (hour == 24 and minute):
        return Times(refusal=refuse(RefusalReason.INVALID_TIME))
    if hour == 24:
        return Times((DAY,))
    if hour > 12 or hour == 0:
        return Times((hour * HOUR + minute,))
    if hour == 12:
        return Times((HALF_DAY + minute, minute))
    return Times((hour * HOUR + minute, hour * HOUR + minute + HALF_DAY))


_MEANINGS: Mapping[str, Callable[[Slots], Times]] = {
    "clock": _read_clock,
    "joint": _read_joint,
    "past": _read_past,
    "named": _read_named,
    "shifted": _read_shifted,
}
