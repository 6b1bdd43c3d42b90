"""Times of day as people say them: "3pm", "half past four", "halb fünf", "at noon", "in two hours" (R114)."""

import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from datetime import datetime
from functools import lru_cache
from typing import Any

from convengine.engine.values.calendar_math import add_units_to_time
from convengine.engine.values.field_spec import FieldSpec
from convengine.engine.values.language import Language, PhraseSet
from convengine.engine.values.reading import NOTHING, Reading, Reason, accept, refuse
from convengine.engine.values.tokens import TokenText

Json = Any
Slots = Mapping[str, Json]
_DAY = 24 * 60
_HALF = 12 * 60
#: The hours of "am" and "pm".
_HALVES = ((0, 12), (12, 24))
#: From this hour on, a time of a clock with 24 hours is meant as it is written.
_FIRST_WRITTEN = 7
#: Between the clauses of an answer, and how many of them may give a reason.
_CLAUSE_SIGN = re.compile(r"[,.;:!–]+|\s-\s")
_MOST_CLAUSES = 3


@dataclass(frozen=True)
class Times:
    """The times that a phrase may mean."""

    #: Minutes since midnight, the most likely first. 1440 is the midnight at the end of the day.
    minutes: tuple[int, ...] = ()
    #: Meant only where a part of the day says so: 12:30 am.
    unlikely: tuple[int, ...] = ()
    #: The one of `minutes` that is meant where nothing else decides: "10 Uhr" is in the morning.
    written: int | None = None
    #: A time that has its own day: "in two hours".
    moment: datetime | None = None
    #: Why the phrase means none.
    refusal: Reading | None = None


@dataclass(frozen=True)
class TimeMatch:
    """A phrase for a time in a token text."""

    start: int
    end: int
    times: Times
    #: Words show that it is a time: "3pm", "16:30", "at 3", but not "3".
    is_marked: bool
    #: The mark is only a preposition: "at 3".
    is_weak: bool = False


@dataclass(frozen=True)
class PartMatch:
    """A part of the day: "in the morning"."""

    start: int
    end: int
    hours: tuple[int, int]


def match_times(text: str, start: int, language: Language, now: datetime, *, takes_bare: bool) -> Iterator[TimeMatch]:
    """Every phrase for a time that begins at `start`, with a part of the day before or after it."""
    for part in (None, *match_parts(text, start, language, is_first=True)):
        # "In the morning, say 11"
        begin = part.end + language.before.match_start(text, part.end) if part else start
        lead = _skip_lead(text, begin, language)
        if part and lead == begin and language.is_in("pronoun_numbers", text[begin:].split(" ", 1)[0]):
            continue  # "The afternoon one"
        for clock in _match_clocks(
            text, lead, language, now, takes_bare=takes_bare or lead > begin or part is not None
        ):
            match = replace(
                clock,
                start=start,
                is_marked=clock.is_marked or lead > begin or part is not None,
                is_weak=not clock.is_marked and part is None,
            )
            if part:
                match = _narrow_match(match, match.end, part)
            yield match
            for later in match_parts(text, match.end, language):
                if clock.is_marked or not _names_day(text, later, language):
                    yield _narrow_match(match, later.end, later)


def find_clock_end(text: str, start: int, language: Language) -> int:
    """Where the longest time that says that it is one ends, such as "8 pm" or "8:30"; `start` without one."""
    ends = [start]
    for clock in _match_clocks(text, start, language, datetime.min, takes_bare=True):
        if clock.is_marked:
            ends.append(clock.end)
        parts = match_parts(text, clock.end, language)
        ends += [part.end for part in parts if part.hours in _HALVES and not _names_day(text, part, language)]
    return max(ends)


_STORED = re.compile(r"([01]\d|2[0-3]):[0-5]\d(?::[0-5]\d(?:\.\d+)?)?(?:[Zz]|[+-]\d\d:\d\d)?")


def is_time(text: str) -> bool:
    """True for a time as it is stored, HH:MM, and for one as RFC 3339 writes it."""
    return _STORED.fullmatch(text) is not None


def match_parts(text: str, start: int, language: Language, *, is_first: bool = False) -> Iterator[PartMatch]:
    """The longest part of the day that begins at `start`. `is_first`: no day stands before it."""
    match = language.part_pattern.match(text, start)
    if match and not (is_first and match.group().strip() in language.trailing_parts):
        yield PartMatch(start, match.end(), tuple(language.slots["part"].read(match.group())))


def _names_day(text: str, part: PartMatch, language: Language) -> bool:
    """True for the "morgen" of "5 morgen": behind a bare number it is tomorrow."""
    return text[part.start : part.end].strip() in language.trailing_parts


def _skip_lead(text: str, start: int, language: Language) -> int:
    size = language.before_time.match_start(text, start)
    return start + size


def _match_clocks(text: str, start: int, language: Language, now: datetime, *, takes_bare: bool) -> Iterator[TimeMatch]:
    is_year = language.names_year(text, start)
    for phrase in language.time_phrases:
        match = phrase.pattern.match(text, start)
        if match is None:
            continue
        is_bare, needs_part = "bare" in phrase.constants, "needs_part" in phrase.constants
        if is_bare and (is_year or not takes_bare):
            continue
        if needs_part and next(match_parts(text, match.end(), language), None) is None and not takes_bare:
            continue
        slots: dict[str, Json] = phrase.read(match)
        slots["has_zero"] = match.group().startswith("0")
        times = _MEANINGS[phrase.means](slots, now)
        yield TimeMatch(start, match.end(), times, is_marked=not is_bare and not needs_part)


