"""Numbers and sums of money as people say them: "twelve", "a dozen", "1.5k", "1.200,50 €" (R114)."""

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from decimal import Decimal
from functools import lru_cache
from itertools import pairwise
from typing import Any

from convengine.engine.text.words import Words
from convengine.engine.values.choices import stem_words
from convengine.engine.values.field_spec import FieldSpec, Kind
from convengine.engine.values.headcounts import CHILD, PERSON, PLACES, count_only_part, counts_people, find_headcounts
from convengine.engine.values.language import (
    Language,
    PhraseSet,
    get_countries,
    get_country,
    get_language,
    list_languages,
)
from convengine.engine.values.occasions import get_occasion_tables, match_occasions, match_period
from convengine.engine.values.reading import NOTHING, Reading, ReadingSituation, Reason, accept, offer, refuse
from convengine.engine.values.templates import fold_keys
from convengine.engine.values.times import find_clock_end
from convengine.engine.values.tokens import TokenText, fold_text

Json = Any
#: Shortest word that is read as a number word with a typing error.
_SHORTEST_MISSPELLED = 4
#: Longest number in tokens, and in digits.
_MAX_WORDS = 12
#: Longest short form of a noun: "OG".
_SHORT_NOUN = 2
_MAX_DIGITS = 15
#: How many words may stand between a number and what it counts: "3 very large parcels".
_MAX_ADJECTIVES = 2
#: Words that may follow any number of things or people.
ALL_COUNTERS = "all"
#: The least number that says which, and not how many.
_LEAST_LONG = 1000
#: Shorter words are not looked for at the end of longer ones.
_MIN_JOINED = 3
#: The unit of ages.
_YEAR = "year"
_TIME_UNITS = ("minute", "hour", "day", "night", "week", "month", _YEAR)
#: The counter of things of any sort.
PIECE = "piece"
_DIGITS = re.compile(
    r"(?:\d{1,3}(?: (?P<group>[.,]) \d{3}(?!\d))+|\d{1,3}(?: \d{3}(?!\d))+|\d+) (?:(?P<point>[.,]) (?P<fraction>\d+) )?"
)
#: Digits in a sentence that count nothing.
_CODE = re.compile(r"0\d|\d{7}")
#: How tokens write ä, ö and ü; the words of fields have a, o and u.
_DIGRAPH = re.compile(r"(?<![aeqou])([aou])e")
#: "1/2", alone and behind a whole number.
_PART = re.compile(r"([1-9]) / ([2-9]) (?![/.\d])")
_ONE_SEPARATOR = re.compile(r"([1-9]\d{0,2}) ([.,]) (\d{3}) ")


@dataclass(frozen=True)
class Amount:
    """A number in a token text. Several values where a separator has two meanings: 1.200."""

    values: tuple[Decimal, ...]
    end: int
    #: The currencies of its sign; empty for none.
    currencies: tuple[str, ...] = ()
    #: The unit after it, for example `week`; blank for none.
    unit: str = ""
    #: A word of the field's name or question follows the number: "4 tickets".
    has_field_word: bool = False
    #: The end of that word behind other words: "4 cheap tickets". Null if nothing stands between.
    noun_end: int | None = None


class NumberTables:
    """The words of one language around numbers."""

    def __init__(self, language: Language) -> None:
        numbers = language.numbers
        self.language = language
        self.amounts = {**language.number_words, **fold_keys(numbers["amounts"])}
        #: Numbers that are all of an answer, and no numbers in a sentence: "single".
        self.lone_amounts = fold_keys(numbers["lone_amounts"])
        self.amount_phrases = PhraseSet(self.amounts)
        self.times = fold_keys(numbers["times"])
        self.units = fold_keys({word: unit for unit, words in numbers["units"].items() for word in words})
        self.counters = fold_keys({word: group for group, words in numbers["counters"].items() for word in words})
        self.counter_words = PhraseSet(self.counters)
        self.cents = PhraseSet(numbers["cents"]["words"])
        self.indefinite_articles = frozenset(fold_text(word) for word in numbers["articles"])
        self.before_totals = PhraseSet(numbers["before_totals"])
        self.not_sums = PhraseSet(numbers["fields"]["not_before_sums"])
        self.minus = PhraseSet([*numbers["minus"], "-"])
        self.alone = PhraseSet(numbers["companions"]["alone"])
        self.no_counts = PhraseSet(numbers["no_counts"])
        self.currencies = _list_currencies(numbers["currencies"])
        self.currency_words = PhraseSet(self.currencies)
        self.unit_words = PhraseSet(self.units)

    def may_describe(self, word: str) -> bool:
        """True for a word that may stand between a number and what it counts."""
        language = self.language
        is_calendar = word in (language.slots["weekday"].values or {}) or word in (language.slots["month"].values or {})
        known = word in self.amounts or word in self.units or word in self.counters or word in self.currencies
        return word.isalpha() and len(word) > 2 and not (known or is_calendar or language.is_in("fillers", word))


