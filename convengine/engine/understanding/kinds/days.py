"""The finder of days for fields of kind date; what each phrase means says `day_phrases`."""

from collections.abc import Sequence
from dataclasses import replace
from datetime import date, datetime
from functools import lru_cache
from itertools import pairwise
from zoneinfo import ZoneInfo

from convengine.engine.understanding.field import FieldSpec
from convengine.engine.understanding.grammar import Chart, GrammarPhrase
from convengine.engine.understanding.kinds.clock_phrases import list_starts, read_times
from convengine.engine.understanding.kinds.day_arithmetic import DateBounds, read_date_bound
from convengine.engine.understanding.kinds.day_phrases import DAY_NUMBERS, NEAR, YEARS, DayContext, read_days
from convengine.engine.understanding.kinds.find import find_phrases, is_range, starts_inside_number
from convengine.engine.understanding.kinds.zones import find_zone, move_start, split_zoned
from convengine.engine.understanding.language import (
    DEFAULT,
    find_country,
    find_language,
    get_countries,
    get_tables,
    list_languages,
)
from convengine.engine.understanding.principles import Principle, holds
from convengine.engine.understanding.span import RefusalReason, Resolved, Situation, Sort, Span, choose_among, refuse
from convengine.engine.understanding.words import fold
from convengine.json_value import Json

#: What phrases mean that have a day and its month.
_NAMING_MONTH = ("day_of_month", "numeric")
#: No word says what happened on a day that is further from it.
_FAR = 5
#: The slot of a day in a message about something that happened.
_TOLD = "told"
#: The slot with the phrase of the first of two days.
SINCE = "since"
#: A day without a year that is further ahead was over less than a month ago.
_ALMOST_A_YEAR = 365 - 31


def make_context(spec: FieldSpec, situation: Situation) -> DayContext:
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
        tells_past=last is None and first is None and _asks_for_past(spec),
        period=read_period(situation.known_part),
    )


@lru_cache(maxsize=1024)
def names_birth(spec: FieldSpec) -> bool:
    """True for a day of birth by the words of its name: it lies in the past."""
    birth = {word for name in list_languages() for word, _ in get_tables(name).grammar.list_words("birth_word")}
    return not birth.isdisjoint(fold(word) for word in spec.words)


def find_now(situation: Situation) -> datetime:
    """The local time, without its zone."""
    return find_instant(situation).replace(tzinfo=None)


def find_instant(situation: Situation) -> datetime:
    """The local time, with its zone."""
    zone = get_zone(situation.time_zone)
    local = situation.now.astimezone(zone) if zone else situation.now
    return local.replace(second=0, microsecond=0)


@lru_cache(maxsize=64)
def get_zone(name: str) -> ZoneInfo | None:
    """The time zone of an IANA name. Returns None for a blank one."""
    return ZoneInfo(name) if name else None


def find_order(locale: str) -> str:
    """DMY or MDY, as the locale's country writes dates; without a country, blank in English, else DMY."""
    country = get_countries().get(find_country(locale))
    return str(country["dates"]) if country else "" if find_language(locale) == DEFAULT else "DMY"


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
        spans = _add_joined_days(chart, _drop_second_days(find_phrases(chart, Sort.DAY)))
        events = [match for at in range(len(chart.words)) if (match := chart.match_longest("past_event", at))]
        if events:
            spans = [_tell(chart, span, [(event.end - 1) for event in events]) for span in spans]
        if not any(map(lies_in_past, specs)):
            spans = [span for span in spans if "past" not in span.phrase.slots]
        else:
            spans = [_add_short_year(chart, span) for span in spans]
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
        if _is_vague(span, phrase) and not is_meant:
            return None
        context = _find_context(phrase, spec, situation)
        days = read_days(phrase, context)
        if day and clock and isinstance(days, tuple):
            days = _move_days(days, clock, situation)
        if not days:
            return None
        is_doubtful = (_looks_back(phrase) and not (is_meant or context.is_past)) or _is_far(phrase, days, context)
        return replace(narrow_days(phrase, days, context), is_doubtful=is_doubtful)


def _is_vague(span: Span, phrase: GrammarPhrase) -> bool:
    """True for the "4." of "sie ist 4.", the "first" of "the first floor", and the "now" of "that's right now"."""
    is_vague = (phrase.means == "day_only" and span.is_weak) or "now" in phrase.slots
    return is_vague and holds(Principle.FULL_VALUES)


def _move_days(days: tuple[date, ...], clock: GrammarPhrase, situation: Situation) -> tuple[date, ...]:
    """The days in the conversation's zone of a time that is said in another one."""
    zone = find_zone(clock)
    if zone is None:
        return days
    times = read_times(clock, find_instant(situation))
    starts = [start for each_day in days for start in list_starts(each_day, times)[:1]]
    return tuple(move_start(start, zone, situation).date() for start in starts)


def _tell(chart: Chart, span: Span, events: Sequence[int]) -> Span:
    """A day, marked where one of some words says what happened on it. "My phone broke, can I come on Friday?" asks."""
    for event in events:
        between = range(event + 1, span.start) if event < span.start else range(span.end, event)
        if len(between) <= _FAR and not any(chart.words[at].is_sign or _begins_other(chart, at) for at in between):
            return replace(span, phrase=GrammarPhrase(span.phrase.means, {**span.phrase.slots, _TOLD: True}))
    return span


def _begins_other(chart: Chart, at: int) -> bool:
    """True for words that begin another clause."""
    wishes = (match for name in ("request", "wish") for match in chart.match(name, at))
    return bool(chart.match("joint", at)) or any(match.end > at + 1 for match in wishes)


