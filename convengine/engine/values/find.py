"""Find the values of typed fields inside a longer sentence (R114).

"Can I come tomorrow at 3pm for a check-up, my number is 020 7946 0018": a day, a time, a choice, a phone number.
What may be something else is left out: a bare number is no day, and "at 3" is a time only at the end of a clause.
"""

import re
import unicodedata
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

from convengine.engine.values.choices import find_named_options
from convengine.engine.values.contacts import (
    check_email,
    find_country,
    find_emails,
    find_ibans,
    find_phones,
    find_postcodes,
)
from convengine.engine.values.field_spec import FieldSpec, Kind
from convengine.engine.values.find_moments import (
    OF_RANGE,
    cut_time,
    find_days_of_range,
    find_durations,
    find_moments,
    get_phrases,
    take_length,
)
from convengine.engine.values.find_numbers import (
    OF_OPTION,
    find_amounts,
    find_counted_options,
    find_numbers,
    find_other_nouns,
    find_people,
)
from convengine.engine.values.language import Language, get_language
from convengine.engine.values.numbers import (
    get_ordinal,
    get_place_words,
    get_tables,
    list_counted_words,
    match_amount,
    names_ordinal,
    take_amount,
    take_ordinal,
)
from convengine.engine.values.option_lengths import find_option_lengths
from convengine.engine.values.plain import find_pattern_words
from convengine.engine.values.read import list_situations
from convengine.engine.values.reading import Reading, ReadingSituation, Reason
from convengine.engine.values.surroundings import FoundReading, asks_question, ends_clause, is_limited, stands_alone
from convengine.engine.values.time_ranges import find_time_range
from convengine.engine.values.tokens import TokenText

Json = Any
#: Values are looked for in the first characters of a message.
MAX_LENGTH = 600
_LENGTHS = (Kind.DURATION, Kind.CHOICE)
#: The town behind a post code: "Gartenweg 7, 80331 München".
_TOWN = re.compile(r" [^\W\d_a-z][^\W\d_]{2,}")


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


def find_values(specs: Sequence[FieldSpec], text: str, situation: ReadingSituation) -> list[ValueSpan]:
    """The values of typed fields in a sentence, in its order and without overlap.

    Positions count in the text in Unicode form NFC. A field may occur twice ("Friday … no, Saturday"): the caller
    decides which one counts. Free text and yes or no are never found.
    """
    composed = unicodedata.normalize("NFC", text)[:MAX_LENGTH]
    matches: list[FoundReading] = []
    for local in list_situations(situation):
        language = get_language(local.locale)
        times = find_time_range(specs, composed, language)
        tokens = language.read_tokens(times.text if times else composed)
        if not tokens.tokens:
            return []  # "-" and "…" have no words.
        matches += find_days_of_range(specs, composed, tokens, local, language)
        for spec in specs:
            if finder := _FINDERS.get(spec.kind):
                matches += finder(spec, composed, tokens, local, language)
        matches += find_counted_options(specs, tokens, local, language, matches)
        matches += find_people(specs, tokens, language)
        matches += find_other_nouns(specs, tokens, local, language, matches)
        if times and matches:
            matches = [cut_time(item, times) for item in matches]
            matches += take_length(times, language)
        if matches:
            break
    matches = list(_drop_lengths(matches, specs))
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
            size = get_phrases(language, name).match_end(tokens.text, end) if tokens.tokens else 0
            word = tokens.text[: end - size].rpartition(" ")[0].rpartition(" ")[2] if size else ""
            if any(part in language.words["copulas"] for part in (word, word[word.find("'") :])):
                return 0  # "Friday, my wedding is the day after"
            if size and len(find_values([spec], composed[: tokens.position(end - size, end)[0]], situation)) == 1:
                return days
    return 0


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
        if not size and offset and ends_clause(tokens, offset):
            size = get_phrases(language, "leading_no").match_start(tokens.text, offset)  # "The 1st, no, the 3rd"
        if offset < position or not size:
            continue
        position = offset + size
        if ordinal := _match_replacing_ordinal(spec, tokens, position, language):
            yield *tokens.position(offset, ordinal[0]), ordinal[1]
            continue
        amount = match_amount(tokens.text, position, tables, situation.locale, spec)
        if amount is None or amount.unit or amount.currencies:
            continue
        if stands_alone(tokens, amount.end, language) or language.after.match_start(tokens.text, amount.end):
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
    return (end, take_ordinal(spec, match, language)) if stands_alone(tokens, end, language) else None