@lru_cache(maxsize=16)
def get_tables(language: Language) -> NumberTables:
    return NumberTables(language)


def _list_currencies(table: Mapping[str, list[str]]) -> dict[str, tuple[str, ...]]:
    """The currencies that a word may mean: a dollar is one of several."""
    codes: dict[str, tuple[str, ...]] = {}
    for code, words in table.items():
        for word in fold_keys(dict.fromkeys(words, code)):
            codes[word] = (*codes.get(word, ()), code)
    return codes


def read_amount(spec: FieldSpec, tokens: TokenText, situation: ReadingSituation, language: Language) -> Reading:
    """Read a whole answer for a field of kind number or money."""
    tables = get_tables(language)
    if (people := find_only_headcount(spec, tokens, language, is_answer=situation.is_asked)) is not None:
        start, end, count = people
        around = (*tokens.text[:start].split(), *tokens.text[end:].split())
        is_denied = any(language.is_in("denials", word) for word in around)
        if not is_denied and all(word in _list_lead_words(language) for word in around):
            return take_amount(spec, Amount((Decimal(count),), end), tables)
    for start, end in dict.fromkeys([(0, len(tokens.text)), language.strip_fillers(tokens)]):
        if spec.kind is Kind.NUMBER and _is_ground_floor(spec, tokens.text[start:end], language):
            return take_amount(spec, Amount((Decimal(0),), end), tables)
        lone = tables.lone_amounts.get(tokens.text[start:end].strip())
        if lone and not _counts_companions(spec, language):
            return take_amount(spec, Amount((Decimal(lone),), end), tables)
        begin = start + language.before_time.match_start(tokens.text, start)
        begin += tables.before_totals.match_start(tokens.text, begin)
        limit = start + (_get_limits(language).match_start(tokens.text, start) if asks_for_limit(spec.words) else 0)
        for first in {start: 0, begin: 0, limit: 0}:
            text = tokens.text[:end]
            amount = match_amount(text, first, tables, situation.locale, spec)
            if amount and (text[amount.end :] in ("", ". ") or amount.noun_end == len(text)):
                is_piece = amount.unit == PIECE and spec.kind is Kind.NUMBER
                if situation.is_asked and is_piece and list_field_units(spec, tables) <= {*tables.counters.values()}:
                    amount = replace(amount, unit="")  # "30 Stück" counts whatever the question counts.
                return NOTHING if _is_no_sum(spec, amount, text[:first], tables) else take_amount(spec, amount, tables)
    if situation.is_asked and _counts_all(spec, language) and (only := count_only_part(tokens, language)):
        return take_amount(spec, Amount((Decimal(only),), len(tokens.text)), tables)
    if situation.is_asked and (corrected := _correct_number_words(spec, tokens, language)) is not None:
        return read_amount(spec, corrected, situation, language)
    return NOTHING


def _correct_number_words(spec: FieldSpec, tokens: TokenText, language: Language) -> TokenText | None:
    """The tokens with "thre" and "fünff" as number words; null if none of them is one with a typing error.

    A letter is missing, doubled, or has changed places with its neighbour. Words of the tables and of the field stay.
    """
    known = {*language.list_table_words(), *spec.words, *spec.question}
    words = [token.text if token.text in known else _find_number_word(token.text, language) for token in tokens.tokens]
    corrected = [replace(token, text=word) for token, word in zip(tokens.tokens, words, strict=True)]
    return TokenText(corrected) if corrected != tokens.tokens else None


@lru_cache(maxsize=4096)
def _find_number_word(word: str, language: Language) -> str:
    """The only number word that a word is, but for a typing error; else the word."""
    if len(word) < _SHORTEST_MISSPELLED or not word.isalpha() or word in language.number_words:
        return word
    if language.is_in("no_number_words", word):
        return word
    alike = [number for number in language.number_words if _is_misspelled(word, number)]
    return alike[0] if len({language.number_words[number] for number in alike}) == 1 else word


def _is_misspelled(word: str, number: str) -> bool:
    longer, shorter = (word, number) if len(word) > len(number) else (number, word)
    if word[0] != number[0] or word == number or len(longer) - len(shorter) > 1:
        return False
    if len(longer) == len(shorter):
        swaps = (word[:at] + word[at + 1] + word[at] + word[at + 2 :] for at in range(1, len(word) - 1))
        return number in swaps
    places = [at for at in range(1, len(longer)) if longer[:at] + longer[at + 1 :] == shorter]
    return any(longer is number or longer[at] == longer[at - 1] for at in places)


