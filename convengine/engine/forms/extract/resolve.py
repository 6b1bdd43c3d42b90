"""From all candidates to one value per field: corrected, not denied, not asked about, not ambiguous (R10)."""

import re
from collections.abc import Collection, Iterable, Iterator
from dataclasses import dataclass, replace

from convengine.engine.forms.convert import clean_value
from convengine.engine.forms.extract.candidate import LABEL, NUMBER, UNIT, X_EXTRACT, Candidate
from convengine.engine.forms.extract.free_text import find_end_after_sign
from convengine.engine.forms.extract.language import BARE_NO, CORRECTS, TO_CORRECTION
from convengine.engine.forms.extract.negated_or_hypothetical import is_negated_or_hypothetical
from convengine.engine.forms.extract.reading import Reading
from convengine.engine.forms.extract.typed_values import TypedValue, is_numeric, is_typed, read_typed

AMBIGUOUS = "AMBIGUOUS"
#: Maximum distance between a value and its correction.
_NEAR = 60
#: Maximum number of candidates of one field; a message with more is unclear.
_MANY = 40
_EITHER_OR = re.compile(r"\s*,?\s*(or|/|to)\s+(?:(?:maybe|even|about|rather)\s+)?")
_NUMBER_OR = re.compile(r"(?<![\w.,/-])(\d[\d.,]*k?)\s*,?\s*(?:or|to)\s+(?:(?:maybe|even|about)\s+)?$")


@dataclass(frozen=True)
class ResolvedCandidates:
    """One candidate for each field that has one, and the ambiguous fields."""

    chosen: tuple[Candidate, ...]
    doubtful: tuple[Candidate, ...]
    #: Fields whose values were mentioned but not meant.
    negated: frozenset[str] = frozenset()
    #: Those of them that the words deny; the others are asked about.
    denied: frozenset[str] = frozenset()


def resolve_candidates(
    reading: Reading, candidates: Iterable[Candidate], asked_paths: Collection[str]
) -> ResolvedCandidates:
    """Resolve the candidates. `asked_paths`: the fields that the engine asked for."""
    by_field: dict[str, list[Candidate]] = {}
    for original in candidates:
        listed = by_field.setdefault(original.field.path, [])
        if len(listed) < _MANY:
            candidate = _apply_correction(reading, original)
            listed.extend((candidate, *_list_alternatives(reading, candidate)))
    meant = {path: list(_keep_meant(reading, claims)) for path, claims in by_field.items()}
    surest = [best for claims in meant.values() for best in _keep_surest(claims)]
    claimed = [claim for claim in surest if not any(_claims_words(other, claim) for other in surest)]
    doubtful = [claim for claim in claimed if any(_are_rivals(claim, other, asked_paths) for other in claimed)]
    clear = [claim for claim in claimed if claim not in doubtful]
    chosen: list[Candidate] = []
    for path in by_field:
        values = [claim for claim in clear if claim.field.path == path]
        same = all(claim.value == values[0].value and claim.problem == values[0].problem for claim in values)
        (chosen if same else doubtful).extend(values[:1] if same else values)
    negated = frozenset(path for path, claims in meant.items() if not claims)
    denied = frozenset(path for path in negated if not any(reading.is_question(item.begins) for item in by_field[path]))
    return ResolvedCandidates(tuple(chosen), tuple(doubtful), negated, denied)


def _keep_meant(reading: Reading, claims: list[Candidate]) -> Iterator[Candidate]:
    """The candidates of one field without corrected, denied or questioned ones."""
    ordered = sorted(claims, key=lambda claim: (claim.start, -claim.sureness))
    denied = {
        id(claim)
        for claim in ordered
        if is_negated_or_hypothetical(reading, claim.field, claim.start, claim.end, claim.begins)
    }
    for claim in ordered:
        others = [other for other in ordered if other.value != claim.value]
        if any(_takes_back(reading, claim, other, denied) for other in others):
            continue
        instead = any(_replaces_directly(reading, other, claim, denied) for other in others)
        # A match of the schema's own pattern counts in a question too: "where is my order 48392?"
        in_question = claim.by != X_EXTRACT and reading.is_question(claim.begins)
        if instead or not (id(claim) in denied or in_question):
            yield claim


