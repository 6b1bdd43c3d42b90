"""Find days, times and lengths inside a longer sentence (R114)."""

import re
import unicodedata
from collections.abc import Iterator, Sequence
from dataclasses import replace
from decimal import Decimal
from functools import lru_cache
from typing import Any

from convengine.engine.values.bounds import DateBounds
from convengine.engine.values.corrections import is_correction, list_small_words
from convengine.engine.values.date_ranges import find_date_range
from convengine.engine.values.date_times import (
    Moment,
    MomentContext,
    list_calendar_starts,
    make_moment_context,
    match_moments,
    narrow_days,
    read_match,
)
from convengine.engine.values.durations import match_durations, take_duration
from convengine.engine.values.field_spec import FieldSpec, Kind
from convengine.engine.values.language import Language, PhraseSet, get_language
from convengine.engine.values.numbers import (
    Amount,
    get_tables,
    take_amount,
)
from convengine.engine.values.reading import NOTHING, Reading, ReadingSituation, Reason, offer, refuse
from convengine.engine.values.surroundings import (
    FoundReading,
    asks_question,
    ends_clause,
    is_denied_before,
    is_glued,
    is_limited,
    is_one_clause,
    is_other_subject,
    is_place,
    is_reported,
    starts_value,
)
from convengine.engine.values.time_ranges import TimeRange
from convengine.engine.values.tokens import TokenText, fold_text

Json = Any


_DIGITS = tuple("0123456789")
#: The end of "19:30", behind which a number counts something else.
_FULL_CLOCK = re.compile(r"\d : \d\d $")
#: The end of a time, behind which a length is that of what is asked for.
_CLOCK_END = re.compile(r"(?:\d : \d\d|\d (?:a m|p m|am|pm|uhr|o'clock)) \Z")
#: Minutes of an hour.
_MINUTES = 60
#: The priority of the days of a range.
OF_RANGE = -1


@lru_cache(maxsize=16)
def get_phrases(language: Language, name: str) -> PhraseSet:
    return PhraseSet(language.words[name])


# --- days and times -----------------------------------------------------------------------------------------------


def find_moments(
    spec: FieldSpec, text: str, tokens: TokenText, situation: ReadingSituation, language: Language
) -> list[FoundReading]:
    """The days and times for a field. A day is said again in "the same day at 2pm, so 30 September"."""
    matches = list(_find_moments(spec, text, tokens, situation, language))
    days = {str(item.reading.value)[:10] for item in matches if item.reading.has_value}
    return [
        item
        for item in matches
        if item.reading.reason is not Reason.TIME_MISSING or item.reading.data.get("date") not in days
    ]


def _find_moments(
    spec: FieldSpec, text: str, tokens: TokenText, situation: ReadingSituation, language: Language
) -> Iterator[FoundReading]:
    local = replace(situation, is_asked=False)
    context = make_moment_context(spec, local, language)
    is_past = context.date.past and not context.date.is_birthday
    position = 0
    for start in list_calendar_starts(tokens, language):
        if start < position or is_glued(text, tokens, start) or _is_behind_day(tokens, start, language):
            continue
        best = _match_longest_moment(spec, tokens, start, local, context, language)
        if best is None or is_place(tokens, start, best[0].end, language):
            continue
        moment, reading = best
        position = moment.end
        # The day of "from 16 July 9am" begins the range, not its time.
        is_behind_day = spec.kind is Kind.TIME and moment.date and moment.time and moment.time.start >= moment.date.end
        begin = moment.time.start if is_behind_day and moment.time else start
        if is_reported(reading, moment, tokens, context, language) and not (
            is_limited(
                tokens,
                begin,
                moment.end,
                language,
                is_paired=spec.is_paired,
                is_start=_is_start(spec, language) or _is_followed_by_length(tokens, moment.end, language),
                is_past=is_past,
                own_words=frozenset(spec.words),
                is_deadline=_is_deadline(spec, [token.text for token in tokens.tokens], language),
            )
            or is_other_subject(
                tokens,
                start,
                language,
                is_past=is_past,
                is_plain=_asks_plainly(spec, language),
                situation=situation,
            )
        ):
            yield FoundReading(*_find_part(spec, moment, tokens), spec.name, reading, 2)