def _drop_lengths(matches: Sequence[FoundReading], specs: Sequence[FieldSpec]) -> Iterator[FoundReading]:
    """The values without the time "1h" where a field takes it as a length and another time is named: "6pm, 1h"."""
    times = {spec.name for spec in specs if spec.kind is Kind.TIME}
    lengths = {
        (item.start, item.end)
        for item in matches
        if item.name not in times and any(spec.name == item.name and spec.kind in _LENGTHS for spec in specs)
    }
    for item in matches:
        has_other = any(other.name == item.name and other.end <= item.start for other in matches)
        is_length = any(item.start <= start and item.end == end for start, end in lengths)  # "For 2h"
        if not (item.name in times and is_length and has_other):
            yield item


def _choose_spans(matches: list[FoundReading], specs: Sequence[FieldSpec]) -> list[ValueSpan]:
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
            if item.priority == OF_RANGE:
                settled.add((item.start, item.end))
    return [ValueSpan(*span) for span in sorted(chosen, key=lambda span: span[0])]


# --- the other kinds ----------------------------------------------------------------------------------------------


def _find_emails(
    spec: FieldSpec, text: str, tokens: TokenText, situation: ReadingSituation, language: Language
) -> Iterator[FoundReading]:
    for start, end in find_emails(text):
        if (reading := check_email(text[start:end])).has_value:
            yield FoundReading(start, end, spec.name, reading, 0)


def _find_ibans(
    spec: FieldSpec, text: str, tokens: TokenText, situation: ReadingSituation, language: Language
) -> Iterator[FoundReading]:
    for start, end, reading in find_ibans(text):
        if reading.has_value or reading.reason is Reason.WRONG_CHECK_DIGITS:
            yield FoundReading(start, end, spec.name, reading, 0)


def _find_phones(
    spec: FieldSpec, text: str, tokens: TokenText, situation: ReadingSituation, language: Language
) -> Iterator[FoundReading]:
    for start, end, reading in find_phones(text, find_country(spec, situation)):
        digits = sum(char.isdigit() for char in text[start:end])
        # Without a country any row of digits would be one.
        if digits >= 7 and (str(reading.value).startswith("+") or digits >= 10):
            yield FoundReading(start, end, spec.name, reading, 3)


def _find_postcodes(
    spec: FieldSpec, text: str, tokens: TokenText, situation: ReadingSituation, language: Language
) -> Iterator[FoundReading]:
    names = _get_postcode_names(language)
    for start, end, reading in find_postcodes(text, find_country(spec, situation)):
        has_letters = any(char.isalpha() for char in str(reading.value))
        before = text[:start].lower().rstrip(" :=").removesuffix(" is").removesuffix(" ist").rstrip()
        is_before_town = _TOWN.match(text, end) is not None and text[:start].rstrip().endswith(",")
        if has_letters or is_before_town or before.endswith(names):
            yield FoundReading(start, end, spec.name, reading, 4)


@lru_cache(maxsize=16)
def _get_postcode_names(language: Language) -> tuple[str, ...]:
    return tuple(language.words["postcode_names"])


def _find_patterns(
    spec: FieldSpec, text: str, tokens: TokenText, situation: ReadingSituation, language: Language
) -> Iterator[FoundReading]:
    for start, end, reading in find_pattern_words(spec, text):
        yield FoundReading(start, end, spec.name, reading, 1)


def _find_choices(
    spec: FieldSpec, text: str, tokens: TokenText, situation: ReadingSituation, language: Language
) -> Iterator[FoundReading]:
    if asks_question(tokens, language):
        return  # "How big is the hall"
    lengths = list(find_option_lengths(spec, text, tokens, language))
    named = [
        item
        for item in find_named_options(spec, tokens, language)
        if all(item[1] <= start or end <= item[0] for start, end, _ in lengths)  # "Two hours" is no "hour".
    ]
    for start, end, reading in (*named, *lengths):
        is_measured = any(stop == start for _, stop, _ in lengths)  # "90 min Rückenmassage" has no minimum.
        if reading.has_value and (is_measured or not is_limited(tokens, start, end, language)):
            yield FoundReading(*tokens.position(start, end), spec.name, reading, OF_OPTION)


_Finder = Callable[[FieldSpec, str, TokenText, ReadingSituation, Language], Iterable[FoundReading]]
_FINDERS: Mapping[Kind, _Finder] = {
    Kind.DATE: find_moments,
    Kind.TIME: find_moments,
    Kind.DATE_TIME: find_moments,
    Kind.DURATION: find_durations,
    Kind.NUMBER: find_numbers,
    Kind.MONEY: find_amounts,
    Kind.CHOICE: _find_choices,
    Kind.EMAIL: _find_emails,
    Kind.PHONE: _find_phones,
    Kind.POSTCODE: _find_postcodes,
    Kind.IBAN: _find_ibans,
    Kind.PATTERN: _find_patterns,
}
