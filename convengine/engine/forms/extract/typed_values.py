"""Read a recognisable value at a position: choice, yes or no, number with unit, format."""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from decimal import Decimal
from functools import lru_cache
from typing import Any

from convengine.engine.forms.convert import BOOLEANS, VALUE_INVALID
from convengine.engine.forms.extract.language import COUNTS, GENERIC, MONEY, NUMBER_WORDS, UNITS
from convengine.engine.forms.extract.reading import Reading
from convengine.engine.forms.form import Field
from convengine.engine.forms.spellings import Spelling, list_spellings
from convengine.engine.text.dates import Unclear
from convengine.engine.text.formats import FORMATS
from convengine.engine.text.numbers import Number, number_at, to_json_number
from convengine.engine.text.words import FILLERS, Words, occurs_in, split_list
from convengine.engine.values.choices import list_title_words
from convengine.engine.values.occasions import find_period
from convengine.engine.values.tokens import fold_text

_NUMERIC = frozenset({"integer", "number"})
_LETTERS = re.compile(r"[a-z]+(?![\w'])")
#: Where a number may begin: at a digit, after a sign or a currency, or at its first letter.
_START = re.compile(
    rf"(?:[-+−]?[$€£¥₹]|\b(?:usd|eur|gbp|inr|chf|rs\.?)\s?|[-+−])?\d|(?<![\w-])(?:{'|'.join(NUMBER_WORDS)})(?![\w'-])"
)
_RUN = re.compile(r"[\d.,'’:/-]*")
_GLUED_BEFORE = re.compile(r"[\w#@/.:,'-]")
_GLUED_AFTER = re.compile(r"[\w@/:-]|[.,']\d")
_GLUED_UNIT = re.compile(r"[a-z]+(?![\w@/:-])")
_PERCENT = re.compile(r"\s?(?:%|percent\b|pct\b)")
#: Words after a number that are not its unit.
_NO_UNIT = FILLERS | split_list(
    """over until now today please thanks thank thx pls but because if when per each only instead maybe ok okay i
    would will should can could is was are has have needs wants"""
)
#: Words that announce the unit in a description: "number of guests", "how many people", "loan term in months".
_ANNOUNCES = frozenset({"of", "many", "in", "per"})


@dataclass(frozen=True)
class CountedNumber:
    """A separate number in the text, with its unit."""

    number: Number
    start: int
    end: int
    #: The word after it, in the singular, and the end of that word; null for none.
    unit: str | None
    unit_end: int

    @property
    def in_words(self) -> bool:
        """True for "two"."""
        return self.number.digits.isalpha()


def is_numeric(field: Field) -> bool:
    return field.type in _NUMERIC


def read_number_at(reading: Reading, position: int, *, named: bool = False) -> CountedNumber | None:
    """The number at a position; null inside an id, a date, a time or a longer word.

    `named`: the text before it is known and does not belong to it.
    """
    text = reading.text
    if not named and _GLUED_BEFORE.match(text[position - 1 : position] if position else ""):
        return None
    number = number_at(text, position) or _read_number_word(text, position)
    if number is None or reading.touches_structure(number.start, number.end):
        return None
    end = number.end
    if percent := _PERCENT.match(text, end):
        return CountedNumber(number, position, percent.end(), "percent", percent.end())
    glued = _GLUED_UNIT.match(text, end)
    if glued and singularize(glued.group()) in UNITS:
        return CountedNumber(number, position, end, singularize(glued.group()), glued.end())
    if _GLUED_AFTER.match(text, end):
        return None
    word = None if number.money else reading.word_after(end)
    if word is None or word.group(1) in _NO_UNIT:
        return CountedNumber(number, position, end, None, end)
    return CountedNumber(number, position, end, singularize(word.group(1)), word.end())


def _read_number_word(text: str, position: int) -> Number | None:
    word = _LETTERS.match(text, position)
    if word is None or word.group() not in NUMBER_WORDS:
        return None
    return Number(Decimal(NUMBER_WORDS[word.group()]), *word.span(), word.span(), False, "", word.group())


def find_numbers(reading: Reading) -> Iterator[CountedNumber]:
    """All separate numbers of the text."""
    position = 0
    while match := _START.search(reading.text, position):
        counted = read_number_at(reading, match.start())
        if counted:
            yield counted
        run = _RUN.match(reading.text, match.end() - 1)
        position = max(counted.end if counted else 0, run.end() if run else 0, match.end())


def singularize(word: str) -> str:
    """A word without its plural s."""
    return word[:-1] if len(word) > 3 and word.endswith("s") and not word.endswith("ss") else word


@lru_cache(maxsize=4096)
def list_units(field: Field) -> frozenset[str]:
    """The units that the field counts, from its names and its description: `tenureMonths`, `ticketCount`, "number of
    guests".
    """
    labels = (find_period(label)[1] for label in field.labels)  # "Visits a day" counts no days.
    units = {unit for label in labels if label and (unit := _find_head_noun(label))}
    units |= {singularize(word) for word in field.description if singularize(word) in UNITS}
    for before, word in zip(field.description, field.description[1:], strict=False):
        if before in _ANNOUNCES and word not in FILLERS:
            units.add(singularize(word))
    return frozenset(units)