def find_only_count(spec: FieldSpec, text: str, situation: ReadingSituation) -> Reading:
    """The only number of a short text, if small words lead to it, and a sign or one thing in lower case follows it.

    Of several numbers, the last one counts behind a word that sums them up: "two adults and a child, so 3".
    """
    language = get_language(situation.locale)
    text = text.rstrip(" .!")
    tables, tokens = get_tables(language), language.read_tokens(text)
    starts = list(find_amount_starts(tokens, tables, spec))
    is_settled = len(starts) > 1 and _get_settling_words(language).match_end(tokens.text, starts[-1]) > 0
    is_sum = is_settled or (bool(starts) and language.totals.match_end(tokens.text, starts[-1]) > 0)
    start = starts[-1] if is_sum else starts[0] if starts else 0
    amount = match_amount(tokens.text, start, tables, situation.locale, spec) if starts else None
    own = list_field_units(spec, tables)
    if people := find_only_headcount(spec, tokens, language):
        is_denied = any(language.is_in("denials", token.text) for token in tokens.tokens)
        return NOTHING if is_denied else take_amount(spec, Amount((Decimal(people[2]),), people[1]), tables)
    if amount is None or (amount.unit and amount.unit not in own) or amount.currencies:
        return NOTHING
    words = [token.text for token in tokens.tokens]
    if _is_pronoun(tokens, start, amount, language) or _tells_of_past(spec, tokens, language):
        return NOTHING
    if any(_is_plain_number(tokens.text[other:].split(" ", 1)[0], language) for other in starts if other >= amount.end):
        return NOTHING  # "I'm 42 myself" has one number.
    index = tokens.offsets.index(start)
    last = [*tokens.offsets, len(tokens.text)].index(amount.end)
    if _is_long(to_json(amount.values[0])) and len(starts) == 1 and is_allowed(spec, to_json(amount.values[0])):
        others = (*words[:index], *words[last:])
        is_denied = any(language.is_in(table, word) for word in others for table in ("denials", "other_subject"))
        is_stated = bool(index) and language.is_in("before_stated_numbers", words[index - 1])
        is_only = _is_long(spec.minimum) and all(_is_beside_number(word, spec, language) for word in others)
        if not is_denied and not words[index].startswith("0") and (is_stated or is_only):
            return take_amount(spec, amount, tables)  # "The slip says 48213"
    question_stems = {stem for word in spec.question for stem in stem_words(word, language)}
    is_led = is_sum or all(
        word in _list_lead_words(language) or not question_stems.isdisjoint(stem_words(word, language))
        for word in words[:index]
    )
    denies = any(language.is_in("denials", word) for word in (*words[:index], *words[last:]))
    if index and _CODE.match(words[index]):
        return NOTHING  # "Call me on 07700900123"
    if index and last == len(words) and _has_sign(text, tokens, index) and len(words) <= _MAX_WORDS and not denies:
        return take_amount(spec, amount, tables)  # "We'll bring friends, 6"
    if not is_led or len(words) > _MAX_WORDS or denies:
        return NOTHING
    behind = tokens.tokens[last:]
    sign = last
    while sign < len(words) and language.is_in("fillers", words[sign]) and not _has_sign(text, tokens, sign):
        sign += 1  # "Two please, me and my sister"
    is_sign = _has_sign(text, tokens, sign) or (sign < len(words) and _begins_another_thought(words[sign], language))
    is_plain = len(behind) <= 1 and all(token.text in _list_lead_words(language) for token in behind)
    is_thing = len(behind) == 1 and text[behind[0].start].islower() and _is_counted(behind[0].text, amount, language)
    # "11 with the conservatory"
    includes = _get_inclusions(language).match_start(tokens.text, amount.end) > 0
    return take_amount(spec, amount, tables) if is_sign or is_plain or is_thing or includes else NOTHING


@lru_cache(maxsize=1024)
def _counts_companions(spec: FieldSpec, language: Language) -> bool:
    """True for a field that counts who comes beside the user, and may count none."""
    words = map(fold_text, language.numbers["companions"]["fields"])
    return spec.kind is Kind.NUMBER and spec.minimum == 0 and not {*spec.words, *spec.question}.isdisjoint(words)


def _is_ground_floor(spec: FieldSpec, text: str, language: Language) -> bool:
    """True for "im Erdgeschoss" where the floor is asked for."""
    floors = language.numbers["floors"]
    if {*spec.words, *spec.question}.isdisjoint(map(fold_text, floors["fields"])):
        return False
    ground, around = PhraseSet(floors["ground"]), PhraseSet([*language.words["fillers"], *floors["around"]])
    start = 0
    while not ground.match_start(text, start) and (size := around.match_start(text, start)):
        start += size
    return 0 < ground.match_start(text, start) == len(text) - start


def _is_pronoun(tokens: TokenText, start: int, amount: Amount, language: Language) -> bool:
    """True for the "one" of "this one" and of "one moment", which counts nothing."""
    before = tokens.text[:start].rstrip().rpartition(" ")[2]
    is_word = amount.values == (Decimal(1),) and tokens.text[start].isalpha()
    waits = PhraseSet(language.words["yes_no"]["waits"])
    return is_word and (language.is_in("before_pronouns", before) or waits.match_start(tokens.text, start) > 0)