def find_days_of_range(
    specs: Sequence[FieldSpec], text: str, tokens: TokenText, situation: ReadingSituation, language: Language
) -> Iterator[FoundReading]:
    """The days of "from the 4th to the 11th of July" for the two date fields, in their order.

    The only date field takes the first day.
    """
    pair = [spec for spec in specs if spec.kind is Kind.DATE and spec.is_paired]
    single = [spec for spec in specs if spec.kind is Kind.DATE]
    if len(single) == 1 and not pair:
        yield from _find_first_day(single[0], text, tokens, situation, language)
        return
    contexts = [make_moment_context(spec, replace(situation, earlier_days={}), language) for spec in pair]
    if len(pair) != 2 or any(context.date.past for context in contexts):
        return
    days = find_date_range(text, tokens, language, replace(contexts[0].date, bounds=DateBounds()))
    start = min(days.first_span[0], days.last_span[0]) if days else 0
    if days is None:
        return
    if is_denied_before(tokens, start, language) or is_other_subject(tokens, start, language):
        span = tokens.position(start, max(days.first_span[1], days.last_span[1]))
        yield FoundReading(*span, pair[0].name, refuse(Reason.AMBIGUOUS), OF_RANGE)
        return
    values = ((days.first, days.first_span), (days.last, days.last_span))
    for spec, context, (day, span) in zip(pair, contexts, values, strict=True):
        yield FoundReading(*tokens.position(*span), spec.name, narrow_days((day,), context.date.bounds), OF_RANGE)


def _find_first_day(
    spec: FieldSpec, text: str, tokens: TokenText, situation: ReadingSituation, language: Language
) -> Iterator[FoundReading]:
    """The first day of a range for a field that takes one day; of "between the 4th and the 11th", neither is sure."""
    context = make_moment_context(spec, situation, language).date
    days = None if context.past else find_date_range(text, tokens, language, replace(context, bounds=DateBounds()))
    if days is None or days.is_stay or any(language.is_in("end_fields", word) for word in spec.words):
        return
    start, end = days.first_span[0], days.last_span[1]
    is_dated = any(char.isdigit() for char in tokens.text[start:end])
    is_change = context.held == days.first or is_correction(text[: tokens.position(start, end)[0]], situation)
    if not _is_start(spec, language) and (is_change or not is_dated):
        return  # "From Monday to Friday" may be the days on which somebody has time.
    is_away = any(language.is_in("absences", token.text) for token in tokens.tokens)
    if is_away or is_denied_before(tokens, start, language) or is_other_subject(tokens, start, language):
        reading = refuse(Reason.AMBIGUOUS)
    elif days.is_choice:
        reading = offer([days.first.isoformat(), days.last.isoformat()])
    else:
        reading = narrow_days((days.first,), context.bounds)
    yield FoundReading(*tokens.position(start, end), spec.name, reading, OF_RANGE)


def cut_time(item: FoundReading, times: TimeRange) -> FoundReading:
    """The first time of a range at its position in the original text."""
    return replace(item, end=times.first_end) if item.start < times.first_end < item.end else item


def take_length(times: TimeRange, language: Language) -> Iterator[FoundReading]:
    """How many hours it is from the first to the second time of a range."""
    reading = take_amount(times.length, Amount((Decimal(times.minutes) / _MINUTES,), 0), get_tables(language))
    if reading.reason is not Reason.NOT_WHOLE:
        yield FoundReading(times.start, times.end, times.length.name, reading, OF_RANGE)


def _match_longest_moment(
    spec: FieldSpec,
    tokens: TokenText,
    start: int,
    situation: ReadingSituation,
    context: MomentContext,
    language: Language,
) -> tuple[Moment, Reading] | None:
    """The longest phrase at `start` that a sentence may mean, with its reading."""
    moments = sorted(match_moments(tokens.text, start, language, context), key=lambda moment: -moment.end)
    for moment in moments:
        if not _is_sure(moment, tokens, start, language):
            continue
        readings = {
            _freeze(reading): reading
            for other in moments
            if other.end == moment.end and other.rank == moment.rank
            if (reading := read_match(spec, other, situation, context)) is not NOTHING
        }
        if readings:
            return moment, _join_readings(list(readings.values()))
    return None


def _join_readings(readings: list[Reading]) -> Reading:
    """The only reading; of several ones their values, so that the user is asked which: "morgen in acht Tagen"."""
    if len(readings) == 1:
        return readings[0]
    values = [value for reading in readings for value in reading.candidates or (reading.value,) if value is not None]
    return offer(list(dict.fromkeys(values))) if len(set(values)) > 1 else refuse(Reason.AMBIGUOUS)


def _freeze(reading: Reading) -> tuple[Json, ...]:
    return reading.outcome, reading.value, reading.candidates, reading.reason


