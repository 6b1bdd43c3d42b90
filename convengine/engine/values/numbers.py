"""Numbers and sums of money as people say them: "twelve", "a dozen", "1.5k", "1.200,50 €" (R114)."""

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from decimal import Decimal
from functools import lru_cache
from typing import Any

from convengine.engine.text.words import Words
from convengine.engine.values.field_spec import FieldSpec, Kind
from convengine.engine.values.language import (
    Language,
    PhraseSet,
    get_countries,
    get_country,
    get_language,
    list_languages,
)
from convengine.engine.values.reading import NOTHING, Reading, ReadingSituation, Reason, accept, offer, refuse
from convengine.engine.values.templates import fold_keys
from convengine.engine.values.tokens import TokenText

Json = Any
#: Longest number in tokens, and in digits.
_MAX_WORDS = 12
_MAX_DIGITS = 15
#: Words that may follow any number of things or people.
ALL_COUNTERS = "all"
_DIGITS = re.compile(
    r"(?:\d{1,3}(?: (?P<group>[.,]) \d{3}(?!\d))+|\d{1,3}(?: \d{3}(?!\d))+|\d+) (?:(?P<point>[.,]) (?P<fraction>\d+) )?"
)
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
    #: A word of the field's name follows the number: "4 tickets".
    has_field_word: bool = False


class NumberTables:
    """The words of one language around numbers."""

    def __init__(self, language: Language) -> None:
        numbers = language.numbers
        self.language = language
        self.amounts = {**language.number_words, **fold_keys(numbers["amounts"])}
        self.times = fold_keys(numbers["times"])
        self.units = fold_keys({word: unit for unit, words in numbers["units"].items() for word in words})
        self.counters = fold_keys({word: group for group, words in numbers["counters"].items() for word in words})
        self.counter_words = PhraseSet(self.counters)
        self.cents = PhraseSet(numbers["cents"]["words"])
        self.not_sums = PhraseSet(numbers["fields"]["not_before_sums"])
        self.minus = PhraseSet([*numbers["minus"], "-"])
        self.currencies = _list_currencies(numbers["currencies"])
        self.currency_words = PhraseSet(self.currencies)
        self.unit_words = PhraseSet(self.units)


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
    for start, end in dict.fromkeys([(0, len(tokens.text)), language.strip_fillers(tokens)]):
        begin = start + language.before_time.match_start(tokens.text, start)
        for first in {start: 0, begin: 0}:
            text = tokens.text[:end]
            amount = match_amount(text, first, tables, situation.locale, spec)
            if amount and text[amount.end :] in ("", ". "):
                return NOTHING if _is_no_sum(spec, amount, text[:first], tables) else take_amount(spec, amount, tables)
    return NOTHING


def _is_no_sum(spec: FieldSpec, amount: Amount, before: str, tables: NumberTables) -> bool:
    """True for "3 kids", "I am 42" where a sum is asked for."""
    if not (spec.kind is Kind.MONEY or _is_money_field(spec, tables)) or amount.currencies:
        return False
    return amount.unit in tables.counters.values() or before.strip() in tables.not_sums.phrases


def match_amount(text: str, start: int, tables: NumberTables, locale: str, spec: FieldSpec) -> Amount | None:
    """The number that begins at `start`, with its currency or unit."""
    position = start
    currencies: tuple[str, ...] = ()
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
    return _match_unit(text, Amount(values, position, currencies), tables, spec)


def _match_digits(text: str, start: int, language: Language, locale: str) -> tuple[tuple[Decimal, ...], int] | None:
    match = _DIGITS.match(text, start)
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
    word = text[position:].split(" ", 1)[0]
    if word and (word in spec.words or word.rstrip("s") in {own.rstrip("s") for own in spec.words if len(own) > 2}):
        return Amount(amount.values, position + len(word) + 1, amount.currencies, has_field_word=True)
    return amount


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
    expected = spec.currency or next(iter(sorted(own)), None)
    return refuse(Reason.WRONG_UNIT, unit=amount.unit, **({"expected": expected} if expected else {}))


def _is_money_field(spec: FieldSpec, tables: NumberTables) -> bool:
    return not set(tables.language.numbers["fields"]["money"]).isdisjoint(spec.words)


def list_field_units(spec: FieldSpec, tables: NumberTables) -> frozenset[str]:
    """The units that the name, the title and the description of a field mention."""
    fields = tables.language.numbers["fields"]
    by_name = {
        unit
        for unit, words in fields.items()
        if unit not in ("money", "not_before_sums") and not set(words).isdisjoint(spec.words)
    }
    units = {tables.units[word] for word in spec.words if word in tables.units and len(word) > 1}
    counters = {tables.counters[word] for word in spec.words if word in tables.counters}
    return frozenset((units | counters | by_name) - {ALL_COUNTERS})


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


def to_json(value: Decimal) -> int | float:
    """A JSON number: whole if it is whole."""
    return int(value) if value == value.to_integral_value() else float(value)


def find_amount_starts(tokens: TokenText, tables: NumberTables) -> Iterator[int]:
    """Where a number may begin."""
    for token, offset in zip(tokens.tokens, tokens.offsets, strict=True):
        is_number = token.text.isdigit() or token.text in tables.amounts
        if is_number or tables.currency_words.match_start(tokens.text, offset):
            yield offset