@lru_cache(maxsize=1024)
def _asks_for_past(spec: FieldSpec) -> bool:
    """True for "On which day was the flight?"."""
    past = {word for name in list_languages() for word, _ in get_tables(name).grammar.list_words("past_word")}
    return not past.isdisjoint(fold(word) for word in (*spec.names, *spec.question))


def _find_context(phrase: GrammarPhrase, spec: FieldSpec, situation: Situation) -> DayContext:
    """The context for a phrase: what happened is over, and the last of two days follows the first."""
    context = make_context(spec, situation)
    if _TOLD in phrase.slots and not context.bounds.is_coming(context.today):
        context = replace(context, tells_past=True)
    if SINCE in phrase.slots and isinstance(first := read_days(phrase.slots[SINCE], context), tuple):
        context = replace(context, earlier=first[0])
    return context


def lies_in_past(spec: FieldSpec) -> bool:
    """True for a field that takes no day to come."""
    last = spec.maximum.lower() if isinstance(spec.maximum, str) else ""
    is_bounded = last.startswith(("today", "now", "yesterday")) and "+" not in last
    return is_bounded or names_birth(spec) or _asks_for_past(spec)


def _drop_second_days(spans: Sequence[Span]) -> list[Span]:
    """The spans without those that begin in a day with its month: of "2 October, 1 adult", the day is the 2nd."""
    separate, end = list[Span](), 0
    for span in spans:
        if span.start >= end:
            separate.append(span)
            end = span.end if span.phrase.means in _NAMING_MONTH else end
    return separate


def _add_joined_days(chart: Chart, spans: Sequence[Span]) -> list[Span]:
    """The spans with both days of "27-29 Nov"; of their words alone, no day is found."""
    words = chart.words
    for at in range(len(words) - 2):
        if is_range(words, at):
            last = next((item for item in chart.match(Sort.DAY, at + 2) if item.value.means in _NAMING_MONTH), None)
            if last and (first := chart.match("day_number", at)):
                days = [
                    Span(Sort.DAY, at, at + 1, GrammarPhrase("day_only", {"day_number": first[0].value}), is_weak=True),
                    Span(Sort.DAY, at + 2, last.end, last.value),
                ]
                spans = [*(span for span in spans if span.end <= at or span.start >= last.end), *days]
    return sorted(spans, key=lambda span: span.start)


def _add_short_year(chart: Chart, span: Span) -> Span:
    """A day that is over, with the two digits of its year: "4th of June 82". The 82 of "82 people" is not a year."""
    words, end = chart.words, span.end
    end += bool(chart.match("label_joint", end)) and not words[end].is_sign
    if span.phrase.means not in _NAMING_MONTH or not span.phrase.slots.keys().isdisjoint(YEARS) or end >= len(words):
        return span
    if not (words[end].is_number and len(words[end].key) == 2) or starts_inside_number(words, end + 1):
        return span
    if any(match.end > end + 1 for name in ("number", "marked_clock", "length") for match in chart.match(name, end)):
        return span
    slots = {**span.phrase.slots, "short_year": int(words[end].key)}
    return replace(span, end=end + 1, phrase=GrammarPhrase(span.phrase.means, slots))


def _is_far(phrase: GrammarPhrase, days: tuple[date, ...] | Resolved, context: DayContext) -> bool:
    """True where only a far day has the weekday that is said, and for a day without a year that was over just now.

    It may be one of next year, or an error.
    """
    if not isinstance(days, tuple):
        return False
    if phrase.means == "day_only":
        return "weekday" in phrase.slots and abs((days[0] - context.today).days) > NEAR
    near = [day for day in (context.today, context.earlier, context.held) if day]
    is_late = all((days[0] - day).days > _ALMOST_A_YEAR for day in near)
    is_over = days[0] < context.today and not context.is_past
    return (is_late or is_over) and phrase.means in _NAMING_MONTH and phrase.slots.keys().isdisjoint(YEARS)


def _looks_back(phrase: GrammarPhrase) -> bool:
    """True for "yesterday", "two days ago", "last Friday"."""
    if phrase.means == "relative_day":
        return bool(phrase.slots["relative_day"] < 0)
    return phrase.means == "weekday_last" or (phrase.means == "relative" and phrase.slots.get("sign") == -1)


def _borrow_month(first: GrammarPhrase, last: GrammarPhrase) -> GrammarPhrase:
    """The phrase of a day without a month, with the month and year of another."""
    day = next(first.slots[name] for name in DAY_NUMBERS if name in first.slots)
    if last.means == "numeric" and "order" in last.slots:
        return GrammarPhrase("numeric", {**last.slots, "two_digits": day})
    if last.means != "day_of_month":
        return first
    months = {key: value for key, value in last.slots.items() if key != "weekday"}
    if day > last.slots["month_day"]:  # "From the 28th to 2 December"
        months = {"month": (last.slots.get("month", last.slots.get("month_number")) - 2) % 12 + 1}
    return GrammarPhrase("day_of_month", {**months, "month_day": day})


def narrow_days(phrase: GrammarPhrase, days: tuple[date, ...] | Resolved, context: DayContext) -> Resolved:
    """The days within the bounds of a field; a refusal if there are none."""
    if isinstance(days, Resolved):
        return days
    bounds = context.bounds
    allowed = [day for day in days if bounds.allows(day)]
    if not allowed:
        return refuse_bounds(days[0].isoformat(), bounds.first, bounds.last)
    return choose_among([day.isoformat() for day in allowed], *list_supplied(phrase, allowed, context.today))


def list_supplied(phrase: GrammarPhrase, days: Sequence[date], today: date) -> list[str]:
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
    return refuse(RefusalReason.OUT_OF_BOUNDS, value=value, **bounds)