def _is_sure(moment: Moment, tokens: TokenText, start: int, language: Language) -> bool:
    """False for a phrase that may as well be something else in a sentence."""
    text = tokens.text
    rest = text[moment.end :]
    following = rest.split(" ", 1)[0]
    is_clock = moment.time is not None and _FULL_CLOCK.search(text[moment.time.start : moment.end]) is not None
    is_ended = is_clock or (moment.time is not None and not text[: moment.end - 1].endswith(_DIGITS))  # "10am 60 min"
    if (following.isdigit() and not is_ended and not ends_clause(tokens, moment.end)) or (
        rest and following in (":", "/", "%", "€", "£", "$", "@", "+", ",", ".") and rest[2:3].isdigit()
    ):
        return False
    is_clause_end = not following or following in language.clause_words or ends_clause(tokens, moment.end)
    if moment.date is None and moment.time is None:
        return False
    if moment.date and moment.date.is_attribute and language.is_in("occasions", following):
        return False
    is_opening = moment.date and moment.time and not start and moment.date.means == "weekday"
    if is_opening and (not following or following in list_small_words(language)):
        return True  # "Sat at 10 instead"
    if _is_timed_weekday(moment, text, language):
        return True  # "Massage mon 2pm, 1h"
    if moment.date and moment.date.is_weak and not _has_strong_lead(moment, text, language):
        has_mark = any(char.isdigit() for char in text[moment.date.start : moment.date.end].strip())
        is_full = moment.date.end - moment.date.start > 8 and has_mark
        if not (is_full and text[moment.date.start :].split(" ", 1)[0] not in language.ambiguous):
            return False
    if moment.date and not is_clause_end:
        words = text[moment.date.start : moment.date.end].split()
        is_dated = words[0].isdigit() and language.is_in("start_leads", following)
        if moment.date.is_weak or not (is_dated or language.ambiguous.isdisjoint(words)):
            return False  # "3 may come", and not "on 14 march from 6pm"
    if (
        moment.time
        and moment.date is None
        and not (moment.time.is_marked and (is_clause_end or not moment.time.is_weak))
    ):
        return False
    if moment.time and moment.time.is_weak and moment.part is None:
        lead = language.before_time.match_start(text, moment.time.start)
        return language.is_in("before_time_in_sentence", text[moment.time.start : moment.time.start + lead])
    return True


def _is_timed_weekday(moment: Moment, text: str, language: Language) -> bool:
    """True for a weekday before a time that only a time can be: "mon 2pm" and "di 10 Uhr", not "so 10 Uhr"."""
    if (
        moment.date is None
        or moment.time is None
        or moment.date.means != "weekday"
        or moment.date.start != moment.start
    ):
        return False
    words = text[moment.date.start : moment.date.end].split()
    is_behind = 0 <= moment.time.start - moment.date.end <= 1
    return is_behind and moment.time.is_marked and not moment.time.is_weak and words[0] not in language.never_alone


def _has_strong_lead(moment: Moment, text: str, language: Language) -> bool:
    """True when "on" or "am" stands before the day."""
    lead = language.before_date.match_start(text, moment.start)
    return language.is_in("before_date_in_sentence", text[moment.start : moment.start + lead])


def _asks_plainly(spec: FieldSpec, language: Language) -> bool:
    """True for "Which day?" and "What time do you start?", and not for "When shall we collect it?"."""
    return all(language.is_in("plain_day_words", fold_text(word)) for word in (*spec.words, *spec.question))


def _find_part(spec: FieldSpec, moment: Moment, tokens: TokenText) -> tuple[int, int]:
    """The words that the field takes: of "tomorrow at 3pm" a day takes "tomorrow", a time "at 3pm"."""
    if spec.kind is Kind.DATE and moment.date:
        return tokens.position(moment.date.start, moment.date.end)
    if spec.kind is Kind.TIME and moment.time and moment.date:
        if moment.time.start < moment.date.end:
            return tokens.position(moment.start, moment.time.end)
        start, end = tokens.position(moment.time.start, moment.end)
        # "Tonight" is a day and a part of it.
        first = max(start, tokens.position(moment.date.start, moment.date.end)[1])
        return next(token.start for token in tokens.tokens if token.start >= first), end
    return tokens.position(moment.start, moment.end)


def _is_behind_day(tokens: TokenText, start: int, language: Language) -> bool:
    """True for the month of "20 June 18 …", which has its day already, so that the number behind it is none."""
    months = language.slots["month"].values or {}
    if tokens.text[start:].split(" ", 1)[0] not in months:
        return False
    return not ends_clause(tokens, start) and _compile_day_end(language).search(tokens.text, 0, start) is not None