def _takes_back(reading: Reading, claim: Candidate, later: Candidate, denied: Collection[int]) -> bool:
    """True when a later value corrects this one: "A, no, B"."""
    if later.begins < claim.end or later.begins - claim.end > _NEAR:
        return False
    corrects = CORRECTS.search(reading.text[claim.end : later.begins]) is not None
    return corrects or _replaces_directly(reading, claim, later, denied)


def _replaces_directly(reading: Reading, claim: Candidate, later: Candidate, denied: Collection[int]) -> bool:
    """True for "dallas no irving". In "no dallas no irving" both are denied."""
    if id(claim) in denied or not 0 < later.begins - claim.end <= _NEAR:
        return False
    return BARE_NO.fullmatch(reading.text[claim.end : later.begins]) is not None


def _apply_correction(reading: Reading, candidate: Candidate) -> Candidate:
    """The value of a correction right after it: "amount 35000, sorry, 350000"."""
    if candidate.by not in (LABEL, UNIT, NUMBER):
        return candidate
    again = TO_CORRECTION.match(reading.text, candidate.end)
    if again is None or not CORRECTS.search(again.group()):
        return candidate
    start = again.end()
    if is_typed(candidate.field):
        typed_value = read_typed(reading, candidate.field, start)
        if typed_value is None:
            return candidate
        return _apply_correction(reading, _move_candidate(candidate, start, typed_value))
    last = find_end_after_sign(reading, start, {})
    value = clean_value(reading.quote(start, last)) if last else ""
    if not value or last is None:
        return candidate
    return _move_candidate(candidate, start, (value, last, None))


def _list_alternatives(reading: Reading, candidate: Candidate) -> Iterator[Candidate]:
    """The second value of "35000 or 40000"; the two make the field ambiguous."""
    field = candidate.field
    if not is_typed(field):
        return
    joint = _EITHER_OR.match(reading.text, candidate.end)
    if joint and (is_numeric(field) or joint.group(1) != "to"):
        typed_value = read_typed(reading, field, joint.end())
        if typed_value:
            yield _move_candidate(candidate, joint.end(), typed_value)
    near = max(0, candidate.start - _NEAR)
    before = _NUMBER_OR.search(reading.text, near, candidate.start) if is_numeric(field) else None
    typed_value = read_typed(reading, field, before.start(1)) if before else None
    if before and typed_value:
        yield _move_candidate(candidate, before.start(1), typed_value)


def _move_candidate(candidate: Candidate, start: int, typed_value: TypedValue) -> Candidate:
    """The same kind of candidate at another position."""
    value, end, problem = typed_value
    return replace(candidate, start=start, end=end, value=value, problem=problem, anchor=None, core=None)


def _keep_surest(claims: Iterable[Candidate]) -> list[Candidate]:
    listed = list(claims)
    best = max((claim.sureness for claim in listed), default=0)
    return [claim for claim in listed if claim.sureness == best]


def _claims_words(claim: Candidate, other: Candidate) -> bool:
    """True when a more certain or longer candidate of another field uses these words."""
    if claim.field.path == other.field.path or not claim.overlaps(other):
        return False
    if claim.sureness != other.sureness:
        return claim.sureness > other.sureness
    return (claim.end - claim.begins) > (other.end - other.begins)


def _are_rivals(claim: Candidate, other: Candidate, asked_paths: Collection[str]) -> bool:
    """True when two fields could use the same words, and neither was asked for."""
    if claim.field.path == other.field.path or not claim.overlaps(other):
        return False
    return not (claim.field.path in asked_paths and other.field.path not in asked_paths)
