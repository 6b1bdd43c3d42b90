"""Days and times together, and what a field for a day, a time or both takes of them (R114)."""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import date, datetime, time, timedelta
from functools import lru_cache
from zoneinfo import ZoneInfo

from convengine.engine.values.bounds import (
    DateBounds,
    read_date_bound,
    read_moment_bound,
    read_time_bound,
)
from convengine.engine.values.dates import DateContext, DateMatch, Days, match_dates
from convengine.engine.values.field_spec import FieldSpec, Kind, names_birth
from convengine.engine.values.language import Language, PhraseSet, get_countries, get_country, get_language
from convengine.engine.values.reading import NOTHING, Outcome, Reading, ReadingSituation, Reason, accept, offer, refuse
from convengine.engine.values.times import PartMatch, TimeMatch, Times, match_parts, match_times, narrow_times
from convengine.engine.values.tokens import TokenText

#: Longest answer that is read as a date or a time, without what stands around it.
MAX_LENGTH = 64
#: At the end of a known day: the hours that are meant.
_KNOWN_HOURS = re.compile(r"\[(\d{1,2})-(\d{1,2})\]$")
_DAY = 24 * 60
_HALF_DAY = 12 * 60
_HOUR = 60
#: Longest answer that is read as a limit, and the minutes between the times that are tried against it.
_LONGEST_LIMIT, _LIMIT_STEP = 60, 5
#: Of an hour behind "in the afternoon", only these are meant.
_WAKING_HOURS = range(5, 22)
#: The rank of a day without a time.
_DAY_ONLY = 2


@dataclass(frozen=True)
class MomentContext:
    """What days and times depend on besides the words."""

    #: Local time, without a zone.
    now: datetime
    zone: ZoneInfo | None
    date: DateContext
    is_asked: bool
    #: The hours that are meant where words leave open which half of the day: "half past two" is in the afternoon.
    usual_hours: range
    #: The time that the field holds already, in minutes since midnight.
    held_time: int | None = None


@dataclass(frozen=True)
class Moment:
    """A day, a time or both in a token text."""

    start: int
    end: int
    date: DateMatch | None = None
    time: TimeMatch | None = None
    part: PartMatch | None = None

    @property
    def rank(self) -> int:
        """Both before a day before a time."""
        return (self.date is not None) * 2 + (self.time is not None or self.part is not None)

    @property
    def times(self) -> Times:
        """The times, within the part of the day."""
        times = self.time.times if self.time else Times()
        return narrow_times(times, self.part.hours) if self.part else times


def make_moment_context(spec: FieldSpec, situation: ReadingSituation, language: Language) -> MomentContext:
    """The context for a field in a situation."""
    zone = _get_zone(situation.time_zone)
    local = situation.now.astimezone(zone) if zone else situation.now
    now = local.replace(tzinfo=None, second=0, microsecond=0)
    bounds = DateBounds()
    if spec.kind in (Kind.DATE, Kind.DATE_TIME):
        bounds = DateBounds(read_date_bound(spec.minimum, now.date()), read_date_bound(spec.maximum, now.date()))
    order = _find_date_order(situation.locale, language)
    takes_bare = situation.is_asked and spec.kind is Kind.DATE
    earlier = read_day(situation.earlier_days.get(spec.name))
    days = DateContext(
        now.date(),
        bounds,
        order,
        takes_bare,
        earlier=earlier if earlier and now.date() <= earlier <= (bounds.last or earlier) else None,
        held=read_day(situation.held_days.get(spec.name)) or _read_refused_day(spec, situation),
        period=_read_period(situation.known_part) if spec.kind in (Kind.DATE, Kind.DATE_TIME) else None,
        former=read_day(str(situation.former_values.get(spec.name, ""))),
        names_birth=names_birth(spec),
    )
    held_time = read_time_bound(situation.held_times.get(spec.name))
    return MomentContext(now, zone, days, situation.is_asked, range(*language.calendar["usual_hours"]), held_time)


