"""Read a recognisable value at a position: choice, yes or no, number, format."""

import re
from functools import lru_cache
from typing import Any

from convengine.engine.forms.choices import Spelling, list_spellings
from convengine.engine.forms.extract.reading import Reading
from convengine.engine.forms.extract.units import (
    CountedNumber,
    counts_other_unit,
    is_numeric,
    list_units,
    read_number_at,
    takes_money,
)
from convengine.engine.forms.form import Field
from convengine.engine.forms.values import BOOLEANS, VALUE_INVALID
from convengine.engine.text.dates import Unclear
from convengine.engine.text.formats import FORMATS
from convengine.engine.text.numbers import to_json_number

Json = Any
#: (value, end, why it is rejected)
Found = tuple[Json, int, str | None]
_BOOLEAN = re.compile(r"(?:yes|no|true|false)\b(?!\s*,?\s*(?:wait|sorry))")


def is_typed(field: Field) -> bool:
    """True for a field whose values can be recognised by their kind."""
    return bool(list_spellings(field)) or field.type == "boolean" or is_numeric(field) or field.format in FORMATS


def read_typed(reading: Reading, field: Field, position: int) -> Found | None:
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


def read_choice(reading: Reading, field: Field, position: int) -> Found | None:
    """The longest choice at a position."""
    by_text, pattern = _compile_choices(list_spellings(field))
    match = pattern.match(reading.text, position) if pattern else None
    return (by_text[read_choice_key(match)].value, match.end(), None) if match else None


def find_choices(reading: Reading, field: Field) -> list[tuple[re.Match[str], Spelling]]:
    """Every choice in the text."""
    by_text, pattern = _compile_choices(list_spellings(field))
    return [(match, by_text[read_choice_key(match)]) for match in pattern.finditer(reading.text)] if pattern else []


def read_choice_key(match: re.Match[str]) -> str:
    return re.sub(r"[\s_-]+", " ", match.group())


@lru_cache(maxsize=1024)
def _compile_choices(found: tuple[Spelling, ...]) -> tuple[dict[str, Spelling], re.Pattern[str] | None]:
    longest_first = sorted(found, key=lambda spelling: -len(spelling.key))
    alternatives = "|".join(spelling.pattern for spelling in longest_first)
    pattern = re.compile(rf"(?<!\w)(?<!\w-)(?:{alternatives})(?!\w)(?!-\w)") if found else None
    return {spelling.key: spelling for spelling in found}, pattern


def read_formatted(reading: Reading, field: Field, start: int, end: int) -> Found:
    """A value of the field's format in a span."""
    known = FORMATS[field.format or ""]
    said = reading.quote(start, end) if field.format in ("email", "uri", "uuid") else reading.text[start:end]
    try:
        return known.read(said), end, None
    except Unclear as unclear:
        return said, end, str(unclear)


def read_counted(field: Field, found: CountedNumber) -> Found | None:
    """The value of a number for a field; null if it counts another unit."""
    metres = found.number.times == "m" and not takes_money(field)
    if metres or counts_other_unit(field, found.unit):
        return None
    value = to_json_number(found.number, field.type)
    problem = None if value is not None else VALUE_INVALID
    end = found.unit_end if found.unit in list_units(field) else found.end
    return (found.number.digits if problem else value), end, problem


def _read_number(reading: Reading, field: Field, position: int) -> Found | None:
    found = read_number_at(reading, position, named=True)
    return read_counted(field, found) if found else None