def _tells_of_past(spec: FieldSpec, tokens: TokenText, language: Language) -> bool:
    """True for "we had 3 last time" where the question asks how many."""
    phrases = PhraseSet(language.words["past_times"])
    is_told = any(phrases.match_start(tokens.text, offset) for offset in tokens.offsets)
    return is_told and bool(list_counted_words(spec, language))


def find_named_number(spec: FieldSpec, text: str, situation: ReadingSituation) -> Reading:
    """The number of an answer of one word and one number, "yr 9", "Nr. 12"; nothing for words that change a number."""
    language = get_language(situation.locale)
    tokens, tables = language.read_tokens(text.rstrip(" .!")), get_tables(language)
    start, end = language.strip_fillers(tokens)
    words = [word for word in tokens.text[start:end].split() if word != "."]
    if len(words) != 2 or "?" in text or spec.kind is not Kind.NUMBER:
        return NOTHING
    name, number = words
    is_number = number.isdigit() or number in language.number_words
    if not is_number or _CODE.match(number) or not (name in spec.words or _may_name(name, tables)):
        return NOTHING
    amount = match_amount(tokens.text[:end], end - len(number) - 1, tables, situation.locale, spec)
    return take_amount(spec, amount, tables) if amount and amount.end == end else NOTHING


def _may_name(word: str, tables: NumberTables) -> bool:
    """True for a word that may say what a number is of, and not for one that limits, denies or adds to it."""
    language = tables.language
    if not word.isalpha() or word in language.ranges or word in language.calendar_starts or word in tables.amounts:
        return False
    is_unit = word in tables.currencies or (word in tables.units and tables.units[word] != _YEAR)
    listed = (
        "denials",
        "limit_words",
        "amount_changes",
        "additions",
        "other_subject",
        "distances",
        "range_words",
        "conjunctions",
    )
    limits = language.limits_before.phrases | language.denials_after.phrases
    return not is_unit and word not in limits and not any(language.is_in(table, word) for table in listed)


def _is_long(number: Json) -> bool:
    """True for a number that hardly counts anything: a ticket, a customer."""
    return _is_number(number) and number >= _LEAST_LONG


def _is_beside_number(word: str, spec: FieldSpec, language: Language) -> bool:
    """True for a small word, and for one of the field's name."""
    return word in _list_lead_words(language) or language.is_in("stated_number_words", word) or word in spec.words


def find_only_headcount(
    spec: FieldSpec, tokens: TokenText, language: Language, *, is_answer: bool = False
) -> tuple[int, int, int] | None:
    """The only sum of people in a text, "2 adults and a child", for a field that counts people; null for others."""
    if not counts_people(spec, list_field_units(spec, get_tables(language)), language):
        return None
    sums = list(find_headcounts(tokens, language, is_answer=is_answer))
    return sums[0] if len(sums) == 1 else None


def _counts_all(spec: FieldSpec, language: Language) -> bool:
    """True for a field that counts all people, and not those whom the user brings along."""
    return counts_people(spec, list_field_units(spec, get_tables(language)), language) and not _counts_companions(
        spec, language
    )


def find_only_ordinal(spec: FieldSpec, text: str, situation: ReadingSituation) -> Reading:
    """The only ordinal of an answer of small words and words of its question: "sie geht in die 7. Klasse"."""
    language = get_language(situation.locale)
    tokens = language.read_tokens(text)
    words = [token.text for token in tokens.tokens]
    matches = [
        (index, match)
        for index, offset in enumerate(tokens.offsets)
        if (match := get_ordinal(language).match(tokens.text, offset))
    ]
    if len(matches) != 1 or len(words) > _MAX_WORDS or list_counted_words(spec, language):
        return NOTHING  # "The 3rd" is no answer to "How many guests?"
    index, match = matches[0]
    own = _add_same_nouns((*spec.words, *spec.question), language)
    last = index + match.group().count(" ")
    others = (*words[:index], *words[last:])
    is_small = all(
        word in _list_lead_words(language) or word in own or _DIGRAPH.sub(r"\1", word) in own for word in others
    )
    if last < len(words) and language.is_in("not_numbered", words[last]):
        return NOTHING
    is_placed = get_place_words(language).match_end(tokens.text, tokens.offsets[index]) > 0
    is_noun = last == len(words) - 1 and (is_placed or index == 0) and match.group()[0].isdigit()
    if is_noun and get_tables(language).may_describe(words[last]):
        is_small = is_small or all(word in _list_lead_words(language) or word in own for word in words[:index])
    is_small = is_small or (is_placed and last == len(words))  # "Der hängt im 5."
    if not is_small or any(language.is_in("denials", word) for word in others):
        return NOTHING
    return take_ordinal(spec, match, language)


def take_ordinal(spec: FieldSpec, match: re.Match[str], language: Language) -> Reading:
    """What a field takes of an ordinal: 2 of "2." and of "second"."""
    number = match.group().split(" ")[0]
    value = int(number) if number.isdigit() else language.slots["ordinal"].read(f"{number} ")
    return take_amount(spec, Amount((Decimal(value),), match.end()), get_tables(language))


