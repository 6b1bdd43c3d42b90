"""From what the readers found to one value a field: corrected, not denied, not asked, not in doubt (R10)."""

import re
from collections.abc import Collection, Iterable, Iterator
from dataclasses import dataclass, replace

from convengine.schemas.extract.candidate import LABEL, NUMBER, UNIT, X_EXTRACT, Candidate
from convengine.schemas.extract.free import after_sign
from convengine.schemas.extract.language import BARE_NO, CORRECTS, TO_CORRECTION
from convengine.schemas.extract.reading import Reading
from convengine.schemas.extract.typed import Found, typed, typed_at
from convengine.schemas.extract.units import numeric
from convengine.schemas.extract.unmeant import unmeant
from convengine.schemas.values import cleaned

AMBIGUOUS = "AMBIGUOUS"
#: How far apart a value and its correction may stand.
_NEAR = 60
#: How many finds of one field are weighed; a message with more says nothing clear.
_MANY = 40
_EITHER_OR = re.compile(r"\s*,?\s*(or|/|to)\s+(?:(?:maybe|even|about|rather)\s+)?")
_NUMBER_OR = re.compile(r"(?<![\w.,/-])(\d[\d.,]*k?)\s*,?\s*(?:or|to)\s+(?:(?:maybe|even|about)\s+)?$")


@dataclass(frozen=True)
class Resolved:
    """One candidate for each field that has one, and those that are in doubt."""

    chosen: tuple[Candidate, ...]
    doubtful: tuple[Candidate, ...]
    #: The fields that values were said for, none of which was meant.
    unmeant: frozenset[str] = frozenset()


def resolve(reading: Reading, candidates: Iterable[Candidate], asked: Collection[str]) -> Resolved:
    """What is left when the message is taken at its word. `asked`: the fields that were asked for."""
    by_field: dict[str, list[Candidate]] = {}
    for found in candidates:
        listed = by_field.setdefault(found.field.path, [])
        if len(listed) < _MANY:
            candidate = _corrected(reading, found)
            listed.extend((candidate, *_alternatives(reading, candidate)))
    meant = {path: list(_meant(reading, found)) for path, found in by_field.items()}
    left = [best for found in meant.values() for best in _surest(found)]
    claimed = [one for one in left if not any(_claims(other, one) for other in left)]
    doubtful = [one for one in claimed if any(_rivals(one, other, asked) for other in claimed)]
    clear = [one for one in claimed if one not in doubtful]
    chosen: list[Candidate] = []
    for path in by_field:
        values = [one for one in clear if one.field.path == path]
        same = all(one.value == values[0].value and one.problem == values[0].problem for one in values)
        (chosen if same else doubtful).extend(values[:1] if same else values)
    return Resolved(tuple(chosen), tuple(doubtful), frozenset(path for path, found in meant.items() if not found))


def _meant(reading: Reading, found: list[Candidate]) -> Iterator[Candidate]:
    """The candidates of one field without those taken back, not meant, or only asked about."""
    ordered = sorted(found, key=lambda one: (one.start, -one.sureness))
    denied = {id(one) for one in ordered if unmeant(reading, one.field, one.start, one.end, one.begins)}
    for one in ordered:
        others = [other for other in ordered if other.value != one.value]
        if any(_takes_back(reading, one, other, denied) for other in others):
            continue
        instead = any(_instead(reading, other, one, denied) for other in others)
        # What the schema's own pattern finds is meant in a question as well: "where is my order 48392?"
        asked = one.by != X_EXTRACT and reading.asked(one.begins)
        if instead or not (id(one) in denied or asked):
            yield one


def _takes_back(reading: Reading, one: Candidate, later: Candidate, denied: Collection[int]) -> bool:
    """True when a later value corrects this one: "A, no, B"."""
    if later.begins < one.end or later.begins - one.end > _NEAR:
        return False
    corrects = CORRECTS.search(reading.text[one.end : later.begins]) is not None
    return corrects or _instead(reading, one, later, denied)


def _instead(reading: Reading, one: Candidate, later: Candidate, denied: Collection[int]) -> bool:
    """True for "dallas no irving"; in "no dallas no irving" both are denied."""
    if id(one) in denied or not 0 < later.begins - one.end <= _NEAR:
        return False
    return BARE_NO.fullmatch(reading.text[one.end : later.begins]) is not None


def _corrected(reading: Reading, candidate: Candidate) -> Candidate:
    """The value that a correction right behind puts in its place: "amount 35000, sorry, 350000"."""
    if candidate.by not in (LABEL, UNIT, NUMBER):
        return candidate
    again = TO_CORRECTION.match(reading.text, candidate.end)
    if again is None or not CORRECTS.search(again.group()):
        return candidate
    start = again.end()
    if typed(candidate.field):
        found = typed_at(reading, candidate.field, start)
        if found is None:
            return candidate
        return _corrected(reading, _moved(candidate, start, found))
    last = after_sign(reading, start, {})
    value = cleaned(reading.said(start, last)) if last else ""
    if not value or last is None:
        return candidate
    return _moved(candidate, start, (value, last, None))


def _alternatives(reading: Reading, candidate: Candidate) -> Iterator[Candidate]:
    """The other value of "35000 or 40000": the two of them leave the field in doubt."""
    field = candidate.field
    if not typed(field):
        return
    joint = _EITHER_OR.match(reading.text, candidate.end)
    if joint and (numeric(field) or joint.group(1) != "to"):
        found = typed_at(reading, field, joint.end())
        if found:
            yield _moved(candidate, joint.end(), found)
    near = max(0, candidate.start - _NEAR)
    before = _NUMBER_OR.search(reading.text, near, candidate.start) if numeric(field) else None
    found = typed_at(reading, field, before.start(1)) if before else None
    if before and found:
        yield _moved(candidate, before.start(1), found)


def _moved(candidate: Candidate, start: int, found: Found) -> Candidate:
    """The same kind of find, at another place."""
    value, end, problem = found
    return replace(candidate, start=start, end=end, value=value, problem=problem, anchor=None, core=None)


def _surest(found: Iterable[Candidate]) -> list[Candidate]:
    listed = list(found)
    best = max((one.sureness for one in listed), default=0)
    return [one for one in listed if one.sureness == best]


def _claims(one: Candidate, other: Candidate) -> bool:
    """True when a surer or longer find of another field leaves nothing for this one."""
    if one.field.path == other.field.path or not one.overlaps(other):
        return False
    if one.sureness != other.sureness:
        return one.sureness > other.sureness
    return (one.end - one.begins) > (other.end - other.begins)


def _rivals(one: Candidate, other: Candidate, asked: Collection[str]) -> bool:
    """True when two fields could take the same words, and neither was the one asked for."""
    if one.field.path == other.field.path or not one.overlaps(other):
        return False
    return not (one.field.path in asked and other.field.path not in asked)
