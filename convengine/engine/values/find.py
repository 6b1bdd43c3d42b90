"""Find the values of typed fields inside a longer sentence (R114).

"Can I come tomorrow at 3pm for a check-up, my number is 020 7946 0018": a day, a time, a choice, a phone number.
What may be something else is left out: a bare number is no day, and "at 3" is a time only at the end of a clause.
"""

import re
import unicodedata
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from decimal import Decimal
from functools import lru_cache
from itertools import pairwise
from typing import Any

from convengine.engine.values.bounds import DateBounds
from convengine.engine.values.choices import find_named_options, stem_words
from convengine.engine.values.contacts import (
    check_email,
    find_country,
    find_emails,
    find_ibans,
    find_phones,
    find_postcodes,
)
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
from convengine.engine.values.durations import match_durations, read_length, take_duration
from convengine.engine.values.field_spec import FieldSpec, Kind
from convengine.engine.values.headcounts import CHILD, PERSON, PLACES, counts_groups, counts_people, find_headcounts
from convengine.engine.values.language import Language, PhraseSet, get_language
from convengine.engine.values.lone_numbers import is_coming_age, tells_of_other_number
from convengine.engine.values.numbers import (
    PIECE,
    Amount,
    asks_for_limit,
    counts_any_noun,
    counts_anything,
    find_amount_starts,
    fold_digraphs,
    get_ordinal,
    get_place_words,
    get_tables,
    list_counted_words,
    list_field_units,
    match_amount,
    names_ordinal,
    take_amount,
    take_ordinal,
)
from convengine.engine.values.plain import find_pattern_words
from convengine.engine.values.read import list_situations
from convengine.engine.values.reading import NOTHING, Outcome, Reading, ReadingSituation, Reason, offer, refuse
from convengine.engine.values.time_ranges import TimeRange, find_time_range
from convengine.engine.values.tokens import TokenText, fold_text

Json = Any
#: Values are looked for in the first characters of a message.
MAX_LENGTH = 600
_NUMBER_SIGNS = tuple(":/%€£$@+,.")
#: Refusals that are reported although nobody asked: the rest is no value of the sentence.
_REPORTED = frozenset(
    {Reason.INVALID_DATE, Reason.OUT_OF_BOUNDS, Reason.WEEKDAY_MISMATCH, Reason.TIME_MISSING, Reason.DATE_MISSING}
)


_DIGITS = tuple("0123456789")
#: The town behind a post code: "Gartenweg 7, 80331 München".
_TOWN = re.compile(r" [^\W\d_a-z][^\W\d_]{2,}")
#: The end of "19:30", behind which a number counts something else.
_FULL_CLOCK = re.compile(r"\d : \d\d $")
#: How many words a denial covers.
_DENIAL_REACH = 4
#: How many words a verb in the past covers.
_SUBJECT_REACH = 6
#: How many words before an occasion may say that something is for it: "for my little daughter's 18th birthday".
_PURPOSE_REACH = 6
#: Minutes of an hour.
_MINUTES = 60
#: The priority of the days of a range.
_OF_RANGE = -1
#: Shortest word of a field's name that may stand before its number.
_MIN_OWN_WORD = 5
#: The priority of options.
_OF_OPTION = 6
#: The priority of people who are counted in parts.
_OF_PEOPLE = 0
#: The unit of ages.
_YEAR = "year"


@dataclass(frozen=True)
class ValueSpan:
    """A part of a text that is a value of one or more fields."""

    start: int
    end: int
    #: For each field that could take it, by name and in the order of the specs, what it takes.
    readings: Mapping[str, Reading]

    @property
    def field(self) -> str | None:
        """The name of the only field that could take it; null for several."""
        return next(iter(self.readings)) if len(self.readings) == 1 else None


@dataclass(frozen=True)
class _Found:
    start: int
    end: int
    name: str
    reading: Reading
    #: Kinds that cannot be mistaken come first.
    priority: int


def find_values(specs: Sequence[FieldSpec], text: str, situation: ReadingSituation) -> list[ValueSpan]:
    """The values of typed fields in a sentence, in its order and without overlap.

    Positions count in the text in Unicode form NFC. A field may occur twice ("Friday … no, Saturday"): the caller
    decides which one counts. Free text and yes or no are never found.
    """
    composed = unicodedata.normalize("NFC", text)[:MAX_LENGTH]
    matches: list[_Found] = []
    for local in list_situations(situation):
        language = get_language(local.locale)
        times = find_time_range(specs, composed, language)
        tokens = language.read_tokens(times.text if times else composed)
        if not tokens.tokens:
            return []  # "-" and "…" have no words.
        matches += _find_date_range(specs, composed, tokens, local, language)
        for spec in specs:
            if finder := _FINDERS.get(spec.kind):
                matches += finder(spec, composed, tokens, local, language)
        matches += _find_counted_options(specs, tokens, local, language, matches)
        matches += _find_headcounts(specs, tokens, language)
        matches += _find_other_nouns(specs, tokens, local, language, matches)
        if times and matches:
            matches = [_cut_time(item, times) for item in matches]
            matches += _take_length(times, language)
        if matches:
            break
    return _choose_spans(matches, specs)


def is_passing_moment(text: str, situation: ReadingSituation) -> bool:
    """True for "now", which is hardly a value beside other words."""
    languages = [get_language(local.locale) for local in list_situations(situation)]
    return any(language.is_in("passing_moments", language.read_tokens(text).text) for language in languages)


