"""Values next to the name of their field: "name: value", "name is value", "name value" (R10)."""

import re
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache

from convengine.schemas.choices import spellings
from convengine.schemas.extract.candidate import LABEL, Candidate
from convengine.schemas.extract.free import Names, after_name, after_sign, after_verb, id_after
from convengine.schemas.extract.language import CHANGED_TO, CHANGES, EXPLICIT, GENERIC, NAMING, SOFT, UNITS
from convengine.schemas.extract.reading import Reading
from convengine.schemas.extract.typed import typed, typed_at
from convengine.schemas.extract.units import counted_at, numeric, singular
from convengine.schemas.form import Field
from convengine.schemas.values import VALUE_INVALID, VALUE_VIOLATES_SCHEMA, cleaned
from convengine.schemas.words import Words


@dataclass(frozen=True)
class Name:
    """Where a field is called by name."""

    field: Field
    start: int
    end: int
    #: True for a name without its last word: "customer 9912" for customerId. It counts before ids only.
    cut: bool


def names_in(reading: Reading, fields: Sequence[Field]) -> list[Name]:
    """Every place where a field is called by name; inside a longer name the shorter one is none."""
    found = [
        Name(field, *match.span(), cut)
        for field in fields
        for label, cut in _callings(field, fields)
        for match in _pattern(label).finditer(reading.text)
        if not reading.inside(*match.span())
    ]
    return [name for name in found if not any(_longer(other, name) for other in found)]


def by_label(reading: Reading, fields: Sequence[Field], missing: Collection[str]) -> Iterator[Candidate]:
    """The values behind the names. Plain words are taken only where something is missing."""
    names = sorted(names_in(reading, fields), key=lambda name: name.start)
    places: Names = {name.start: name.end for name in names}
    read = 0
    for start in places:
        # A name inside a value is a part of it: "street: Main Street 5".
        named = [name for name in names if name.start == start >= read]
        for found in [value for name in named if (value := _value_of(reading, name, places, missing))]:
            read = max(read, found.end)
            yield found


def _value_of(reading: Reading, name: Name, places: Names, missing: Collection[str]) -> Candidate | None:
    sign = EXPLICIT.match(reading.text, name.end)
    if name.cut:
        return _id(reading, name)
    if typed(name.field):
        return _typed(reading, name, sign or _changed_to(reading, name), places)
    if sign:
        return _words(reading, name, sign.end(), after_sign(reading, sign.end(), places))
    naming = NAMING.match(reading.text, name.end)
    if naming is None:
        return None
    if address := _address(reading, name.field, naming.end()):
        return _words(reading, name, *address.span())
    verb = naming["verb"].strip() and name.field.path in missing
    return _words(reading, name, naming.end(), (after_verb if verb else after_name)(reading, naming.end()))


def _address(reading: Reading, field: Field, start: int) -> re.Match[str] | None:
    """The e-mail address right behind the name of a field that is called after mail, and has no format."""
    if not any("mail" in word for label in field.labels for word in label):
        return None
    return next((match for match in reading.formats["email"] if match.start() == start), None)


def _typed(reading: Reading, name: Name, sign: re.Match[str] | None, places: Names) -> Candidate | None:
    field, soft = name.field, SOFT.match(reading.text, name.end)
    between = sign or soft
    found = typed_at(reading, field, between.end()) if between else None
    if found and between:
        value, end, problem = found
        core = (name.start, counted_core(reading, between.end(), end)) if numeric(field) else None
        return Candidate(field, between.end(), end, value, LABEL, problem, name.start, core)
    if sign is None:
        return None
    given = _words(reading, name, sign.end(), after_sign(reading, sign.end(), places))
    problem = VALUE_VIOLATES_SCHEMA if spellings(field) else VALUE_INVALID
    return Candidate(field, given.start, given.end, given.value, LABEL, problem, name.start) if given else None


def _changed_to(reading: Reading, name: Name) -> re.Match[str] | None:
    """The "to" of "change the NAME to …": what follows is meant as its value, like behind a colon."""
    return CHANGED_TO.match(reading.text, name.end) if CHANGES.search(reading.before(name.start)) else None


def counted_core(reading: Reading, start: int, end: int) -> int:
    """Where the number at a position ends, its currency left out."""
    found = counted_at(reading, start, named=True)
    return found.number.core[1] if found else end


def _id(reading: Reading, name: Name) -> Candidate | None:
    between = EXPLICIT.match(reading.text, name.end) or NAMING.match(reading.text, name.end)
    return _words(reading, name, between.end(), id_after(reading, between.end())) if between else None


def _words(reading: Reading, name: Name, start: int, end: int | None) -> Candidate | None:
    if end is None:
        return None
    value = cleaned(reading.said(start, end)).lstrip("#")
    if not value:
        return None
    return Candidate(name.field, start, end, value, LABEL, anchor=name.start)


def _callings(field: Field, fields: Sequence[Field]) -> Iterator[tuple[Words, bool]]:
    """The names of a field; those cut short where no other field is called so."""
    taken = {label for other in fields for label in other.labels}
    for label in field.labels:
        yield label, False
        if len(label) > 1 and label[:-1] not in taken:
            if label[-1] in GENERIC and not typed(field):
                yield label[:-1], True
            elif numeric(field) and singular(label[-1]) in UNITS:
                yield label[:-1], False


@lru_cache(maxsize=4096)
def _pattern(label: Words) -> re.Pattern[str]:
    return re.compile(r"(?<![\w'@/.#])(?<!\w-)" + r"[\s_-]*".join(map(re.escape, label)) + r"(?!\w)(?!-\w)")


def _longer(one: Name, other: Name) -> bool:
    contains = one.start <= other.start and other.end <= one.end
    return contains and (one.end - one.start) > (other.end - other.start)
