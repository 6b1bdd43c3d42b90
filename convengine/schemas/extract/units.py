"""What a number in a message is a number of, and which fields may take it."""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from decimal import Decimal
from functools import lru_cache

from convengine.schemas.extract.language import COUNTS, GENERIC, MONEY, NUMBER_WORDS, UNITS
from convengine.schemas.extract.reading import Reading
from convengine.schemas.form import Field
from convengine.schemas.numbers import Number, number_at
from convengine.schemas.words import FILLERS, Words, listed, run_in

_NUMERIC = frozenset({"integer", "number"})
_LETTERS = re.compile(r"[a-z]+(?![\w'])")
#: Where a number may begin: a digit, a sign or a currency before it, or its first letter.
_START = re.compile(
    rf"(?:[-+−]?[$€£¥₹]|\b(?:usd|eur|gbp|inr|chf|rs\.?)\s?|[-+−])?\d|(?<![\w-])(?:{'|'.join(NUMBER_WORDS)})(?![\w'-])"
)
_RUN = re.compile(r"[\d.,'’:/-]*")
_GLUED_BEFORE = re.compile(r"[\w#@/.:,'-]")
_GLUED_AFTER = re.compile(r"[\w@/:-]|[.,']\d")
_GLUED_UNIT = re.compile(r"[a-z]+(?![\w@/:-])")
_PERCENT = re.compile(r"\s?(?:%|percent\b|pct\b)")
#: What follows a number without being what it counts.
_NO_UNIT = FILLERS | listed(
    """over until now today please thanks thank thx pls but because if when per each only instead maybe ok okay i
    would will should can could is was are has have needs wants"""
)
#: In a description, what announces the unit: "number of guests", "how many people", "loan term in months".
_ANNOUNCES = frozenset({"of", "many", "in", "per"})


@dataclass(frozen=True)
class Counted:
    """A number that stands by itself in the text, with what it counts."""

    number: Number
    start: int
    end: int
    #: The word behind it, in the singular, and where that ends; null for none.
    unit: str | None
    unit_end: int

    @property
    def in_words(self) -> bool:
        """True for "two"."""
        return self.number.digits.isalpha()


def numeric(field: Field) -> bool:
    """True for a field that holds a number."""
    return field.type in _NUMERIC


def counted_at(reading: Reading, position: int, *, named: bool = False) -> Counted | None:
    """The number at a position; null for a part of an id, a date, a time, a longer word.

    `named`: what stands before it is known, and no part of it.
    """
    text = reading.text
    if not named and _GLUED_BEFORE.match(text[position - 1 : position] if position else ""):
        return None
    number = number_at(text, position) or _in_words(text, position)
    if number is None or reading.inside(number.start, number.end):
        return None
    end = number.end
    if percent := _PERCENT.match(text, end):
        return Counted(number, position, percent.end(), "percent", percent.end())
    glued = _GLUED_UNIT.match(text, end)
    if glued and singular(glued.group()) in UNITS:
        return Counted(number, position, end, singular(glued.group()), glued.end())
    if _GLUED_AFTER.match(text, end):
        return None
    word = None if number.money else reading.word_after(end)
    if word is None or word.group(1) in _NO_UNIT:
        return Counted(number, position, end, None, end)
    return Counted(number, position, end, singular(word.group(1)), word.end())


def _in_words(text: str, position: int) -> Number | None:
    word = _LETTERS.match(text, position)
    if word is None or word.group() not in NUMBER_WORDS:
        return None
    return Number(Decimal(NUMBER_WORDS[word.group()]), *word.span(), word.span(), False, "", word.group())


def counted_in(reading: Reading) -> Iterator[Counted]:
    """Every number of the text that stands by itself."""
    position = 0
    while match := _START.search(reading.text, position):
        found = counted_at(reading, match.start())
        if found:
            yield found
        run = _RUN.match(reading.text, match.end() - 1)
        position = max(found.end if found else 0, run.end() if run else 0, match.end())


def singular(word: str) -> str:
    """A word without the s of its plural."""
    return word[:-1] if len(word) > 3 and word.endswith("s") and not word.endswith("ss") else word


@lru_cache(maxsize=4096)
def units_of(field: Field) -> frozenset[str]:
    """What the field counts, by its names and its description: `tenureMonths`, `ticketCount`, "number of guests"."""
    found = {unit for label in field.labels if (unit := _head(label))}
    found |= {singular(word) for word in field.description if singular(word) in UNITS}
    for before, word in zip(field.description, field.description[1:], strict=False):
        if before in _ANNOUNCES and word not in FILLERS:
            found.add(singular(word))
    return frozenset(found)


def _head(label: Words) -> str | None:
    """The noun that a name ends in; what is counted when that says "count"; nothing for a number of an id."""
    head = label[-1]
    if head in COUNTS and len(label) > 1:
        head = label[-2]
    return None if head in GENERIC or head in MONEY or head in FILLERS else singular(head)


def identifies(field: Field) -> bool:
    """True for a field whose number is a name: `orderNumber`."""
    return any(label[-1] in GENERIC and label[0] not in ("number", "no") for label in field.labels)


def measures_otherwise(field: Field, unit: str | None) -> bool:
    """True when the field is known to count another unit of the same kind: years where months are meant."""
    if unit not in UNITS:
        return False
    own = {one for one in units_of(field) | {singular(word) for word in field.words} if one in UNITS}
    return unit not in own and any(UNITS[one] == UNITS[unit] for one in own)


def takes_bare_numbers(field: Field) -> bool:
    """True for amounts and counts: a number without a unit can only be meant for such a field."""
    if identifies(field) or any(unit in UNITS for unit in units_of(field)):
        return False
    said = {word for label in field.labels for word in label}
    counts = run_in(("number", "of"), field.description) or run_in(("how", "many"), field.description)
    return counts or "number" in said or bool(said & (MONEY | COUNTS))


def takes_money(field: Field) -> bool:
    """True for a field that may hold a sum of money."""
    return bool(field.words & MONEY)
