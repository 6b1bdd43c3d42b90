"""Two fields of one kind, "from" and "to": which value belongs to which field."""

import re
from collections.abc import Iterator, Sequence

from convengine.engine.forms.convert import clean_value
from convengine.engine.forms.extract.candidate import DIRECTION, Candidate
from convengine.engine.forms.extract.free_text import find_end_after_name
from convengine.engine.forms.extract.reading import Reading
from convengine.engine.forms.extract.typed_values import is_typed, read_typed
from convengine.engine.forms.form import Field
from convengine.engine.forms.spellings import list_spellings
from convengine.engine.text.words import split_list

_FROM = split_list("from source origin departure depart start begin pickup sender old current checkin")
_TO = split_list("to target destination arrival arrive end until dropoff return recipient new checkout")
_FROM_WORD = re.compile(r"\b(?:from|starting|leaving|departing)\s+")
_TO_WORD = re.compile(r"\b(?:to|until|till|through|returning|ending)\s+")
#: Between the two values: "from A to B".
_ON_TO = re.compile(r"\s+(?:(?:over|up|on)\s+)?(?:to|until|till|through)\s+")


def read_by_direction(reading: Reading, fields: Sequence[Field]) -> Iterator[Candidate]:
    """Read the values after "from" and "to", if exactly one field is the source and one is the target."""
    for source, target in _list_pairs(fields):
        if is_typed(source):
            yield from _read_behind(reading, source, _FROM_WORD)
            yield from _read_behind(reading, target, _TO_WORD)
        else:
            yield from _read_pair(reading, source, target)


def _list_pairs(fields: Sequence[Field]) -> Iterator[tuple[Field, Field]]:
    kinds: dict[object, list[Field]] = {}
    for field in fields:
        kinds.setdefault((field.type, field.format, list_spellings(field)), []).append(field)
    for alike in kinds.values():
        sources = [field for field in alike if leads_from(field)]
        targets = [field for field in alike if leads_to(field)]
        if len(sources) == 1 and len(targets) == 1 and sources[0] is not targets[0]:
            yield sources[0], targets[0]


def leads_from(field: Field) -> bool:
    """True for a source field: source, origin, old."""
    return not _FROM.isdisjoint(field.label_words)


def leads_to(field: Field) -> bool:
    """True for a target field: target, destination, new."""
    return not _TO.isdisjoint(field.label_words)


def _read_behind(reading: Reading, field: Field, word: re.Pattern[str]) -> Iterator[Candidate]:
    for match in word.finditer(reading.text):
        typed_value = read_typed(reading, field, match.end())
        if typed_value:
            value, end, problem = typed_value
            yield Candidate(field, match.end(), end, value, DIRECTION, problem, match.start())


def _read_pair(reading: Reading, source: Field, target: Field) -> Iterator[Candidate]:
    """Names are read only as a pair, because "from Anna" alone may end a letter."""
    for match in _FROM_WORD.finditer(reading.text):
        first = find_end_after_name(reading, match.end())
        between = _ON_TO.match(reading.text, first) if first else None
        second = find_end_after_name(reading, between.end()) if between else None
        if first and between and second:
            yield _build_candidate(reading, source, match.end(), first)
            yield _build_candidate(reading, target, between.end(), second)


def _build_candidate(reading: Reading, field: Field, start: int, end: int) -> Candidate:
    return Candidate(field, start, end, clean_value(reading.quote(start, end)), DIRECTION)
