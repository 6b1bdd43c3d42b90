"""Find numbers and people who are counted inside a longer sentence (R114)."""

from collections.abc import Iterator, Sequence
from dataclasses import replace
from decimal import Decimal
from itertools import pairwise
from typing import Any

from convengine.engine.values.durations import read_length
from convengine.engine.values.field_spec import FieldSpec, Kind
from convengine.engine.values.headcounts import CHILD, PERSON, PLACES, counts_groups, counts_people, find_headcounts
from convengine.engine.values.language import Language
from convengine.engine.values.lone_numbers import is_coming_age, tells_of_other_number
from convengine.engine.values.numbers import (
    PIECE,
    Amount,
    asks_for_limit,
    counts_any_noun,
    counts_anything,
    counts_time,
    find_amount_starts,
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
from convengine.engine.values.reading import NOTHING, Outcome, ReadingSituation, Reason
from convengine.engine.values.surroundings import (
    FoundReading,
    ends_clause,
    is_glued,
    is_limited,
    is_subject,
    stands_alone,
    starts_value,
)
from convengine.engine.values.tokens import TokenText

Json = Any
#: Shortest word of a field's name that may stand before its number.
_MIN_OWN_WORD = 5
#: The priority of options.
OF_OPTION = 6
#: The priority of people who are counted in parts.
_OF_PEOPLE = 0
#: The unit of ages.
_YEAR = "year"


def find_amounts(
    spec: FieldSpec, text: str, tokens: TokenText, situation: ReadingSituation, language: Language
) -> Iterator[FoundReading]:
    """Sums with a currency, and numbers with the field's own unit. A bare number may count anything."""
    tables = get_tables(language)
    own = list_field_units(spec, tables)
    position = 0
    amounts: list[FoundReading] = []
    starts = list(find_amount_starts(tokens, tables, spec))
    lengths = [start for start in tokens.offsets if read_length(spec, tokens.text, start, language)]
    for start in sorted({*starts, *lengths}):
        if start < position or is_glued(text, tokens, start):
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
            or (_follows_own_word(tokens, start, spec) and stands_alone(tokens, amount.end, language))
        )
        has_limit = not asks_for_limit(spec.words) and is_limited(tokens, start, amount.end, language)
        if not (is_own or counts) or has_limit:
            continue
        reading = take_amount(spec, amount, tables)
        if reading.outcome is not Outcome.REFUSED or reading.reason is Reason.OUT_OF_BOUNDS:
            # "For two" is no time of day.
            amounts.append(FoundReading(*tokens.position(start, amount.end), spec.name, reading, 1 if counts else 5))
    if _YEAR in own and len(starts) > 1:  # "17, about to turn 18"
        starts_of_ages = {token.start: offset for token, offset in zip(tokens.tokens, tokens.offsets, strict=True)}
        amounts = [item for item in amounts if not is_coming_age(tokens, starts_of_ages[item.start], language)]
    # Of "two adults and a child, so 3", the sum counts and not its parts.
    if starts and _sums_up(tokens, starts[-1], spec, situation, language):
        total = _find_total(spec, tokens, starts[-1], situation, language)
        amounts = [total] if total else []
    yield from amounts


def find_numbers(
    spec: FieldSpec, text: str, tokens: TokenText, situation: ReadingSituation, language: Language
) -> Iterator[FoundReading]:
    yield from find_amounts(spec, text, tokens, situation, language)
    yield from _find_ordinals(spec, text, tokens, language)


def _find_ordinals(spec: FieldSpec, text: str, tokens: TokenText, language: Language) -> Iterator[FoundReading]:
    """The ordinal before a noun of the field, "im 2. Stock", unless the field counts or the clause has two of them."""
    if list_counted_words(spec, language):
        return
    matches = ((start, get_ordinal(language).match(tokens.text, start)) for start in tokens.offsets)
    ordinals = [(start, match) for start, match in matches if match]
    for start, match in ordinals:
        noun = tokens.text[match.end() :].split(" ", 1)[0]
        if not noun or not names_ordinal(noun, spec, language) or is_glued(text, tokens, start):
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
        has_limit = is_limited(tokens, begin, end, language) or _is_other_place(tokens, begin, language)
        reading = take_ordinal(spec, match, language)
        if not (is_one_of_two or has_limit) and (reading.has_value or reading.reason is Reason.OUT_OF_BOUNDS):
            yield FoundReading(*tokens.position(start, end), spec.name, reading, 5)


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
    return [tokens.offsets[index - 2]] if is_joined and starts_value(tokens.tokens[index - 2].text, language) else []


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
) -> FoundReading | None:
    """The number that ends "the baby and me, so 2", for a field that counts."""
    if spec.kind is not Kind.NUMBER or not list_counted_words(spec, language):
        return None
    before = tokens.text[:start].split(" ")
    if not any(language.is_in("conjunctions", word) and not language.is_in("alternatives", word) for word in before):
        return None  # "So 2" sums up nothing.
    amount = match_amount(tokens.text, start, get_tables(language), situation.locale, spec)
    reading = take_amount(spec, amount, get_tables(language)) if amount else NOTHING
    return FoundReading(*tokens.position(start, len(tokens.text)), spec.name, reading, 1) if reading.has_value else None