def find_day_beside(spec: FieldSpec, text: str, situation: ReadingSituation) -> int:
    """The days from a day to the one beside it that ends the text: -1 for "I marry on the 24th, so the day before".

    0 for none.
    """
    composed = unicodedata.normalize("NFC", text)[:MAX_LENGTH]
    for local in list_situations(situation):
        language = get_language(local.locale)
        tokens = language.read_tokens(composed)
        end = len(tokens.text)
        while size := language.after.match_end(tokens.text, end):
            end -= size
        for days, name in ((-1, "day_before"), (1, "day_after")):
            size = _get_phrases(language, name).match_end(tokens.text, end) if tokens.tokens else 0
            word = tokens.text[: end - size].rpartition(" ")[0].rpartition(" ")[2] if size else ""
            if any(part in language.words["copulas"] for part in (word, word[word.find("'") :])):
                return 0  # "Friday, my wedding is the day after"
            if size and len(find_values([spec], composed[: tokens.position(end - size, end)[0]], situation)) == 1:
                return days
    return 0


@lru_cache(maxsize=16)
def _get_phrases(language: Language, name: str) -> PhraseSet:
    return PhraseSet(language.words[name])


def find_replacing_numbers(
    spec: FieldSpec, text: str, situation: ReadingSituation
) -> Iterator[tuple[int, int, Reading]]:
    """The bare numbers behind words that take back the value before them, "3 keys, no wait 4".

    With each, where the words begin and where the number ends.
    """
    composed = unicodedata.normalize("NFC", text)[:MAX_LENGTH]
    language = get_language(situation.locale)
    tokens, tables, position = language.read_tokens(composed), get_tables(language), 0
    for offset in tokens.offsets:
        size = language.retractions.match_start(tokens.text, offset)
        if not size and offset and _ends_clause(tokens, offset):
            size = _get_phrases(language, "leading_no").match_start(tokens.text, offset)  # "The 1st, no, the 3rd"
        if offset < position or not size:
            continue
        position = offset + size
        if ordinal := _match_replacing_ordinal(spec, tokens, position, language):
            yield *tokens.position(offset, ordinal[0]), ordinal[1]
            continue
        amount = match_amount(tokens.text, position, tables, situation.locale, spec)
        if amount is None or amount.unit or amount.currencies:
            continue
        if _stands_alone(tokens, amount.end, language) or language.after.match_start(tokens.text, amount.end):
            yield *tokens.position(offset, amount.end), take_amount(spec, amount, tables)


def _match_replacing_ordinal(
    spec: FieldSpec, tokens: TokenText, start: int, language: Language
) -> tuple[int, Reading] | None:
    """The end and the value of "the 3rd" or "im 3. Stock" behind words that take back another ordinal."""
    if list_counted_words(spec, language):
        return None
    start += get_place_words(language).match_start(tokens.text, start)
    start += language.articles.match_start(tokens.text, start)
    match = get_ordinal(language).match(tokens.text, start)
    if match is None:
        return None
    noun = tokens.text[match.end() :].split(" ", 1)[0]
    end = match.end() + (len(noun) + 1 if noun and names_ordinal(noun, spec, language) else 0)
    return (end, take_ordinal(spec, match, language)) if _stands_alone(tokens, end, language) else None


def _choose_spans(matches: list[_Found], specs: Sequence[FieldSpec]) -> list[ValueSpan]:
    """The surest and longest of what overlaps; the same words may be a value of several fields."""
    order = {spec.name: index for index, spec in enumerate(specs)}
    chosen: list[tuple[int, int, dict[str, Reading]]] = []
    settled: set[tuple[int, int]] = set()
    for item in sorted(
        matches, key=lambda value: (value.priority, value.start - value.end, value.start, order[value.name])
    ):
        same = next((span for span in chosen if span[:2] == (item.start, item.end)), None)
        if same:
            # The days of a range belong to one field each.
            if same[:2] not in settled:
                same[2].setdefault(item.name, item.reading)
        elif all(item.end <= start or end <= item.start for start, end, _ in chosen):
            chosen.append((item.start, item.end, {item.name: item.reading}))
            if item.priority == _OF_RANGE:
                settled.add((item.start, item.end))
    return [ValueSpan(*span) for span in sorted(chosen, key=lambda span: span[0])]


# --- days and times -----------------------------------------------------------------------------------------------