@lru_cache(maxsize=4096)
def names_ordinal(word: str, spec: FieldSpec, language: Language) -> bool:
    """True for a noun of the field's name, and for "floor" of "Which floor are you on?"; not for a unit or a person."""
    tables = get_tables(language)
    asked_nouns = (
        noun for which, noun in pairwise(spec.question) if language.is_in("question_words", fold_text(which))
    )
    own = _add_same_nouns((*spec.words, *asked_nouns), language)
    if own.isdisjoint((word, _DIGRAPH.sub(r"\1", word))) or list_field_units(spec, tables):
        return False
    is_short = word in own and len(word) <= _SHORT_NOUN
    return (is_short or tables.may_describe(word)) and word not in _list_lead_words(language)


def _add_same_nouns(words: Iterable[str], language: Language) -> frozenset[str]:
    """The words, and other nouns for the same: "OG" beside "Stockwerk"."""
    own = frozenset(words)
    groups = (frozenset(map(fold_text, group)) for group in language.words["same_nouns"])
    return own.union(*(group for group in groups if not group.isdisjoint(own)))


@lru_cache(maxsize=16)
def get_place_words(language: Language) -> PhraseSet:
    """The words before the ordinal of a place, and not of a day: "im"."""
    return PhraseSet(language.words["before_place_ordinals"])


@lru_cache(maxsize=16)
def get_ordinal(language: Language) -> re.Pattern[str]:
    return re.compile(language.slots["ordinal"].pattern)


@lru_cache(maxsize=16)
def _list_lead_words(language: Language) -> frozenset[str]:
    """The small words of a sentence that may lead to its only number: "he just turned", "it's for me and I'm"."""
    words = language.words
    names = ("before", "before_name", "corrections", "before_age", "fillers", "conjunctions", "sentence_words")
    return frozenset(word for name in names for phrase in words[name] for word in fold_text(phrase).split(" "))


def _is_plain_number(word: str, language: Language) -> bool:
    return word.isdigit() or word in language.number_words


def _begins_another_thought(word: str, language: Language) -> bool:
    """True for a word behind a number that begins something else: "nine and very lively", "9 last week"."""
    return language.is_in("denial_stops", word) or (word in language.calendar_starts and not word.isdigit())


@lru_cache(maxsize=16)
def _get_limits(language: Language) -> PhraseSet:
    """The words before a limit: "under 80"."""
    return PhraseSet(language.words["limit_words"])


@lru_cache(maxsize=16)
def _get_settling_words(language: Language) -> PhraseSet:
    """The words before the number that is meant of a range: "put", "nehmen Sie"."""
    return PhraseSet(language.words["settling_words"])


@lru_cache(maxsize=16)
def _get_inclusions(language: Language) -> PhraseSet:
    """The words before something that is counted, too: "with the"."""
    return PhraseSet(language.words["inclusions"])


def _has_sign(text: str, tokens: TokenText, index: int) -> bool:
    """True when a comma, a colon or a dash stands before the token at `index`."""
    if not 0 < index < len(tokens.tokens):
        return False
    return text[tokens.tokens[index - 1].end : tokens.tokens[index].start].strip(" ") in (",", "-", "–", ":")


def _is_counted(word: str, amount: Amount, language: Language) -> bool:
    """True for "cockapoos", and after one for "cockapoo"."""
    endings = tuple(language.words["plural_endings"])
    return bool(endings) and word.isalpha() and (word.endswith(endings) or amount.values == (Decimal(1),))


def _is_no_sum(spec: FieldSpec, amount: Amount, before: str, tables: NumberTables) -> bool:
    """True for "3 kids", "I am 42" where a sum is asked for."""
    if not (spec.kind is Kind.MONEY or _is_money_field(spec, tables)) or amount.currencies:
        return False
    return amount.unit in tables.counters.values() or before.strip() in tables.not_sums.phrases


def match_amount(text: str, start: int, tables: NumberTables, locale: str, spec: FieldSpec) -> Amount | None:
    """The number that begins at `start`, with its currency or unit."""
    position = start
    currencies: tuple[str, ...] = ()
    if tables.no_counts.match_start(text, position):
        return None
    if spec.counts_occasions and (often := match_occasions(text, position, tables.language)):
        return _add_period(text, Amount((Decimal(often[1]),), often[0], has_field_word=True), spec, tables)
    alone = tables.alone.match_start(text, position)
    if alone and _counts_companions(spec, tables.language):
        return Amount((Decimal(0),), position + alone)  # "Just me"
    if size := tables.currency_words.match_start(text, position):
        currencies = tables.currencies[text[position : position + size - 1]]
        position += size
    minus = tables.minus.match_start(text, position)
    position += minus
    number = _match_digits(text, position, tables.language, locale) or _match_words(text, position, tables)
    if number is None:
        return None
    values, position = number
    values, position = _apply_times(
        text, values, position, tables, is_money=bool(currencies) or spec.kind is Kind.MONEY
    )
    if minus:
        values = tuple(-value for value in values)
    amount = _match_unit(text, Amount(values, position, currencies), tables, spec)
    is_plain = not (amount.unit or amount.currencies or amount.has_field_word)
    if is_plain and tables.language.names_year(text, start) and not takes_year(spec):
        return None
    if is_plain and tables.language.names_age_of_one(text, start) and asks_how_many(spec):
        return None
    if is_plain and _is_clock(text, start, amount.end, tables.language):
        return None
    return _add_period(text, amount, spec, tables) if spec.counts_occasions else amount