def find_counted_options(
    specs: Sequence[FieldSpec],
    tokens: TokenText,
    situation: ReadingSituation,
    language: Language,
    matches: Sequence[FoundReading],
) -> Iterator[FoundReading]:
    """The number before an option, "zwei Katzen", for the only number field that asks how many.

    Two cats are no two visits or nights.
    """
    counting = [spec for spec in specs if spec.kind is Kind.NUMBER and list_counted_words(spec, language)]
    starts = {item.start for item in matches if item.priority == OF_OPTION}
    tables = get_tables(language)
    if len(counting) != 1 or not starts or counting[0].counts_occasions or counts_time(counting[0], tables):
        return
    for offset in find_amount_starts(tokens, tables, counting[0]):
        amount = match_amount(tokens.text, offset, tables, situation.locale, counting[0])
        index = tokens.offsets.index(amount.end) if amount and amount.end < len(tokens.text) else None
        if amount and index is not None and not amount.unit and tokens.tokens[index].start in starts:
            reading = take_amount(counting[0], amount, tables)
            is_article = amount.values == (Decimal(1),) and not tokens.text[offset].isdigit()
            if reading.has_value and not is_article:
                yield FoundReading(*tokens.position(offset, amount.end), counting[0].name, reading, 5)


def find_people(specs: Sequence[FieldSpec], tokens: TokenText, language: Language) -> Iterator[FoundReading]:
    """The number of people in "2 adults and a child", unless the form counts one of these groups on its own."""
    tables = get_tables(language)
    numbers = [spec for spec in specs if spec.kind is Kind.NUMBER]
    units = {spec.name: list_field_units(spec, tables) for spec in numbers}
    own = [spec for spec in numbers if counts_people(spec, units[spec.name], language)]
    own = [spec for spec in own if PERSON in units[spec.name]] or own
    if any(spec not in own and not units[spec.name].isdisjoint((PERSON, CHILD)) for spec in numbers):
        return
    for start, end, count in find_headcounts(tokens, language) if own else ():
        if not is_limited(tokens, start, end, language):
            for spec in own:
                reading = take_amount(spec, Amount((Decimal(count),), end), tables)
                yield FoundReading(*tokens.position(start, end), spec.name, reading, _OF_PEOPLE)


def find_other_nouns(
    specs: Sequence[FieldSpec],
    tokens: TokenText,
    situation: ReadingSituation,
    language: Language,
    matches: Sequence[FoundReading],
) -> Iterator[FoundReading]:
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
    values: list[FoundReading] = []
    end, others, counts_some = 0, 0, False
    for start in find_amount_starts(tokens, tables, spec):
        amount = match_amount(tokens.text, start, tables, situation.locale, spec) if start >= end else None
        if amount is None or amount.currencies:
            continue
        end = amount.end
        words = tokens.text[start:end].split()
        is_article = amount.values == (Decimal(1),) and len(words) == 1 and not words[0].isdigit()
        noun = tokens.text[end:].split(" ", 1)[0]
        is_place = not PLACES.isdisjoint(units) and amount.unit in (PERSON, CHILD, *PLACES)
        counts_subject = is_open and not amount.unit and is_subject(noun, situation, language)
        is_clause = is_open and bool(matches) and not amount.unit and _is_whole_clause(tokens, start, end)
        is_clause = is_clause and not is_article and (not has_moments or not any(map(str.isdigit, words)))
        is_counted = is_place or (counts_subject and not is_article) or is_clause
        begin, stop = tokens.position(start, end)
        others += not is_counted and not is_article and all(stop <= item.start or item.end <= begin for item in matches)
        is_owned = language.is_in("possessives", tokens.text[:start].rstrip().rpartition(" ")[2])  # "My 2 kids love it"
        if is_counted and not is_owned and not is_limited(tokens, start, end, language):
            values.append(FoundReading(begin, stop, spec.name, take_amount(spec, amount, tables), 5))
            counts_some = amount.unit in (PERSON, CHILD)  # "4 adults, 1 under 5"
    has_value = len(values) == 1 and not (others and counts_some) and not tells_of_other_number(tokens, language)
    if has_value and (values[0].reading.has_value or values[0].reading.reason is Reason.OUT_OF_BOUNDS):
        yield values[0]


def _is_whole_clause(tokens: TokenText, start: int, end: int) -> bool:
    """True between two signs, or a sign and an end."""
    first = tokens.offsets.index(start)
    is_begun = first == 0 or ends_clause(tokens, start)
    return is_begun and (end >= len(tokens.text) or ends_clause(tokens, end))


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
    return (is_led or is_group) and stands_alone(tokens, end, language)


def _says_age(tokens: TokenText, start: int, amount: Amount, language: Language) -> bool:
    """True for "I'm 42" and "my daughter is 8": a bare number after words that an age comes behind."""
    return language.before_age.match_end(tokens.text, start) > 0 and stands_alone(tokens, amount.end, language)


def _follows_own_word(tokens: TokenText, start: int, spec: FieldSpec) -> bool:
    """True for "skipper 40" where "Age of the skipper" is asked for."""
    word = tokens.text[:start].rstrip().rpartition(" ")[2]
    return len(word) >= _MIN_OWN_WORD and word in spec.words and not ends_clause(tokens, start)