def _find_moments(
    spec: FieldSpec, text: str, tokens: TokenText, situation: ReadingSituation, language: Language
) -> Iterator[_Found]:
    local = replace(situation, is_asked=False)
    context = make_moment_context(spec, local, language)
    is_past = context.date.past and not context.date.is_birthday
    position = 0
    for start in list_calendar_starts(tokens, language):
        if start < position or _is_glued(text, tokens, start) or _is_behind_day(tokens, start, language):
            continue
        best = _match_longest_moment(spec, tokens, start, local, context, language)
        if best is None or _is_place(tokens, start, best[0].end, language):
            continue
        moment, reading = best
        position = moment.end
        # The day of "from 16 July 9am" begins the range, not its time.
        is_behind_day = spec.kind is Kind.TIME and moment.date and moment.time and moment.time.start >= moment.date.end
        begin = moment.time.start if is_behind_day and moment.time else start
        if _is_reported(reading, moment, tokens, context, language) and not (
            _is_limited(
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
            or _is_other_subject(
                tokens,
                start,
                language,
                is_past=is_past,
                is_plain=_asks_plainly(spec, language),
                situation=situation,
            )
        ):
            yield _Found(*_find_part(spec, moment, tokens), spec.name, reading, 2)


def _find_date_range(
    specs: Sequence[FieldSpec], text: str, tokens: TokenText, situation: ReadingSituation, language: Language
) -> Iterator[_Found]:
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
    if _is_denied_before(tokens, start, language) or _is_other_subject(tokens, start, language):
        span = tokens.position(start, max(days.first_span[1], days.last_span[1]))
        yield _Found(*span, pair[0].name, refuse(Reason.AMBIGUOUS), _OF_RANGE)
        return
    values = ((days.first, days.first_span), (days.last, days.last_span))
    for spec, context, (day, span) in zip(pair, contexts, values, strict=True):
        yield _Found(*tokens.position(*span), spec.name, narrow_days((day,), context.date.bounds), _OF_RANGE)


def _find_first_day(
    spec: FieldSpec, text: str, tokens: TokenText, situation: ReadingSituation, language: Language
) -> Iterator[_Found]:
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
    if is_away or _is_denied_before(tokens, start, language) or _is_other_subject(tokens, start, language):
        reading = refuse(Reason.AMBIGUOUS)
    elif days.is_choice:
        reading = offer([days.first.isoformat(), days.last.isoformat()])
    else:
        reading = narrow_days((days.first,), context.bounds)
    yield _Found(*tokens.position(start, end), spec.name, reading, _OF_RANGE)


def _cut_time(item: _Found, times: TimeRange) -> _Found:
    """The first time of a range at its position in the original text."""
    return replace(item, end=times.first_end) if item.start < times.first_end < item.end else item


def _take_length(times: TimeRange, language: Language) -> Iterator[_Found]:
    """How many hours it is from the first to the second time of a range."""
    reading = take_amount(times.length, Amount((Decimal(times.minutes) / _MINUTES,), 0), get_tables(language))
    if reading.reason is not Reason.NOT_WHOLE:
        yield _Found(times.start, times.end, times.length.name, reading, _OF_RANGE)


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
    if (following.isdigit() and not is_clock and not _ends_clause(tokens, moment.end)) or (
        rest and following in (":", "/", "%", "€", "£", "$", "@", "+", ",", ".") and rest[2:3].isdigit()
    ):
        return False
    is_clause_end = not following or following in language.clause_words or _ends_clause(tokens, moment.end)
    if moment.date is None and moment.time is None:
        return False
    if moment.date and moment.date.is_attribute and language.is_in("occasions", following):
        return False
    is_opening = moment.date and moment.time and not start and moment.date.means == "weekday"
    if is_opening and (not following or following in list_small_words(language)):
        return True  # "Sat at 10 instead"
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


def _has_strong_lead(moment: Moment, text: str, language: Language) -> bool:
    """True when "on" or "am" stands before the day."""
    lead = language.before_date.match_start(text, moment.start)
    return language.is_in("before_date_in_sentence", text[moment.start : moment.start + lead])


def _ends_clause(tokens: TokenText, end: int) -> bool:
    """True when a sign stands between the phrase and the next word."""
    index = tokens.offsets.index(end)
    return tokens.tokens[index].start - tokens.tokens[index - 1].end > 1


def _is_reported(
    reading: Reading, moment: Moment, tokens: TokenText, context: MomentContext, language: Language
) -> bool:
    """True for a reading that the caller should see. A past day in a report is not one: "it hurt yesterday"."""
    if reading.outcome is Outcome.REFUSED and reading.reason not in _REPORTED:
        return False
    if moment.date and moment.date.is_rough and context.date.past:
        return False
    days = moment.date.days if moment.date else ()
    days = days if isinstance(days, tuple) else ()
    if days and all(day < context.now.date() for day in days) and not context.date.past:
        return False
    is_now = days == (context.now.date(),) or (moment.time is not None and moment.time.times.moment == context.now)
    return not (is_now and _asks_question(tokens, language))


def _is_one_clause(tokens: TokenText, start: int, end: int) -> bool:
    """True for words without a sign between them, and with one behind them: not for "4 hours, 80 people"."""
    first, last = tokens.offsets.index(start), [*tokens.offsets, len(tokens.text)].index(end)
    listed = tokens.tokens[first:last]
    is_joined = all(after.start - before.end <= 1 for before, after in pairwise(listed))
    return is_joined and (last == len(tokens.tokens) or _ends_clause(tokens, end))


def _asks_question(tokens: TokenText, language: Language) -> bool:
    """True for "what day is it today", and not for "how about today" and "can I come today"."""
    is_offer = language.before.match_start(tokens.text, 0) > 0
    return not is_offer and language.is_in("question_words", tokens.tokens[0].text)


def _is_other_subject(
    tokens: TokenText,
    start: int,
    language: Language,
    *,
    is_past: bool = False,
    is_plain: bool = False,
    situation: ReadingSituation | None = None,
) -> bool:
    """True when a word of the clause shows that the time belongs to another subject: "I was there on Monday".

    `is_past`: the day of something that is over is asked for. `is_plain`: "Which day?" is asked, so that the day of
    what something is for is meant: "for my daughter's 18th birthday on 14 March". So is that of what the form is for,
    by the terms of the `situation`: "catering please, birthday on 14 March".
    """
    index = tokens.offsets.index(start)
    for position in range(index - 1, max(-1, index - 1 - _SUBJECT_REACH), -1):
        token, following = tokens.tokens[position], tokens.tokens[position + 1]
        if following.start - token.end > 1:
            return False
        if is_past and language.is_in("past_of_subject", token.text):
            continue
        if language.is_in("other_subject", token.text) and not language.is_in("occasions", following.text):
            # "For a birthday on 14 November" says when it is.
            before = [token.text for token in tokens.tokens[max(0, position - _PURPOSE_REACH) : position]]
            is_occasion = before[-1:] != [] and before[-1] in get_tables(language).indefinite_articles
            is_purpose = is_plain and any(language.is_in("occasion_leads", word) for word in before)
            between = [token.text for token in tokens.tokens[position + 1 : index]]
            is_own = situation is not None and _is_subject(token.text, situation, language)
            is_own = is_own and not any(language.is_in("dating_verbs", word) for word in between)
            return not (is_occasion or is_purpose or is_own)
    return False


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


def _is_glued(text: str, tokens: TokenText, start: int) -> bool:
    """True inside an id, a decimal number, an address."""
    begin = tokens.tokens[tokens.offsets.index(start)].start
    return begin > 0 and text[begin - 1] in "-/.,:@#_+€$£%&=" and not text[begin - 2 : begin - 1].isspace()


def _is_behind_day(tokens: TokenText, start: int, language: Language) -> bool:
    """True for the month of "20 June 18 …", which has its day already, so that the number behind it is none."""
    months = language.slots["month"].values or {}
    if tokens.text[start:].split(" ", 1)[0] not in months:
        return False
    return not _ends_clause(tokens, start) and _compile_day_end(language).search(tokens.text, 0, start) is not None


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
    leads = _get_phrases(language, "start_leads")
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
    return len(words) == 2 and _starts_value(words[0], language) and words[1] in units


def _list_length_leads(language: Language) -> tuple[str, ...]:
    return tuple(f"{fold_text(phrase)} " for phrase in language.calendar["before_duration_in_sentence"])


def _is_limited(
    tokens: TokenText,
    start: int,
    end: int,
    language: Language,
    *,
    is_paired: bool = False,
    is_start: bool = False,
    is_past: bool = False,
    own_words: frozenset[str] = frozenset(),
    is_deadline: bool = False,
) -> bool:
    """True when the words beside a value make it a limit, a denial or a range. A pair of fields may share a range."""
    text = tokens.text
    is_own = language.is_in("possessives", text[:start].rstrip().rpartition(" ")[2])
    denial = 0 if is_own else language.denials_after.match_start(text, end)
    if denial and end < len(text) and _ends_clause(tokens, end) and language.is_in("facts_after", text[end:][:denial]):
        denial = 0  # "On 20 October, is a van" tells of the van.
    if denial or _is_denied_before(tokens, start, language):
        return True
    for position in (start, start - language.articles.match_end(text, start)):
        limit = language.limits_before.match_end(text, position)
        if is_deadline and limit and language.is_in("deadline_leads", text[position - limit : position]):
            continue
        if limit and not own_words.isdisjoint(text[position - limit : position].split()):
            continue  # "By 20 May" where "Ready by" is asked for.
        if is_start and limit and language.is_in("start_leads", text[position - limit : position]):
            continue
        if is_past and limit and language.is_in("past_of_subject", text[position - limit : position]):
            continue
        if (
            limit
            and _begins_clause(tokens, position)
            and language.is_in("limits_in_clause", text[position - limit : position])
        ):
            continue
        if limit and not (is_paired and language.is_in("range_words", text[position - limit : position])):
            return True
    return not is_paired and _is_range(text, start, end, language) and not _leads_to_day(text, end, language)


def _begins_clause(tokens: TokenText, start: int) -> bool:
    """True for words behind a sign."""
    index = tokens.offsets.index(start) if start in tokens.offsets else 0
    return index > 0 and tokens.tokens[index].start - tokens.tokens[index - 1].end > 1


def _leads_to_day(text: str, end: int, language: Language) -> bool:
    """True for the time of "16 July 9am to 18 July", which begins no range of times."""
    words = text[end:].split(" ")[1:3]
    days = (language.slots["weekday"].values or {}, language.slots["month"].values or {})
    return any(word in table for word in words for table in days)


def _is_denied_before(tokens: TokenText, start: int, language: Language) -> bool:
    """True when one of the last words of the same clause denies: "I can't come on Friday"."""
    index = tokens.offsets.index(start)
    if language.retractions.match_end(tokens.text, start - language.articles.match_end(tokens.text, start)):
        return False  # "Friday, no wait, Saturday"
    for position in range(index - 1, max(-1, index - 1 - _DENIAL_REACH), -1):
        token, following = tokens.tokens[position], tokens.tokens[position + 1]
        if following.start - token.end > 1 or language.is_in("denial_stops", token.text):
            return False
        if language.is_in("denials", token.text):
            return True
    return False


def _is_range(text: str, start: int, end: int, language: Language) -> bool:
    after = text[end:].split(" ")[:2]
    before = text[:start].split(" ")[-3:-1]
    return (len(after) == 2 and after[0] in language.ranges and _starts_value(after[1], language)) or (
        len(before) == 2 and before[1] in language.ranges and _starts_value(before[0], language, is_end=True)
    )


def _starts_value(word: str, language: Language, *, is_end: bool = False) -> bool:
    if word.isdigit() or word in language.number_words or word in (language.slots["weekday"].values or {}):
        return True
    if is_end and (word in (language.slots["month"].values or {}) or word in ("am", "pm", "uhr", "o'clock")):
        return True
    return word in (language.slots["relative_day"].values or {})


# --- the other kinds ----------------------------------------------------------------------------------------------


def _find_emails(
    spec: FieldSpec, text: str, tokens: TokenText, situation: ReadingSituation, language: Language
) -> Iterator[_Found]:
    for start, end in find_emails(text):
        if (reading := check_email(text[start:end])).has_value:
            yield _Found(start, end, spec.name, reading, 0)


def _find_ibans(
    spec: FieldSpec, text: str, tokens: TokenText, situation: ReadingSituation, language: Language
) -> Iterator[_Found]:
    for start, end, reading in find_ibans(text):
        if reading.has_value or reading.reason is Reason.WRONG_CHECK_DIGITS:
            yield _Found(start, end, spec.name, reading, 0)


def _find_phones(
    spec: FieldSpec, text: str, tokens: TokenText, situation: ReadingSituation, language: Language
) -> Iterator[_Found]:
    for start, end, reading in find_phones(text, find_country(spec, situation)):
        digits = sum(char.isdigit() for char in text[start:end])
        # Without a country any row of digits would be one.
        if digits >= 7 and (str(reading.value).startswith("+") or digits >= 10):
            yield _Found(start, end, spec.name, reading, 3)


def _find_postcodes(
    spec: FieldSpec, text: str, tokens: TokenText, situation: ReadingSituation, language: Language
) -> Iterator[_Found]:
    names = _get_postcode_names(language)
    for start, end, reading in find_postcodes(text, find_country(spec, situation)):
        has_letters = any(char.isalpha() for char in str(reading.value))
        before = text[:start].lower().rstrip(" :=").removesuffix(" is").removesuffix(" ist").rstrip()
        is_before_town = _TOWN.match(text, end) is not None and text[:start].rstrip().endswith(",")
        if has_letters or is_before_town or before.endswith(names):
            yield _Found(start, end, spec.name, reading, 4)


@lru_cache(maxsize=16)
def _get_postcode_names(language: Language) -> tuple[str, ...]:
    return tuple(language.words["postcode_names"])


def _find_patterns(
    spec: FieldSpec, text: str, tokens: TokenText, situation: ReadingSituation, language: Language
) -> Iterator[_Found]:
    for start, end, reading in find_pattern_words(spec, text):
        yield _Found(start, end, spec.name, reading, 1)


def _find_choices(
    spec: FieldSpec, text: str, tokens: TokenText, situation: ReadingSituation, language: Language
) -> Iterator[_Found]:
    if _asks_question(tokens, language):
        return  # "How big is the hall"
    for start, end, reading in find_named_options(spec, tokens, language):
        if not _is_limited(tokens, start, end, language):
            yield _Found(*tokens.position(start, end), spec.name, reading, _OF_OPTION)


def _find_amounts(
    spec: FieldSpec, text: str, tokens: TokenText, situation: ReadingSituation, language: Language
) -> Iterator[_Found]:
    """Sums with a currency, and numbers with the field's own unit. A bare number may count anything."""
    tables = get_tables(language)
    own = list_field_units(spec, tables)
    position = 0
    amounts: list[_Found] = []
    starts = list(find_amount_starts(tokens, tables))
    lengths = [start for start in tokens.offsets if read_length(spec, tokens.text, start, language)]
    for start in sorted({*starts, *lengths}):
        if start < position or _is_glued(text, tokens, start):
            continue
        amount = match_amount(tokens.text, start, tables, situation.locale, spec)
        if (length := read_length(spec, tokens.text, start, language)) and (not amount or length[0] > amount.end):
            amount = Amount((Decimal(str(length[1])),), length[0], unit=next(iter(own)))  # "An hour and a half"
        if amount is None:
            continue
        position = amount.end
        if amount.noun_end and _has_sign_between(tokens, start, amount.noun_end):
            amount = replace(amount, has_field_word=False, noun_end=None)  # "8 Holzfenster, Budget 900 €"
        is_piece = amount.unit == PIECE and spec.kind is Kind.NUMBER and counts_anything(spec, tables)
        if is_piece:
            amount = replace(amount, unit="")  # "3 Stück davon"
        is_own = (
            is_piece or bool(amount.currencies) or (bool(amount.unit) and amount.unit in own) or amount.has_field_word
        )
        counts = not amount.unit and (
            (counts_groups(own) and _counts_persons(tokens, start, amount, language))
            or (_YEAR in own and _says_age(tokens, start, amount, language))
            or (_follows_own_word(tokens, start, spec) and _stands_alone(tokens, amount.end, language))
        )
        is_limited = not asks_for_limit(spec.words) and _is_limited(tokens, start, amount.end, language)
        if not (is_own or counts) or is_limited:
            continue
        reading = take_amount(spec, amount, tables)
        if reading.outcome is not Outcome.REFUSED or reading.reason is Reason.OUT_OF_BOUNDS:
            # "For two" is no time of day.
            amounts.append(_Found(*tokens.position(start, amount.end), spec.name, reading, 1 if counts else 5))
    if _YEAR in own and len(starts) > 1:  # "17, about to turn 18"
        starts_of_ages = {token.start: offset for token, offset in zip(tokens.tokens, tokens.offsets, strict=True)}
        amounts = [item for item in amounts if not is_coming_age(tokens, starts_of_ages[item.start], language)]
    # Of "two adults and a child, so 3", the sum counts and not its parts.
    if starts and _sums_up(tokens, starts[-1], spec, situation, language):
        total = _find_total(spec, tokens, starts[-1], situation, language)
        amounts = [total] if total else []
    yield from amounts


def _find_numbers(
    spec: FieldSpec, text: str, tokens: TokenText, situation: ReadingSituation, language: Language
) -> Iterator[_Found]:
    yield from _find_amounts(spec, text, tokens, situation, language)
    yield from _find_ordinals(spec, text, tokens, language)


def _find_ordinals(spec: FieldSpec, text: str, tokens: TokenText, language: Language) -> Iterator[_Found]:
    """The ordinal before a noun of the field, "im 2. Stock", unless the field counts or the clause has two of them."""
    if list_counted_words(spec, language):
        return
    matches = ((start, get_ordinal(language).match(tokens.text, start)) for start in tokens.offsets)
    ordinals = [(start, match) for start, match in matches if match]
    for start, match in ordinals:
        noun = tokens.text[match.end() :].split(" ", 1)[0]
        if not noun or not names_ordinal(noun, spec, language) or _is_glued(text, tokens, start):
            continue
        is_one_of_two = any(
            other != start and _is_joined(tokens, min(start, other), max(start, other), language)
            for other in (
                *(other for other, match in ordinals if not _is_day(tokens, other, match.end(), language)),
                *_find_joined_number(tokens, start, language),
            )
        )
        end = match.end() + len(noun) + 1
        begin = start - get_place_words(language).match_end(tokens.text, start)
        is_limited = _is_limited(tokens, begin, end, language) or _is_other_place(tokens, begin, language)
        reading = take_ordinal(spec, match, language)
        if not (is_one_of_two or is_limited) and (reading.has_value or reading.reason is Reason.OUT_OF_BOUNDS):
            yield _Found(*tokens.position(start, end), spec.name, reading, 5)


def _is_place(tokens: TokenText, start: int, end: int, language: Language) -> bool:
    """True for an ordinal behind words that no day has: "in the 6th"."""
    begin = start + language.articles.match_start(tokens.text, start)
    match = get_ordinal(language).match(tokens.text, begin)
    return match is not None and match.end() == end and get_place_words(language).match_end(tokens.text, begin) > 0


def _is_day(tokens: TokenText, start: int, end: int, language: Language) -> bool:
    """True for an ordinal behind "on" or before a month."""
    before, after = tokens.text[:start].split()[-2:], tokens.text[end:].split()[:2]
    is_led = any(language.is_in("before_date_in_sentence", word) for word in before)
    return is_led or any(word in (language.slots["month"].values or {}) for word in after)


def _is_other_place(tokens: TokenText, start: int, language: Language) -> bool:
    """True when the words of the clause before a place lead to another one: "above the 2nd floor"."""
    for after, token in pairwise(reversed(tokens.tokens[: tokens.offsets.index(start) + 1])):
        if after.start - token.end > 1:
            return False
        if language.is_in("other_places", token.text) or language.is_in("other_subject", token.text):
            return True
    return False


def _find_joined_number(tokens: TokenText, start: int, language: Language) -> list[int]:
    """The number before one word that joins it to what begins at `start`: "between 1 and 2nd"."""
    index = tokens.offsets.index(start)
    is_joined = index > 1 and tokens.tokens[index - 1].text in language.ranges
    return [tokens.offsets[index - 2]] if is_joined and _starts_value(tokens.tokens[index - 2].text, language) else []


def _is_joined(tokens: TokenText, first: int, last: int, language: Language) -> bool:
    """True when no sign and no words that take something back stand between two tokens."""
    if any(first < offset <= last and language.retractions.match_end(tokens.text, offset) for offset in tokens.offsets):
        return False
    listed = tokens.tokens[tokens.offsets.index(first) : tokens.offsets.index(last) + 1]
    return all(after.start - before.end <= 1 for before, after in pairwise(listed))


def _has_sign_between(tokens: TokenText, start: int, end: int) -> bool:
    """True when a sign stands between two words of this part of the tokens' text."""
    listed = tokens.tokens[tokens.offsets.index(start) : [*tokens.offsets, len(tokens.text)].index(end)]
    return any(after.start - before.end > 1 for before, after in pairwise(listed))


def _find_total(
    spec: FieldSpec, tokens: TokenText, start: int, situation: ReadingSituation, language: Language
) -> _Found | None:
    """The number that ends "the baby and me, so 2", for a field that counts."""
    if spec.kind is not Kind.NUMBER or not list_counted_words(spec, language):
        return None
    before = tokens.text[:start].split(" ")
    if not any(language.is_in("conjunctions", word) and not language.is_in("alternatives", word) for word in before):
        return None  # "So 2" sums up nothing.
    amount = match_amount(tokens.text, start, get_tables(language), situation.locale, spec)
    reading = take_amount(spec, amount, get_tables(language)) if amount else NOTHING
    return _Found(*tokens.position(start, len(tokens.text)), spec.name, reading, 1) if reading.has_value else None


def _find_counted_options(
    specs: Sequence[FieldSpec],
    tokens: TokenText,
    situation: ReadingSituation,
    language: Language,
    matches: Sequence[_Found],
) -> Iterator[_Found]:
    """The number before an option, "zwei Katzen", for the only number field that asks how many."""
    counting = [spec for spec in specs if spec.kind is Kind.NUMBER and list_counted_words(spec, language)]
    starts = {item.start for item in matches if item.priority == _OF_OPTION}
    if len(counting) != 1 or not starts:
        return
    tables = get_tables(language)
    for offset in find_amount_starts(tokens, tables):
        amount = match_amount(tokens.text, offset, tables, situation.locale, counting[0])
        index = tokens.offsets.index(amount.end) if amount and amount.end < len(tokens.text) else None
        if amount and index is not None and not amount.unit and tokens.tokens[index].start in starts:
            reading = take_amount(counting[0], amount, tables)
            is_article = amount.values == (Decimal(1),) and not tokens.text[offset].isdigit()
            if reading.has_value and not is_article:
                yield _Found(*tokens.position(offset, amount.end), counting[0].name, reading, 5)


def _find_headcounts(specs: Sequence[FieldSpec], tokens: TokenText, language: Language) -> Iterator[_Found]:
    """The number of people in "2 adults and a child", unless the form counts one of these groups on its own."""
    tables = get_tables(language)
    numbers = [spec for spec in specs if spec.kind is Kind.NUMBER]
    units = {spec.name: list_field_units(spec, tables) for spec in numbers}
    own = [spec for spec in numbers if counts_people(spec, units[spec.name], language)]
    own = [spec for spec in own if PERSON in units[spec.name]] or own
    if any(spec not in own and not units[spec.name].isdisjoint((PERSON, CHILD)) for spec in numbers):
        return
    for start, end, count in find_headcounts(tokens, language) if own else ():
        if not _is_limited(tokens, start, end, language):
            for spec in own:
                reading = take_amount(spec, Amount((Decimal(count),), end), tables)
                yield _Found(*tokens.position(start, end), spec.name, reading, _OF_PEOPLE)


def _find_other_nouns(
    specs: Sequence[FieldSpec],
    tokens: TokenText,
    situation: ReadingSituation,
    language: Language,
    matches: Sequence[_Found],
) -> Iterator[_Found]:
    """The number before what the form is about, "2 tickets for Hamlet", for its only number field.

    Beside other values, a number that is a clause of its own counts, too: "lavender, a dozen".
    """
    numbers = [spec for spec in specs if spec.kind in (Kind.NUMBER, Kind.MONEY)]
    if len(numbers) != 1 or numbers[0].kind is Kind.MONEY or any(item.name == numbers[0].name for item in matches):
        return
    spec, tables = numbers[0], get_tables(language)
    units = list_field_units(spec, tables)
    is_open = counts_any_noun(spec, tables)
    has_moments = any(other.kind in (Kind.DATE, Kind.TIME, Kind.DATE_TIME, Kind.DURATION) for other in specs)
    values: list[_Found] = []
    end, others, counts_some = 0, 0, False
    for start in find_amount_starts(tokens, tables):
        amount = match_amount(tokens.text, start, tables, situation.locale, spec) if start >= end else None
        if amount is None or amount.currencies:
            continue
        end = amount.end
        words = tokens.text[start:end].split()
        is_article = amount.values == (Decimal(1),) and len(words) == 1 and not words[0].isdigit()
        noun = tokens.text[end:].split(" ", 1)[0]
        is_place = not PLACES.isdisjoint(units) and amount.unit in (PERSON, CHILD, *PLACES)
        is_subject = is_open and not amount.unit and _is_subject(noun, situation, language)
        is_clause = is_open and bool(matches) and not amount.unit and _is_whole_clause(tokens, start, end)
        is_clause = is_clause and not is_article and (not has_moments or not any(map(str.isdigit, words)))
        is_counted = is_place or (is_subject and not is_article) or is_clause
        begin, stop = tokens.position(start, end)
        others += not is_counted and not is_article and all(stop <= item.start or item.end <= begin for item in matches)
        is_owned = language.is_in("possessives", tokens.text[:start].rstrip().rpartition(" ")[2])  # "My 2 kids love it"
        if is_counted and not is_owned and not _is_limited(tokens, start, end, language):
            values.append(_Found(begin, stop, spec.name, take_amount(spec, amount, tables), 5))
            counts_some = amount.unit in (PERSON, CHILD)  # "4 adults, 1 under 5"
    has_value = len(values) == 1 and not (others and counts_some) and not tells_of_other_number(tokens, language)
    if has_value and (values[0].reading.has_value or values[0].reading.reason is Reason.OUT_OF_BOUNDS):
        yield values[0]


def _is_subject(noun: str, situation: ReadingSituation, language: Language) -> bool:
    """True for a noun of the form's title or options."""
    terms = {*stem_words(noun, language), *stem_words(fold_digraphs(noun), language)}
    return len(noun) > 2 and noun.isalpha() and not terms.isdisjoint(situation.subject_terms)


def _is_whole_clause(tokens: TokenText, start: int, end: int) -> bool:
    """True between two signs, or a sign and an end."""
    first = tokens.offsets.index(start)
    is_begun = first == 0 or _ends_clause(tokens, start)
    return is_begun and (end >= len(tokens.text) or _ends_clause(tokens, end))


def _sums_up(tokens: TokenText, start: int, spec: FieldSpec, situation: ReadingSituation, language: Language) -> bool:
    """True for the bare number at the end behind a word that sums up."""
    is_led = language.totals.match_end(tokens.text, start) > 0
    if not is_led or language.before_persons.match_end(tokens.text, start):
        return False
    amount = match_amount(tokens.text, start, get_tables(language), situation.locale, spec)
    return amount is not None and not amount.unit and not amount.currencies and amount.end >= len(tokens.text)


def _counts_persons(tokens: TokenText, start: int, amount: Amount, language: Language) -> bool:
    """True for "4 of us", and "a table for two tonight": a bare number after words that people come before."""
    end = amount.end
    following = tokens.text[end:].split(" ", 1)[0]
    if tokens.text[start].isdigit() and following in (language.slots["month"].values or {}):
        return False  # "A table for 7 December"
    if language.after_persons.match_end(tokens.text, end):
        return True
    begin = tokens.offsets.index(start)
    while begin and language.is_in("number_particles", tokens.tokens[begin - 1].text):
        begin -= 1  # "Wir sind doch 3"
    is_led = language.before_persons.match_end(tokens.text, tokens.offsets[begin]) > 0
    is_group = language.before_persons.match_start(tokens.text, start) > 0  # "zu viert"
    return (is_led or is_group) and _stands_alone(tokens, end, language)


def _says_age(tokens: TokenText, start: int, amount: Amount, language: Language) -> bool:
    """True for "I'm 42" and "my daughter is 8": a bare number after words that an age comes behind."""
    return language.before_age.match_end(tokens.text, start) > 0 and _stands_alone(tokens, amount.end, language)


def _follows_own_word(tokens: TokenText, start: int, spec: FieldSpec) -> bool:
    """True for "skipper 40" where "Age of the skipper" is asked for."""
    word = tokens.text[:start].rstrip().rpartition(" ")[2]
    return len(word) >= _MIN_OWN_WORD and word in spec.words and not _ends_clause(tokens, start)


def _stands_alone(tokens: TokenText, end: int, language: Language) -> bool:
    """True when the number that ends here counts nothing that follows: "for two tonight", "I'm 42 and …"."""
    if end >= len(tokens.text) or _ends_clause(tokens, end):
        return True
    following = tokens.text[end:].split(" ", 1)[0]
    if following.isdigit():
        return False
    begins = following in language.calendar_starts or language.before_time.match_start(tokens.text, end) > 0
    return begins or language.is_in("denial_stops", following)


def _find_durations(
    spec: FieldSpec, text: str, tokens: TokenText, situation: ReadingSituation, language: Language
) -> Iterator[_Found]:
    position = 0
    for start in tokens.offsets:
        if start < position or _is_glued(text, tokens, start):
            continue
        matches = [
            match
            for match in match_durations(tokens.text, start, language)
            if not tokens.text[: match[0] - 1].endswith(_DIGITS) or _is_one_clause(tokens, start, match[0])
        ]
        if not matches:
            continue
        position, parts = max(matches, key=lambda match: match[0])
        following = tokens.text[position:].split(" ", 1)[0]
        before = tokens.text[:start].split(" ")[-2:-1]
        is_led = any(language.is_in("before_duration_in_sentence", word) for word in (*before, following) if word)
        if not is_led and not _is_own_clause(tokens, start, position, language):
            continue  # "Give me 5 minutes"
        if following in language.distances or tokens.text[:position].split(" ")[-2] in language.ambiguous:
            continue  # "Two weeks ago", "a second opinion"
        if _asks_question(tokens, language):
            continue  # "What kind of a day"
        if not _is_limited(tokens, start, position, language) and not _is_other_subject(tokens, start, language):
            yield _Found(*tokens.position(start, position), spec.name, take_duration(spec, parts), 5)


def _is_own_clause(tokens: TokenText, start: int, end: int, language: Language) -> bool:
    """True for words between two signs, such as the last of "half a day, so 4 hours"."""
    index = tokens.offsets.index(start)
    while index and (
        language.is_in("conclusions", tokens.tokens[index - 1].text)
        or language.is_in("fillers", tokens.tokens[index - 1].text)
    ):
        index -= 1
    is_begun = index > 0 and tokens.tokens[index].start - tokens.tokens[index - 1].end > 1
    return is_begun and (end >= len(tokens.text) or _ends_clause(tokens, end))


_Finder = Callable[[FieldSpec, str, TokenText, ReadingSituation, Language], Iterator[_Found]]
_FINDERS: Mapping[Kind, _Finder] = {
    Kind.DATE: _find_moments,
    Kind.TIME: _find_moments,
    Kind.DATE_TIME: _find_moments,
    Kind.DURATION: _find_durations,
    Kind.NUMBER: _find_numbers,
    Kind.MONEY: _find_amounts,
    Kind.CHOICE: _find_choices,
    Kind.EMAIL: _find_emails,
    Kind.PHONE: _find_phones,
    Kind.POSTCODE: _find_postcodes,
    Kind.IBAN: _find_ibans,
    Kind.PATTERN: _find_patterns,
}
