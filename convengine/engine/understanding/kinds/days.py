"""The finder of days for fields of kind date; what each phrase means says `day_phrases`."""

from collections.abc import Sequence
from dataclasses import replace
from datetime import date, datetime
from functools import lru_cache
from itertools import pairwise
from zoneinfo import ZoneInfo

from convengine.engine.understanding.field import FieldSpec
from convengine.engine.understanding.grammar import Chart, Phrase
from convengine.engine.understanding.kinds.clock_phrases import list_starts, read_times
from convengine.engine.understanding.kinds.day_arithmetic import DateBounds, read_date_bound
from convengine.engine.understanding.kinds.day_phrases import YEARS, DayContext, read_days
from convengine.engine.understanding.kinds.find import find_phrases
from convengine.engine.understanding.kinds.zones import find_zone, move_start, split_zoned
from convengine.engine.understanding.language import find_country, get_countries, get_tables, list_languages
from convengine.engine.understanding.span import (
    Reason,
    Resolved,
    Situation,
    Sort,
    Span,
    choose_among,
    refuse,
)
from convengine.engine.understanding.words import fold
from convengine.json_value import Json


def make_context(spec: FieldSpec, situation: Situation) -> DayContext:
    """The context for a field in a situation."""
    today = find_now(situation).date()
    first, last = read_date_bound(spec.minimum, today), read_date_bound(spec.maximum, today)
    if first is None and last is None and names_birth(spec):
        last = today
    return DayContext(
        today,
        DateBounds(first, last),
        find_order(situation.locale),
        read_day(situation.held.get(spec.name)),
        situation.earlier_days.get(spec.name),
        read_period(situation.known_part),
    )


@lru_cache(maxsize=1024)
def names_birth(spec: FieldSpec) -> bool:
    """True for a day of birth by the words of its name: it lies in the past."""
    birth = {word for name in list_languages() for word, _ in get_tables(name).grammar.list_words("birth_word")}
    return not birth.isdisjoint(fold(word) for word in spec.words)


def find_now(situation: Situation) -> datetime:
    """The local time, without its zone."""
    zone = get_zone(situation.time_zone)
    local = situation.now.astimezone(zone) if zone else situation.now
    return local.replace(tzinfo=None, second=0, microsecond=0)


@lru_cache(maxsize=64)
def get_zone(name: str) -> ZoneInfo | None:
    """The time zone of an IANA name. Returns None for a blank one."""
    return ZoneInfo(name) if name else None


def find_order(locale: str) -> str:
    """DMY or MDY, as the locale's country writes dates; DMY in German without a country; else blank."""
    country = get_countries().get(find_country(locale))
    return str(country["dates"]) if country else "DMY" if locale[:2].lower() == "de" else ""


def read_day(value: Json) -> date | None:
    """The day that a stored value begins with. Returns None for what does not begin with one."""
    try:
        return date.fromisoformat(value[:10]) if isinstance(value, str) else None
    except ValueError:
        return None


def read_period(text: str) -> tuple[date, date] | None:
    """`2026-12-07..2026-12-13` as its first and last day. Returns None for another text."""
    first, _, last = text.partition("..")
    days = read_day(first), read_day(last)
    return (days[0], days[1]) if days[0] and days[1] else None


class DayFinder:
    """Finds days (`Sort.DAY`), for fields of kind date."""

    def find(self, chart: Chart, specs: Sequence[FieldSpec]) -> Sequence[Span]:
        """The phrases for days in a message. Of a range, the first day has the month of the last one."""
        spans = list(find_phrases(chart, Sort.DAY))
        for number, (first, last) in enumerate(pairwise(spans)):
            joint = chart.match_longest("range", first.end)
            if joint is not None and joint.end == last.start and first.phrase.means == "day_only":
                spans[number] = replace(first, phrase=_borrow_month(first.phrase, last.phrase))
        return spans

    def resolve(self, span: Span, spec: FieldSpec, situation: Situation, *, is_meant: bool) -> Resolved | None:
        """The day within the bounds of a field. A day of birth that nobody asked for has its year.

        Returns None for a day of birth without a year, and where the phrase is no day here.
        """
        day, clock = split_zoned(span.phrase)
        phrase = day or span.phrase
        has_year = phrase.means == "iso" or not phrase.slots.keys().isdisjoint(YEARS)
        if not (has_year or is_meant) and names_birth(spec):
            return None
        context = make_context(spec, situation)
        days = read_days(phrase, context)
        zone = find_zone(clock) if day else None
        if zone and isinstance(days, tuple):
            times = read_times(clock, find_now(situation))
            starts = [start for each_day in days for start in list_starts(each_day, times)[:1]]
            days = tuple(move_start(start, zone, situation).date() for start in starts)
        if days is None:
            return None
        is_doubtful = _looks_back(phrase) and not (is_meant or context.is_past)
        return replace(narrow_days(phrase, days, context), is_doubtful=is_doubtful)


def _looks_back(phrase: Phrase) -> bool:
    """True for "yesterday", "two days ago", "last Friday"."""
    if phrase.means == "relative_day":
        return bool(phrase.slots["relative_day"] < 0)
    return phrase.means == "weekday_last" or (phrase.means == "relative" and phrase.slots.get("sign") == -1)


def _borrow_month(first: Phrase, last: Phrase) -> Phrase:
    """The phrase of a day without a month, with the month and year of another."""
    day = next(first.slots[name] for name in ("ordinal", "number_ordinal", "day_number") if name in first.slots)
    if last.means == "numeric" and "order" in last.slots:
        return Phrase("numeric", {**last.slots, "two_digits": day})
    if last.means != "day_of_month":
        return first
    months = {key: value for key, value in last.slots.items() if key != "weekday"}
    return Phrase("day_of_month", {**months, "month_day": day})


def narrow_days(phrase: Phrase, days: tuple[date, ...] | Resolved, context: DayContext) -> Resolved:
    """The days within the bounds of a field; a refusal if there are none."""
    if isinstance(days, Resolved):
        return days
    bounds = context.bounds
    allowed = [day for day in days if bounds.allows(day)]
    if not allowed:
        return refuse_bounds(days[0].isoformat(), bounds.first, bounds.last)
    return choose_among([day.isoformat() for day in allowed], *list_supplied(phrase, allowed, context.today))


def list_supplied(phrase: Phrase, days: Sequence[date], today: date) -> list[str]:
    """The parts of a day that the words do not say: the month of "the 5th", the year of "5 March" in autumn."""
    if phrase.means == "day_only":
        return ["month"]
    is_open = phrase.means in ("day_of_month", "numeric") and phrase.slots.keys().isdisjoint(YEARS)
    return ["year"] if is_open and any(day.year != today.year for day in days) else []


def refuse_bounds(value: Json, first: Json, last: Json) -> Resolved:
    """A value outside of the bounds, which the refusal names."""
    named = {"min": first, "max": last}
    bounds = {
        key: item.isoformat() if isinstance(item, date) else item for key, item in named.items() if item is not None
    }
    return refuse(Reason.OUT_OF_BOUNDS, value=value, **bounds)