def _add_period(text: str, amount: Amount, spec: FieldSpec, tables: NumberTables) -> Amount | None:
    """The amount with the "a day" behind it; null for a time that is not the field's."""
    end, unit = match_period(text, amount.noun_end or amount.end, tables.language)
    if not unit:
        return amount
    return replace(amount, end=end, has_field_word=True, noun_end=None) if unit == spec.period else None


@lru_cache(maxsize=1024)
def asks_how_many(spec: FieldSpec) -> bool:
    """True for a field that asks how many there are, and not how old somebody is."""
    languages = [get_language(code) for code in list_languages()]
    is_count = any(list_counted_words(spec, language) for language in languages)
    return is_count and not any(_YEAR in list_field_units(spec, get_tables(language)) for language in languages)


@lru_cache(maxsize=1024)
def takes_year(spec: FieldSpec) -> bool:
    """True for a field whose number is a year, or that takes no small one."""
    endings = tuple(fold_text(word) for code in list_languages() for word in get_language(code).words["year_fields"])
    return _is_long(spec.minimum) or any(word.endswith(endings) for word in (*spec.words, *spec.question))


def _is_clock(text: str, start: int, end: int, language: Language) -> bool:
    """True when the number begins a time such as "8 pm" or "8:30"."""
    return any(char.isalpha() or char == ":" for char in text[end : find_clock_end(text, start, language)])


def _match_digits(text: str, start: int, language: Language, locale: str) -> tuple[tuple[Decimal, ...], int] | None:
    if part := _PART.match(text, start):
        return ((Decimal(part[1]) / Decimal(part[2]),), part.end()) if part[1] < part[2] else None
    match = _DIGITS.match(text, start)
    if match and match.group().strip().isdigit() and (part := _PART.match(text, match.end())) and part[1] < part[2]:
        return (Decimal(match.group().strip()) + Decimal(part[1]) / Decimal(part[2]),), part.end()  # "2 1/2"
    if match is None or sum(char.isdigit() for char in match.group()) > _MAX_DIGITS:
        return None
    whole = match.group()
    if single := _ONE_SEPARATOR.fullmatch(whole):
        either = Decimal(f"{single[1]}.{single[3]}"), Decimal(single[1] + single[3])
        is_decimal = single[2] == _find_decimal(language, locale)
        return (either if is_decimal else either[1:]), match.end()
    if match["point"] and match["point"] == match["group"]:
        return None
    digits = whole[: match.start("point") - start] if match["point"] else whole
    plain = "".join(char for char in digits if char.isdigit())
    return (Decimal(f"{plain}.{match['fraction']}" if match["point"] else plain),), match.end()


def _find_decimal(language: Language, locale: str) -> str:
    country = get_countries().get(get_country(locale), {})
    return str(country.get("decimal", language.numbers["decimal"]))


def _match_words(text: str, start: int, tables: NumberTables) -> tuple[tuple[Decimal, ...], int] | None:
    words = text[start:].split(" ")[:-1][:_MAX_WORDS]
    for size in range(len(words), 0, -1):
        phrase = " ".join(words[:size])
        value = tables.amounts.get(phrase)
        if value is None and size <= _MAX_WORDS:
            value = _read_number_words(phrase, tables.language)
        if value is not None:
            return (Decimal(str(value)),), start + len(phrase) + 1
    return None


@lru_cache(maxsize=2048)
def _read_number_words(phrase: str, language: Language) -> int | None:
    """The number that the library reads; null for none."""
    if not phrase.replace(" ", "").isalpha() or not _may_be_number(phrase, language):
        return None
    from text_to_num import text2num

    for folded, written in language.numbers["library"].items():
        phrase = phrase.replace(folded, written)
    try:
        return int(text2num(phrase, language.name))
    except ValueError:
        return None
    except NotImplementedError:
        # text2num raises this for a language that it has no words for. A folder of such a language still reads digits.
        return None


def _may_be_number(phrase: str, language: Language) -> bool:
    """True when the first word begins or ends like a number word, so that the library is asked for few texts."""
    first = phrase.split(" ", 1)[0]
    return any(first.startswith(word) for word in language.number_words) or "hundert" in first or "tausend" in first


def _apply_times(
    text: str, values: tuple[Decimal, ...], position: int, tables: NumberTables, *, is_money: bool
) -> tuple[tuple[Decimal, ...], int]:
    word = text[position:].split(" ", 1)[0]
    if word in tables.times and (is_money or word != "m"):  # Else "2 m" are two metres.
        if len(values) > 1:  # "1.500k" is no usual way to write either.
            return values, position
        return (values[0] * tables.times[word],), position + len(word) + 1
    return values, position