def _read_refused_day(spec: FieldSpec, situation: ReadingSituation) -> date | None:
    """The day that was refused, which the answer changes: "sorry, 2022"."""
    is_day = spec.kind is Kind.DATE and ".." not in situation.known_part
    return read_day(situation.known_part) if is_day else None


def write_period(first: str, last: str) -> str:
    """The week or the month that is known, while its day is still asked for."""
    return f"{first}..{last}"


def _read_period(text: str) -> tuple[date, date] | None:
    first, dots, last = text.partition("..")
    days = (read_day(first), read_day(last)) if dots else (None, None)
    return (days[0], days[1]) if days[0] and days[1] else None


def read_day(text: str | None) -> date | None:
    """The day that a stored value begins with."""
    try:
        return date.fromisoformat((text or "")[:10])
    except ValueError:
        return None


def _find_date_order(locale: str, language: Language) -> str:
    country = get_countries().get(get_country(locale))
    return str(country["dates"]) if country else str(language.calendar.get("order", ""))


@lru_cache(maxsize=64)
def _get_zone(name: str) -> ZoneInfo | None:
    return ZoneInfo(name) if name else None


def match_moments(text: str, start: int, language: Language, context: MomentContext) -> Iterator[Moment]:
    """Every phrase for a day, a time or both that begins at `start`."""
    begin = start + language.before_date.match_start(text, start)
    for day in {start: 0, begin: 0}:
        for matched_date in match_dates(text, day, language, context.date):
            if day + language.before_time.match_start(text, day) > matched_date.end:
                continue  # "So gegen 11" is no Sunday.
            yield Moment(start, matched_date.end, date=matched_date)
            if not matched_date.is_bare and not matched_date.is_cut:
                yield from _match_times_after(text, start, matched_date, language, context)
    for clock in match_times(text, start, language, context.now, takes_bare=context.is_asked):
        yield Moment(start, clock.end, time=clock)
        for matched_date in _match_dates_after(text, clock.end, language, context):
            if clock.is_marked:
                yield Moment(start, matched_date.end, date=matched_date, time=clock)
            elif any(char.isdigit() for char in text[matched_date.start : matched_date.end]):
                continue  # "5 Dec 4pm" is no "5 … pm".
            elif context.is_asked:
                yield Moment(start, matched_date.end, date=matched_date, time=clock)
            for part in match_parts(text, matched_date.end, language):
                yield Moment(start, part.end, date=matched_date, time=clock, part=part)
    for part in match_parts(text, start, language, is_first=True):
        yield Moment(start, part.end, part=part)
        for matched_date in _match_dates_after(text, part.end, language, context):
            yield Moment(start, matched_date.end, date=matched_date, part=part)
            for clock in match_times(text, matched_date.end, language, context.now, takes_bare=False):
                yield Moment(start, clock.end, date=matched_date, time=clock, part=part)


def _match_times_after(
    text: str, start: int, matched_date: DateMatch, language: Language, context: MomentContext
) -> Iterator[Moment]:
    # After "tomorrow" a number is an hour; after "Friday" it may be the day of the month.
    takes_bare = context.is_asked and matched_date.is_relative
    for begin in {matched_date.end: 0, matched_date.end + language.between.match_start(text, matched_date.end): 0}:
        for clock in match_times(text, begin, language, context.now, takes_bare=takes_bare):
            yield Moment(start, clock.end, date=matched_date, time=clock)
        for part in match_parts(text, begin, language):
            yield Moment(start, part.end, date=matched_date, part=part)


def _match_dates_after(text: str, end: int, language: Language, context: MomentContext) -> Iterator[DateMatch]:
    begin = end + language.before_date.match_start(text, end)
    for day in {end: 0, begin: 0}:
        yield from (
            matched_date for matched_date in match_dates(text, day, language, context.date) if not matched_date.is_bare
        )