def _find_head_noun(label: Words) -> str | None:
    """The last noun of a name; the counted noun of a "count"; nothing for an id number."""
    head = label[-1]
    if head in COUNTS and len(label) > 1:
        head = label[-2]
    return None if head in GENERIC or head in MONEY or head in FILLERS else singularize(head)


def identifies(field: Field) -> bool:
    """True for a field whose number is an identifier: `orderNumber`."""
    return any(label[-1] in GENERIC and label[0] not in ("number", "no") for label in field.labels)


def counts_other_unit(field: Field, unit: str | None) -> bool:
    """True when the field counts another unit of the same kind: years instead of months."""
    if unit not in UNITS:
        return False
    own = {known for known in list_units(field) | {singularize(word) for word in field.words} if known in UNITS}
    return unit not in own and any(UNITS[known] == UNITS[unit] for known in own)


def takes_bare_numbers(field: Field) -> bool:
    """True for amounts and counts, the only fields for bare numbers."""
    if identifies(field) or any(unit in UNITS for unit in list_units(field)):
        return False
    wanted = {word for label in field.labels for word in label}
    counts = occurs_in(("number", "of"), field.description) or occurs_in(("how", "many"), field.description)
    return counts or "number" in wanted or bool(wanted & (MONEY | COUNTS))


def takes_money(field: Field) -> bool:
    return bool(field.words & MONEY)


Json = Any
#: (value, end, why it is rejected)
TypedValue = tuple[Json, int, str | None]
_BOOLEAN = re.compile(r"(?:yes|no|true|false)\b(?!\s*,?\s*(?:wait|sorry))")


def is_typed(field: Field) -> bool:
    """True for a field whose values can be recognised by their kind."""
    return bool(list_spellings(field)) or field.type == "boolean" or is_numeric(field) or field.format in FORMATS


def read_typed(reading: Reading, field: Field, position: int) -> TypedValue | None:
    """The value of the field's kind at a position."""
    if choice := read_choice(reading, field, position):
        return choice
    if field.type == "boolean":
        match = _BOOLEAN.match(reading.text, position)
        return (BOOLEANS[match.group()], match.end(), None) if match else None
    if is_numeric(field):
        return _read_number(reading, field, position)
    known = FORMATS.get(field.format or "")
    match = known.pattern.match(reading.text, position) if known else None
    return read_formatted(reading, field, match.start(), match.end()) if match else None


def read_choice(reading: Reading, field: Field, position: int) -> TypedValue | None:
    """The longest choice at a position."""
    by_text, pattern = _compile_choices(list_spellings(field))
    match = pattern.match(reading.text, position) if pattern else None
    return (by_text[read_choice_key(match)].value, match.end(), None) if match else None


def find_choices(reading: Reading, field: Field) -> list[tuple[re.Match[str], Spelling]]:
    """Every choice in the text."""
    by_text, pattern = _compile_choices(list_spellings(field))
    title = list_title_words(field.spec)
    return [
        (match, by_text[read_choice_key(match)])
        for match in (pattern.finditer(reading.text) if pattern else ())
        if not title or fold_text(reading.quote(*match.span())) not in title
    ]


def read_choice_key(match: re.Match[str]) -> str:
    return re.sub(r"[\s_-]+", " ", match.group())


@lru_cache(maxsize=1024)
def _compile_choices(spellings: tuple[Spelling, ...]) -> tuple[dict[str, Spelling], re.Pattern[str] | None]:
    longest_first = sorted(spellings, key=lambda spelling: -len(spelling.key))
    alternatives = "|".join(spelling.pattern for spelling in longest_first)
    pattern = re.compile(rf"(?<!\w)(?<!\w-)(?:{alternatives})(?!\w)(?!-\w)") if spellings else None
    return {spelling.key: spelling for spelling in spellings}, pattern


def read_formatted(reading: Reading, field: Field, start: int, end: int) -> TypedValue:
    """A value of the field's format in a span."""
    known = FORMATS[field.format or ""]
    text = reading.quote(start, end) if field.format in ("email", "uri", "uuid") else reading.text[start:end]
    try:
        return known.read(text), end, None
    except Unclear as unclear:
        return text, end, str(unclear)


def read_counted(field: Field, counted: CountedNumber) -> TypedValue | None:
    """The value of a number for a field; null if it counts another unit."""
    metres = counted.number.times == "m" and not takes_money(field)
    if metres or counts_other_unit(field, counted.unit):
        return None
    value = to_json_number(counted.number, field.type)
    problem = None if value is not None else VALUE_INVALID
    end = counted.unit_end if counted.unit in list_units(field) else counted.end
    return (counted.number.digits if problem else value), end, problem


def _read_number(reading: Reading, field: Field, position: int) -> TypedValue | None:
    counted = read_number_at(reading, position, named=True)
    return read_counted(field, counted) if counted else None