def _match_unit(text: str, amount: Amount, tables: NumberTables, spec: FieldSpec) -> Amount:
    position = amount.end
    if size := tables.currency_words.match_start(text, position):
        codes = tables.currencies[text[position : position + size - 1]]
        return _match_fraction(text, Amount(amount.values, position + size, codes), tables)
    if (size := tables.cents.match_start(text, position)) and (
        spec.kind is Kind.MONEY or _is_money_field(spec, tables)
    ):
        return Amount(tuple(value / 100 for value in amount.values), position + size, amount.currencies)
    if size := tables.unit_words.match_start(text, position):
        unit = tables.units[text[position : position + size - 1]]
        return Amount(amount.values, position + size, amount.currencies, unit)
    if size := tables.counter_words.match_start(text, position):
        group = tables.counters[text[position : position + size - 1]]
        unit = "" if group == ALL_COUNTERS else group
        return Amount(amount.values, position + size, amount.currencies, unit)
    words = text[position:].split(" ")[: _MAX_ADJECTIVES + 1]
    for index, word in enumerate(words):
        if names_what_is_counted(word, spec, tables.language):
            end = position + sum(len(word) + 1 for word in words[: index + 1])
            if index == 0 and not _joins_what_is_counted(word, spec, tables.language):
                return Amount(amount.values, end, amount.currencies, has_field_word=True)
            return Amount(amount.values, position, amount.currencies, has_field_word=True, noun_end=end)
        if not tables.may_describe(word):
            break
    return amount


@lru_cache(maxsize=4096)
def names_what_is_counted(word: str, spec: FieldSpec, language: Language) -> bool:
    """True for a word of the field's name, or of "how many …" in its question, in the singular or plural."""
    if _YEAR in list_field_units(spec, get_tables(language)):
        return False
    word = _DIGRAPH.sub(r"\1", word) if word not in spec.words else word  # As words of fields are written.
    if word in spec.words or word.rstrip("s") in {own.rstrip("s") for own in spec.words if len(own) > 2}:
        return bool(word)
    counted = {stem_words(own, language) for own in list_counted_words(spec, language)}
    if len(word) > 2 and stem_words(word, language) in counted:
        return True
    return _joins_what_is_counted(word, spec, language)


def _joins_what_is_counted(word: str, spec: FieldSpec, language: Language) -> bool:
    """True for "Lastenräder" where a question counts "Räder"."""
    if not language.words.get("joins_words"):
        return False
    words = (_DIGRAPH.sub(r"\1", word), word)
    return any(
        len(own) > _MIN_JOINED and any(own != written and written.endswith(own) for written in words)
        for own in list_counted_words(spec, language)
    )


@lru_cache(maxsize=1024)
def list_counted_words(spec: FieldSpec, language: Language) -> tuple[str, ...]:
    """What the question of a field counts: "parcels" of "How many parcels are there?"."""
    text = fold_text(" ".join(spec.question)) + " "
    phrases = _get_count_questions(language)
    ends = [offset + size for offset in _list_offsets(text) if (size := phrases.match_start(text, offset))]
    return tuple(word for end in ends if (word := text[end:].split(" ", 1)[0]))


def _list_offsets(text: str) -> list[int]:
    """Where the words of a folded text begin."""
    return [0, *(index + 1 for index, char in enumerate(text) if char == " ")]


@lru_cache(maxsize=16)
def _get_count_questions(language: Language) -> PhraseSet:
    return PhraseSet(language.words["count_questions"])


_FRACTION = re.compile(r"(\d\d) (?!\d)")


def _match_fraction(text: str, amount: Amount, tables: NumberTables) -> Amount:
    """ "12 euros 50"."""
    match = _FRACTION.match(text, amount.end)
    if match is None or len(amount.values) > 1 or amount.values[0] != amount.values[0].to_integral_value():
        return amount
    end = match.end() + tables.cents.match_start(text, match.end())
    return Amount((amount.values[0] + Decimal(match[1]) / 100,), end, amount.currencies)


def take_amount(spec: FieldSpec, amount: Amount, tables: NumberTables) -> Reading:
    """What a field takes of a number."""
    if wrong := _find_wrong_unit(spec, amount, tables):
        return wrong
    values: list[int | float] = [to_json(value) for value in amount.values]
    if spec.json_type == "integer":
        first = values[0]
        values = [value for value in values if isinstance(value, int)]
        if not values:
            return refuse(Reason.NOT_WHOLE, value=first)
    allowed = [value for value in values if is_allowed(spec, value)]
    if not allowed:
        bounds = {"min": _first(spec.minimum, spec.above), "max": _first(spec.maximum, spec.below)}
        given = {name: bound for name, bound in bounds.items() if bound is not None}
        return refuse(Reason.OUT_OF_BOUNDS, value=values[0], **given)
    return accept(allowed[0]) if len(allowed) == 1 else offer(allowed)