def read_moment(
    spec: FieldSpec, text: str, tokens: TokenText, situation: ReadingSituation, language: Language
) -> Reading:
    """Read a whole answer for a field of kind date, time or datetime."""
    context = make_moment_context(spec, situation, language)
    if spec.kind is Kind.DATE_TIME and (moment := _read_iso_moment(text)):
        return _narrow_moments(spec, [moment.astimezone(context.zone).replace(tzinfo=None)], context)
    for start, end in _list_spans(tokens, language):
        if end - start > MAX_LENGTH:
            continue
        part = tokens.text[:end]
        if _needs_company(part[start:], language, context):
            continue
        moments = [moment for moment in match_moments(part, start, language, context) if moment.end == end]
        if moments:
            return choose_moment(spec, moments, situation, context)
    return NOTHING


_ISO = re.compile(r"\d{4}-\d\d-\d\d[Tt ]\d\d:\d\d(?::\d\d(?:\.\d{1,6})?)?(?:[Zz]|[+-]\d\d:\d\d)")


def _read_iso_moment(text: str) -> datetime | None:
    """A time that names its own offset, as programs write it."""
    if not _ISO.fullmatch(text.strip()):
        return None
    try:
        return datetime.fromisoformat(text.strip().upper())
    except ValueError:
        return None


def _needs_company(text: str, language: Language, context: MomentContext) -> bool:
    """True for a word that is a day only beside another one: "may", and "sat" unless the bot has just asked."""
    word = text.strip()
    return word in language.never_alone or (word in language.ambiguous and not context.is_asked)


def _list_spans(tokens: TokenText, language: Language) -> Iterator[tuple[int, int]]:
    """The whole text, then without its fillers, then without the last full stop."""
    spans = [(0, len(tokens.text)), language.strip_fillers(tokens)]
    for start, end in dict.fromkeys(spans):
        yield start, end
        if tokens.text[start:end].endswith(" . "):
            yield start, end - 2


def choose_moment(
    spec: FieldSpec, moments: list[Moment], situation: ReadingSituation, context: MomentContext
) -> Reading:
    """The reading of the phrases that cover the same words, the fullest first."""
    readings = [(moment.rank, read_match(spec, moment, situation, context)) for moment in moments]
    values = [pair for pair in readings if pair[1].outcome in (Outcome.VALUE, Outcome.CANDIDATES)]
    if not values:
        refused = [pair for pair in readings if pair[1] is not NOTHING]
        return max(refused, key=lambda pair: pair[0])[1] if refused else NOTHING
    # A day and a time say more than a day; but a day is asked back if the words may mean two.
    best = max(rank for rank, _ in values) if spec.kind is Kind.DATE_TIME else 0
    if spec.kind is Kind.DATE and any(rank == _DAY_ONLY for rank, _ in values):
        # "Fr 4.12" is a day where one is asked, and no time.
        values = [pair for pair in values if pair[0] == _DAY_ONLY]
    listed = dict.fromkeys(
        value for rank, reading in values if rank >= best for value in (reading.candidates or (reading.value,))
    )
    return accept(next(iter(listed))) if len(listed) == 1 else offer(list(listed))


def list_calendar_starts(tokens: TokenText, language: Language) -> Iterator[int]:
    """Where a phrase for a day or a time may begin, in the tokens' text."""
    for token, offset in zip(tokens.tokens, tokens.offsets, strict=True):
        if token.text.isdigit() or token.text in language.calendar_starts:
            yield offset


def read_match(spec: FieldSpec, moment: Moment, situation: ReadingSituation, context: MomentContext) -> Reading:
    """What a field takes of a phrase."""
    if spec.kind is Kind.DATE:
        return _read_date(spec, moment, context)
    if spec.kind is Kind.TIME:
        return _read_time(spec, moment, context, situation)
    return _read_date_time(spec, moment, situation, context)


def _read_date(spec: FieldSpec, moment: Moment, context: MomentContext) -> Reading:
    if moment.date is None:
        return NOTHING
    if moment.time and moment.time.times.refusal:
        return moment.time.times.refusal
    return narrow_days(moment.date.days, context.date.bounds)