def _narrow_match(match: TimeMatch, end: int, part: PartMatch) -> TimeMatch:
    return replace(match, end=end, times=narrow_times(match.times, part.hours), is_marked=True, is_weak=False)


def narrow_times(times: Times, hours: tuple[int, int]) -> Times:
    """The times within a part of the day."""
    if not times.minutes:
        return times
    first, last = hours
    kept_minutes = tuple(
        minute for minute in (*times.minutes, *times.unlikely) if _is_within(minute // 60 % 24, first, last)
    )
    if not kept_minutes and _DAY in times.minutes:
        kept_minutes = (_DAY,)  # "Midnight tonight" is the end of the day.
    return replace(times, minutes=kept_minutes) if kept_minutes else Times(refusal=refuse(Reason.INVALID_TIME))


def _is_within(hour: int, first: int, last: int) -> bool:
    return first <= hour < last if first < last else hour >= first or hour < last


def _read_clock(slots: Slots, now: datetime) -> Times:
    hour, minute = slots["hour"], slots.get("minute", slots.get("minute_word", 0))
    if hour == 12 and minute < 60 and ("minute" in slots or slots.get("is_noon", False)):
        return Times((_HALF + minute,), unlikely=(minute,))
    times = _list_times(hour, minute, is_exact=slots["has_zero"] or slots.get("is_exact", False))
    return (
        replace(times, written=times.minutes[0])
        if times.minutes and slots.get("is_written") and slots.get("first_written", _FIRST_WRITTEN) <= hour < 12
        else times
    )


def _read_joint(slots: Slots, now: datetime) -> Times:
    """ "1630"; "330" where am or pm follows."""
    hour, minute = divmod(slots["joint"] if "joint" in slots else slots["short_joint"], 100)
    return _list_times(hour, minute, is_exact="joint" in slots and slots["has_zero"])


def _read_past(slots: Slots, now: datetime) -> Times:
    """Minutes past or to an hour, half hours, quarters."""
    shift = slots.get("minutes", slots.get("minutes_word", 0)) * slots.get("sign", 1) + slots.get("offset", 0)
    hour = slots["hour"] if "hour" in slots else slots["hour_word"]
    if hour > 24 or abs(shift) > 90:
        return Times(refusal=refuse(Reason.INVALID_TIME))
    base = hour % 24 * 60 + shift
    if hour > 12 or hour == 0:
        return Times((base % _DAY,))
    return Times(tuple(dict.fromkeys((base % _DAY, (base + _HALF) % _DAY))))


def _read_named(slots: Slots, now: datetime) -> Times:
    hour, minute = map(int, slots["time_name"].split(":"))
    return Times((0, _DAY)) if (hour, minute) == (0, 0) else Times((hour * 60 + minute,))


def _read_after(slots: Slots, now: datetime) -> Times:
    if "minutes" in slots:
        return Times(moment=add_units_to_time(now, slots["minutes"], "minute"))
    return Times(moment=add_units_to_time(now, slots["count"], slots["time_unit"]))


def _list_times(hour: int, minute: int, *, is_exact: bool) -> Times:
    """The time; both halves of the day for an hour up to 12 that does not say which."""
    if minute > 59 or hour > 24 or (hour == 24 and minute):
        return Times(refusal=refuse(Reason.INVALID_TIME))
    if hour == 24:
        return Times((_DAY,))
    if is_exact or hour > 12 or hour == 0:
        return Times((hour * 60 + minute,))
    if hour == 12:
        return Times((_HALF + minute, minute))
    return Times((hour * 60 + minute, hour * 60 + minute + _HALF))


_MEANINGS: Mapping[str, Callable[[Slots, datetime], Times]] = {
    "clock": _read_clock,
    "joint": _read_joint,
    "past": _read_past,
    "named": _read_named,
    "after": _read_after,
}


def read_extreme_time(spec: FieldSpec, text: str, language: Language) -> Reading:
    """The bound of a time field in "as late as possible please", which may give a reason in another clause."""
    parts = [part for part in _CLAUSE_SIGN.split(text) if any(map(str.isalnum, part))]
    if "?" in text or len(parts) > _MOST_CLAUSES:
        return NOTHING
    for part in parts:
        tokens = language.read_tokens(part)
        for table, bound in (("earliest_times", spec.minimum), ("latest_times", spec.maximum)):
            if (
                isinstance(bound, str)
                and is_time(bound)
                and _says_only(tokens, _get_phrases(language, table), language)
            ):
                return accept(bound)
    return NOTHING


def _says_only(tokens: TokenText, phrases: PhraseSet, language: Language) -> bool:
    """True for one of the phrases with fillers around it."""
    start = 0
    while not phrases.match_start(tokens.text, start):
        size = language.before.match_start(tokens.text, start)
        if not size or start + size >= len(tokens.text):
            return False
        start += size
    end = start + phrases.match_start(tokens.text, start)
    return end >= len(tokens.text) or language.after.match_start(tokens.text, end) == len(tokens.text) - end


@lru_cache(maxsize=16)
def _get_phrases(language: Language, table: str) -> PhraseSet:
    return PhraseSet(language.words[table])
