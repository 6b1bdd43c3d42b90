"""Two fields of one kind, a "from" and a "to": which of two places or dates is which."""

import re
from collections.abc import Iterator, Sequence

from convengine.schemas.choices import spellings
from convengine.schemas.extract.candidate import DIRECTION, Candidate
from convengine.schemas.extract.free import after_name
from convengine.schemas.extract.reading import Reading
from convengine.schemas.extract.typed import typed, typed_at
from convengine.schemas.form import Field
from convengine.schemas.values import cleaned
from convengine.schemas.words import listed

_FROM = listed("from source origin departure depart start begin pickup sender old current checkin")
_TO = listed("to target destination arrival arrive end until dropoff return recipient new checkout")
_FROM_WORD = re.compile(r"\b(?:from|starting|leaving|departing)\s+")
_TO_WORD = re.compile(r"\b(?:to|until|till|through|returning|ending)\s+")
#: Between the two: "from A to B".
_ON_TO = re.compile(r"\s+(?:(?:over|up|on)\s+)?(?:to|until|till|through)\s+")


def by_direction(reading: Reading, fields: Sequence[Field]) -> Iterator[Candidate]:
    """The values behind "from" and "to", where exactly one field of a kind is the one and one is the other."""
    for source, target in _pairs(fields):
        if typed(source):
            yield from _behind(reading, source, _FROM_WORD)
            yield from _behind(reading, target, _TO_WORD)
        else:
            yield from _both(reading, source, target)


def _pairs(fields: Sequence[Field]) -> Iterator[tuple[Field, Field]]:
    kinds: dict[object, list[Field]] = {}
    for field in fields:
        kinds.setdefault((field.type, field.format, spellings(field)), []).append(field)
    for alike in kinds.values():
        sources = [field for field in alike if leads_from(field)]
        targets = [field for field in alike if leads_to(field)]
        if len(sources) == 1 and len(targets) == 1 and sources[0] is not targets[0]:
            yield sources[0], targets[0]


def leads_from(field: Field) -> bool:
    """True for the field of a beginning: a source, an origin, the old one."""
    return _says(field, _FROM)


def leads_to(field: Field) -> bool:
    """True for the field of an end: a target, a destination, the new one."""
    return _says(field, _TO)


def _says(field: Field, direction: frozenset[str]) -> bool:
    return any(word in direction for label in field.labels for word in (*label, "".join(label)))


def _behind(reading: Reading, field: Field, word: re.Pattern[str]) -> Iterator[Candidate]:
    for match in word.finditer(reading.text):
        found = typed_at(reading, field, match.end())
        if found:
            value, end, problem = found
            yield Candidate(field, match.end(), end, value, DIRECTION, problem, match.start())


def _both(reading: Reading, source: Field, target: Field) -> Iterator[Candidate]:
    """Names of any kind are taken only as a pair: "from Anna" alone may be a letter."""
    for match in _FROM_WORD.finditer(reading.text):
        first = after_name(reading, match.end())
        between = _ON_TO.match(reading.text, first) if first else None
        second = after_name(reading, between.end()) if between else None
        if first and between and second:
            yield _name(reading, source, match.end(), first)
            yield _name(reading, target, between.end(), second)


def _name(reading: Reading, field: Field, start: int, end: int) -> Candidate:
    return Candidate(field, start, end, cleaned(reading.said(start, end)), DIRECTION)