def narrow_days(days: Days, bounds: DateBounds) -> Reading:
    """The days within the bounds."""
    if isinstance(days, Reading):
        return days
    allowed = [day for day in days if bounds.allows(day)]
    if not allowed:
        return _refuse_bounds(days[0].isoformat(), bounds.first, bounds.last)
    return accept(allowed[0].isoformat()) if len(allowed) == 1 else offer([day.isoformat() for day in allowed])


def _read_time(spec: FieldSpec, moment: Moment, context: MomentContext, situation: ReadingSituation) -> Reading:
    known_part = situation.known_part
    times, known = moment.times, _read_known_part(known_part)[1]
    hours = _read_known_hours(known_part)
    if hours and moment.part is None and len(times.minutes) > 1:
        first, last = read_time_bound(spec.minimum), read_time_bound(spec.maximum)
        likely = tuple(
            minute
            for minute in narrow_times(times, hours).minutes
            if minute // 60 in _WAKING_HOURS and _allows_time(minute, first, last)
        )
        times = replace(times, minutes=likely or times.minutes)  # "Afternoon", then "3", but not "11"
    if times.refusal:
        return times.refusal
    if times.moment and times.moment.date() != context.now.date():
        return NOTHING  # "In 24 hours" is another day.
    if times.moment == context.now and not context.is_asked:
        return NOTHING  # "Now" where a day is asked for.
    if times.moment and situation.held_days and context.now.date().isoformat() not in situation.held_days.values():
        return refuse(Reason.TIME_MISSING)  # "Now" is no time of another day.
    if times.moment:
        minutes: tuple[int, ...] = (times.moment.hour * 60 + times.moment.minute,)
    elif times.minutes:
        minutes = tuple(dict.fromkeys(minute % _DAY for minute in times.minutes))
    elif moment.part and not moment.date and known is not None:
        both = Times((known, (known + _HALF_DAY) % _DAY))  # "Evening" after "07:00 or 19:00?"
        minutes = narrow_times(both, moment.part.hours).minutes
    else:
        return (
            refuse(Reason.TIME_MISSING, hours=list(moment.part.hours)) if moment.part and not moment.date else NOTHING
        )
    if not minutes:
        return refuse(Reason.TIME_MISSING)
    first, last = read_time_bound(spec.minimum), read_time_bound(spec.maximum)
    allowed = [minute for minute in minutes if _allows_time(minute, first, last)]
    if not allowed:
        return _refuse_bounds(_format_minutes(minutes[0]), spec.minimum, spec.maximum)
    texts = [_format_minutes(minute) for minute in allowed if times.written not in allowed or minute == times.written]
    return accept(texts[0]) if len(texts) == 1 else offer(texts)


def read_time_limit(spec: FieldSpec, text: str, situation: ReadingSituation) -> Reading:
    """Why an answer that only limits the time, "after 6pm", "mornings only", is none: it leaves no time within the
    bounds, or does not say which.
    """
    if spec.kind is not Kind.TIME or "?" in text or len(text) > _LONGEST_LIMIT:
        return NOTHING
    language = get_language(situation.locale)
    context, tokens = make_moment_context(spec, situation, language), language.read_tokens(text)
    clocks = [
        range(offset + 1, clock.end)
        for offset in tokens.offsets
        for clock in match_times(tokens.text, offset, language, context.now, takes_bare=True)
    ]
    free = [offset for offset in tokens.offsets if not any(offset in clock for clock in clocks)]  # "Viertel nach 3"
    read = [limit for offset in free if (limit := _match_limit(tokens.text, offset, language, context))]
    limits = {end: limit for limit in reversed(read) for end in limit[2:]}.values()  # "Not before 10"
    if not limits:
        return NOTHING
    low, high = max(first for first, _, _ in limits), min(last for _, last, _ in limits)
    first, last = read_time_bound(spec.minimum), read_time_bound(spec.maximum)
    if any(low <= minute <= high and _allows_time(minute, first, last) for minute in range(0, _DAY, _LIMIT_STEP)):
        return refuse(Reason.AMBIGUOUS)
    return _refuse_bounds(_format_minutes(min(low or high, _DAY - 1)), spec.minimum, spec.maximum)


