"""A value of a kind that can be recognised, at a place of the text: choice, yes or no, number, format."""

import re
from functools import lru_cache
from typing import Any

from convengine.schemas.choices import Spelling, spellings
from convengine.schemas.dates import Unclear
from convengine.schemas.extract.reading import Reading
from convengine.schemas.extract.units import Counted, counted_at, measures_otherwise, numeric, takes_money, units_of
from convengine.schemas.form import Field
from convengine.schemas.formats import FORMATS
from convengine.schemas.numbers import as_json
from convengine.schemas.values import BOOLEANS, VALUE_INVALID

Json = Any
#: (value, where it ends, why it cannot be taken)
Found = tuple[Json, int, str | None]
_BOOLEAN = re.compile(r"(?:yes|no|true|false)\b(?!\s*,?\s*(?:wait|sorry))")


def typed(field: Field) -> bool:
    """True for a field whose values can be recognised by themselves."""
    return bool(spellings(field)) or field.type == "boolean" or numeric(field) or field.format in FORMATS


def typed_at(reading: Reading, field: Field, position: int) -> Found | None:
    """The value of the field's kind that begins at a position, next to its name."""
    if choice := choice_at(reading, field, position):
        return choice
    if field.type == "boolean":
        match = _BOOLEAN.match(reading.text, position)
        return (BOOLEANS[match.group()], match.end(), None) if match else None
    if numeric(field):
        return _number_at(reading, field, position)
    known = FORMATS.get(field.format or "")
    match = known.pattern.match(reading.text, position) if known else None
    return formatted(reading, field, match.start(), match.end()) if match else None


def choice_at(reading: Reading, field: Field, position: int) -> Found | None:
    """The longest choice that begins at a position."""
    by_text, pattern = _choices(spellings(field))
    match = pattern.match(reading.text, position) if pattern else None
    return (by_text[key_in(match)].value, match.end(), None) if match else None


def choices_in(reading: Reading, field: Field) -> list[tuple[re.Match[str], Spelling]]:
    """Every choice that is said in the text."""
    by_text, pattern = _choices(spellings(field))
    return [(match, by_text[key_in(match)]) for match in pattern.finditer(reading.text)] if pattern else []


def key_in(match: re.Match[str]) -> str:
    """The key of a choice that was found."""
    return re.sub(r"[\s_-]+", " ", match.group())


@lru_cache(maxsize=1024)
def _choices(found: tuple[Spelling, ...]) -> tuple[dict[str, Spelling], re.Pattern[str] | None]:
    longest_first = sorted(found, key=lambda spelling: -len(spelling.key))
    alternatives = "|".join(spelling.pattern for spelling in longest_first)
    pattern = re.compile(rf"(?<!\w)(?<!\w-)(?:{alternatives})(?!\w)(?!-\w)") if found else None
    return {spelling.key: spelling for spelling in found}, pattern


def formatted(reading: Reading, field: Field, start: int, end: int) -> Found:
    """A value of the field's format, read from a part of the text."""
    known = FORMATS[field.format or ""]
    said = reading.said(start, end) if field.format in ("email", "uri", "uuid") else reading.text[start:end]
    try:
        return known.read(said), end, None
    except Unclear as unclear:
        return said, end, str(unclear)


def counted(field: Field, found: Counted) -> Found | None:
    """The value that a number gives a field; null when it counts something of the same kind that is not meant."""
    metres = found.number.times == "m" and not takes_money(field)
    if metres or measures_otherwise(field, found.unit):
        return None
    value = as_json(found.number, field.type)
    problem = None if value is not None else VALUE_INVALID
    end = found.unit_end if found.unit in units_of(field) else found.end
    return (found.number.digits if problem else value), end, problem


def _number_at(reading: Reading, field: Field, position: int) -> Found | None:
    found = counted_at(reading, position, named=True)
    return counted(field, found) if found else None