def _find_wrong_unit(spec: FieldSpec, amount: Amount, tables: NumberTables) -> Reading | None:
    if amount.currencies:
        if spec.kind is Kind.MONEY or spec.currency:
            if not spec.currency or spec.currency in amount.currencies:
                return None
            return refuse(Reason.WRONG_UNIT, unit=amount.currencies[0], expected=spec.currency)
        if _is_money_field(spec, tables):
            return None
        return refuse(Reason.WRONG_UNIT, unit=amount.currencies[0])
    if not amount.unit:
        return None
    own = list_field_units(spec, tables)
    is_counter = amount.unit in tables.counters.values()
    if spec.kind is not Kind.MONEY and (amount.unit in own or (is_counter and not own)):
        return None
    if amount.unit == CHILD and counts_people(spec, own, tables.language):
        return None
    if amount.unit in (PERSON, *PLACES) and not PLACES.isdisjoint(own):
        return None  # "2 tickets", "5 people" where seats are counted
    expected = spec.currency or next(iter(sorted(own)), None)
    return refuse(Reason.WRONG_UNIT, unit=amount.unit, **({"expected": expected} if expected else {}))


def _is_money_field(spec: FieldSpec, tables: NumberTables) -> bool:
    return not set(tables.language.numbers["fields"]["money"]).isdisjoint(spec.words)


def list_field_units(spec: FieldSpec, tables: NumberTables) -> frozenset[str]:
    """The units that the name, the title and the description of a field mention, or that its question counts."""
    fields = tables.language.numbers["fields"]
    by_name = {
        unit
        for unit, words in fields.items()
        if unit not in ("money", "not_before_sums") and not set(words).isdisjoint(spec.words)
    }
    own = (*spec.words, *list_counted_words(spec, tables.language))
    units = {tables.units[word] for word in own if word in tables.units and len(word) > 1}
    counters = {tables.counters[word] for word in own if word in tables.counters}
    if _YEAR in by_name:
        counters = set()  # The age of the youngest player counts no players.
    return frozenset((units | counters | by_name) - {ALL_COUNTERS})


def counts_time(spec: FieldSpec, tables: NumberTables) -> bool:
    """True for a field that counts hours or nights."""
    return not list_field_units(spec, tables).isdisjoint(_TIME_UNITS)


def counts_anything(spec: FieldSpec, tables: NumberTables) -> bool:
    """True for a field that asks how many there are of something that is no unit and no person."""
    return bool(list_counted_words(spec, tables.language)) and not list_field_units(spec, tables)


@lru_cache(maxsize=1024)
def counts_any_noun(spec: FieldSpec, tables: NumberTables) -> bool:
    """True for a field that asks how many and names nothing of its own: "How many?", "Wie viele Stück?", seats."""
    language = tables.language
    units = list_field_units(spec, tables)
    if units:
        return units <= {PIECE, *PLACES}
    text = f"{fold_text(' '.join(spec.question))} "
    asks = any(_get_count_questions(language).match_start(text, offset) for offset in _list_offsets(text))
    return asks and all(word in _list_lead_words(language) for word in list_counted_words(spec, language))


@lru_cache(maxsize=1024)
def asks_for_limit(words: Words) -> bool:
    """True when the words of a field name a limit: "up to 200" is its value."""
    limits = {word for code in list_languages() for word in get_language(code).words["limit_fields"]}
    return not limits.isdisjoint(words)


def is_allowed(spec: FieldSpec, value: float) -> bool:
    """True for a number within the bounds of the field."""
    return (
        (not _is_number(spec.minimum) or value >= spec.minimum)
        and (not _is_number(spec.maximum) or value <= spec.maximum)
        and (not _is_number(spec.above) or value > spec.above)
        and (not _is_number(spec.below) or value < spec.below)
    )


def _is_number(bound: Json) -> bool:
    return isinstance(bound, (int, float)) and not isinstance(bound, bool)


def _first(*bounds: Json) -> Json:
    return next((bound for bound in bounds if _is_number(bound)), None)


def fold_digraphs(word: str) -> str:
    """A token as words of fields are written: u for ue."""
    return _DIGRAPH.sub(r"\1", word)


def to_json(value: Decimal) -> int | float:
    """A JSON number: whole if it is whole."""
    return int(value) if value == value.to_integral_value() else float(value)


def find_amount_starts(tokens: TokenText, tables: NumberTables, spec: FieldSpec) -> Iterator[int]:
    """Where a number may begin that the field takes."""
    occasions = get_occasion_tables(tables.language).count_words if spec.counts_occasions else None
    for token, offset in zip(tokens.tokens, tokens.offsets, strict=True):
        is_number = token.text.isdigit() or tables.amount_phrases.match_start(tokens.text, offset) > 0
        is_number = is_number or (occasions is not None and occasions.match_start(tokens.text, offset) > 0)
        if is_number or tables.currency_words.match_start(tokens.text, offset):
            yield offset