@lru_cache(maxsize=16)
def _compile_day_end(language: Language) -> re.Pattern[str]:
    return re.compile(rf"(?<!\S){language.slots['day'].pattern}(?:of )?$")


def _is_start(spec: FieldSpec, language: Language) -> bool:
    """True for a field such as "arrival", and for "From what time …?": its value is what "from" stands before."""
    asks_from = any(language.is_in("start_leads", fold_text(word)) for word in spec.question[:1])
    return asks_from or any(language.is_in("start_fields", word) for word in spec.words)


def cut_start_lead(spec: FieldSpec, text: str, situation: ReadingSituation) -> str:
    """The time behind the "from" of an answer to "From what time …?": "7" of "so ab 7"; blank for other fields."""
    language = get_language(situation.locale)
    if spec.kind is not Kind.TIME or not _is_start(spec, language):
        return ""
    composed = unicodedata.normalize("NFC", text)
    tokens = language.read_tokens(composed)
    leads = get_phrases(language, "start_leads")
    for token, offset in zip(tokens.tokens, tokens.offsets, strict=True):
        end = offset + leads.match_start(tokens.text, offset)
        if offset < end < len(tokens.text):
            return composed[tokens.tokens[tokens.offsets.index(end)].start :]
        if not (language.is_in("fillers", token.text) or language.is_in("before", token.text)):
            break
    return ""


def _is_deadline(spec: FieldSpec, words: list[str], language: Language) -> bool:
    """True for the only day of a thing that is ready or handed over by then: "brauche ich bis Dienstag"."""
    own = (*spec.words, *spec.question)
    if spec.kind is not Kind.DATE or spec.is_paired or any(language.is_in("no_deadlines", word) for word in words):
        return False  # "We're away until Friday"
    return any(language.is_in("deadline_fields", word) for word in own)


def _is_followed_by_length(tokens: TokenText, end: int, language: Language) -> bool:
    """True for "from the 9th for 3 weeks": a length behind a day makes it the first one."""
    lead = max(
        (len(phrase) for phrase in _list_length_leads(language) if tokens.text.startswith(phrase, end)), default=0
    )
    words = tokens.text[end + lead :].split(" ")[:2] if lead else []
    units = {fold_text(word) for name in ("day", "week", "month") for word in language.calendar["units"][name]}
    return len(words) == 2 and starts_value(words[0], language) and words[1] in units


def _list_length_leads(language: Language) -> tuple[str, ...]:
    return tuple(f"{fold_text(phrase)} " for phrase in language.calendar["before_duration_in_sentence"])


def find_durations(
    spec: FieldSpec, text: str, tokens: TokenText, situation: ReadingSituation, language: Language
) -> Iterator[FoundReading]:
    position = 0
    for start in tokens.offsets:
        if start < position or is_glued(text, tokens, start):
            continue
        matches = [
            match
            for match in match_durations(tokens.text, start, language)
            if not tokens.text[: match[0] - 1].endswith(_DIGITS) or is_one_clause(tokens, start, match[0])
        ]
        if not matches:
            continue
        position, parts = max(matches, key=lambda match: match[0])
        following = tokens.text[position:].split(" ", 1)[0]
        before = tokens.text[:start].split(" ")[-2:-1]
        is_led = any(language.is_in("before_duration_in_sentence", word) for word in (*before, following) if word)
        is_led = is_led or _CLOCK_END.search(tokens.text, 0, start) is not None  # "Saturday 10am, 1 hour"
        if not is_led and not _is_own_clause(tokens, start, position, language):
            continue  # "Give me 5 minutes"
        if following in language.distances or tokens.text[:position].split(" ")[-2] in language.ambiguous:
            continue  # "Two weeks ago", "a second opinion"
        if asks_question(tokens, language):
            continue  # "What kind of a day"
        if not is_limited(tokens, start, position, language) and not is_other_subject(tokens, start, language):
            yield FoundReading(*tokens.position(start, position), spec.name, take_duration(spec, parts), 5)


def _is_own_clause(tokens: TokenText, start: int, end: int, language: Language) -> bool:
    """True for words between two signs, such as the last of "half a day, so 4 hours"."""
    index = tokens.offsets.index(start)
    while index and (
        language.is_in("conclusions", tokens.tokens[index - 1].text)
        or language.is_in("fillers", tokens.tokens[index - 1].text)
    ):
        index -= 1
    is_begun = index > 0 and tokens.tokens[index].start - tokens.tokens[index - 1].end > 1
    return is_begun and (end >= len(tokens.text) or ends_clause(tokens, end))