def _match_limit(text: str, start: int, language: Language, context: MomentContext) -> tuple[int, int, int] | None:
    """The first and the last minute that a limit allows, and where its words end."""
    for table, is_first in (("limits_first", True), ("limits_last", False)):
        size = _get_limits(language, table).match_start(text, start)
        clocks = match_times(text, start + size, language, context.now, takes_bare=True) if size else iter(())
        best = max(clocks, key=lambda clock: clock.end, default=None)
        following = text[best.end :].split(" ", 1)[0] if best else ""
        if best and best.times.minutes and (not following or following in language.clause_words):
            usual = [minute for minute in best.times.minutes if minute // _HOUR in context.usual_hours]
            minute = (usual or best.times.minutes)[0 if is_first else -1]
            return (minute, _DAY, best.end) if is_first else (0, minute, best.end)
    word, before = text[start:].split(" ", 1)[0], text[:start].split(" ")[-2:-1]
    is_counted = any(item.isdigit() or item in language.number_words for item in before)  # "2 evenings"
    hours = None if is_counted else language.general_parts.get(word)
    return (hours[0] * _HOUR, hours[1] * _HOUR, start + len(word) + 1) if hours else None


@lru_cache(maxsize=16)
def _get_limits(language: Language, table: str) -> PhraseSet:
    return PhraseSet(language.calendar[table])


def _choose_halves(minutes: Sequence[int], written: int | None, context: MomentContext) -> list[int]:
    """The times of day that are meant: the one `written`, else those within the usual hours, as a moment knows no
    opening hours; the nearest to the one that the field holds. All of them where nothing decides.
    """
    if written is not None and written in minutes:
        return [written]
    held = context.held_time
    hours = context.usual_hours if held is None else _WAKING_HOURS
    usual = [minute for minute in minutes if minute // 60 in hours]
    if held is None:
        return usual or list(minutes)
    is_usual = held // 60 in hours and usual
    return [min(usual if is_usual else minutes, key=lambda minute: abs(minute - held))]


def _allows_time(minute: int, first: int | None, last: int | None) -> bool:
    if first is not None and last is not None and first > last:  # Over midnight: 20:00 to 04:00.
        return minute >= first or minute <= last
    return (first is None or minute >= first) and (last is None or minute <= last)


def _read_date_time(spec: FieldSpec, moment: Moment, situation: ReadingSituation, context: MomentContext) -> Reading:
    times = moment.times
    if times.refusal:
        return times.refusal
    if moment.date and isinstance(moment.date.days, Reading):
        return moment.date.days
    known_day, known_minute = _read_known_part(situation.known_part)
    days: tuple[date, ...] = ()
    if moment.date and not isinstance(moment.date.days, Reading):
        days = moment.date.days
    elif known_day:
        days = (known_day,)
        hours = _read_known_hours(situation.known_part)
        if hours and moment.part is None and len(times.minutes) > 1:
            # "9:15" after "Tuesday morning"; "14:30" stays what it is.
            times = replace(times, minutes=narrow_times(times, hours).minutes or times.minutes)
    minutes = times.minutes
    if not minutes and known_minute is not None and known_day:
        both = Times((known_minute, (known_minute + _HALF_DAY) % _DAY))  # "Afternoon" after "03:00 or 15:00?"
        minutes = narrow_times(both, moment.part.hours).minutes if moment.part else both.minutes
    elif not minutes and known_minute is not None and not moment.part:
        minutes = (known_minute,)
    if times.moment and not moment.date:
        starts = [times.moment]
    elif days and minutes:
        starts = [datetime.combine(day, time()) + timedelta(minutes=minute) for day in days for minute in minutes]
    else:
        return _refuse_half(days, times.minutes, moment, context)
    return _narrow_moments(spec, starts, context, times.written)


def _refuse_half(days: tuple[date, ...], minutes: tuple[int, ...], moment: Moment, context: MomentContext) -> Reading:
    if days:
        allowed = [day for day in days if context.date.bounds.allows(day)]
        if not allowed:
            return narrow_days(days, context.date.bounds)
        if len(allowed) > 1:
            return refuse(Reason.TIME_MISSING)
        hours = {"hours": list(moment.part.hours)} if moment.part and moment.time is None else {}
        return refuse(Reason.TIME_MISSING, date=allowed[0].isoformat(), **hours)
    if minutes and moment.time and (moment.time.is_marked or context.is_asked):
        texts = {_format_minutes(minute % _DAY) for minute in minutes}
        return refuse(Reason.DATE_MISSING, time=texts.pop()) if len(texts) == 1 else refuse(Reason.DATE_MISSING)
    return refuse(Reason.DATE_MISSING) if moment.part else NOTHING


def _narrow_moments(
    spec: FieldSpec,
    starts: list[datetime],
    context: MomentContext,
    written: int | None = None,
) -> Reading:
    """The only moment within the bounds; of several, those at the times of day that are meant."""
    first = read_moment_bound(spec.minimum, context.now, is_last=False)
    last = read_moment_bound(spec.maximum, context.now, is_last=True)
    allowed = [start for start in starts if (first is None or start >= first) and (last is None or start <= last)]
    if not allowed:
        return _refuse_bounds(_format_moment(starts[0], context), first, last)
    minutes = {start: start.hour * 60 + start.minute for start in allowed}
    meant = _choose_halves(list(dict.fromkeys(minutes.values())), written, context)
    chosen = [start for start in allowed if minutes[start] in meant]
    texts = [text for start in chosen for text in _list_offsets(start, context)]
    if not texts:
        return refuse(Reason.INVALID_TIME, time=allowed[0].isoformat(timespec="minutes"))
    return accept(texts[0]) if len(texts) == 1 else offer(texts)


def _list_offsets(start: datetime, context: MomentContext) -> list[str]:
    """The time with its offset: none in the hour that the change of clocks leaves out, two in the one it repeats."""
    zone = context.zone
    if zone is None:
        return [start.isoformat()]
    both = [start.replace(tzinfo=zone, fold=fold) for fold in (0, 1)]
    real = [
        moment for moment in both if moment.astimezone(ZoneInfo("UTC")).astimezone(zone).replace(tzinfo=None) == start
    ]
    return list(dict.fromkeys(moment.isoformat() for moment in real))


def _format_moment(start: datetime, context: MomentContext) -> str:
    return next(iter(_list_offsets(start, context)), start.isoformat())


def _format_minutes(minutes: int) -> str:
    return f"{minutes // 60:02}:{minutes % 60:02}"


def add_known_hours(day: str, hours: Sequence[int]) -> str:
    """The known part of a day on which only some hours are meant: "Tuesday morning"."""
    return f"{day}[{hours[0]}-{hours[1]}]"


def _read_known_hours(text: str) -> tuple[int, int] | None:
    match = _KNOWN_HOURS.search(text)
    return (int(match[1]), int(match[2])) if match else None


def _read_known_part(text: str) -> tuple[date | None, int | None]:
    text = _KNOWN_HOURS.sub("", text)
    day, _, clock = text.rpartition("T")
    try:
        return date.fromisoformat(day or clock), read_time_bound(clock) if day else None
    except ValueError:
        return None, read_time_bound(text)


def _refuse_bounds(value: object, first: object, last: object) -> Reading:
    bounds = {
        name: bound.isoformat() if isinstance(bound, date) else bound
        for name, bound in (("min", first), ("max", last))
        if bound is not None
    }
    return refuse(Reason.OUT_OF_BOUNDS, value=value, **bounds)
