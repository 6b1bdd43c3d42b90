"""Reading the fields of a form out of a message, without a model: the same every time, and rather nothing than wrong.

R10. What it can and cannot do: docs/extraction.md.
"""

from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from convengine.domain.text import blank
from convengine.schemas.extract import free_standing
from convengine.schemas.extract.answer import whole_answer
from convengine.schemas.extract.candidate import Candidate
from convengine.schemas.extract.directions import by_direction
from convengine.schemas.extract.labels import by_label, names_in
from convengine.schemas.extract.reading import Reading
from convengine.schemas.extract.resolve import AMBIGUOUS, resolve
from convengine.schemas.extract.units import numeric
from convengine.schemas.extract.unmeant import unmeant
from convengine.schemas.form import Field, Form
from convengine.schemas.values import VALUE_VIOLATES_SCHEMA

Json = Any
_UNREADABLE = frozenset({"array", "object"})


@dataclass(frozen=True)
class Extracted:
    """A value that was read, where it stood in the message, and how it was recognised."""

    field: str
    value: Json
    span: tuple[int, int]
    by: str


@dataclass(frozen=True)
class Rejected:
    """Words that looked like a value and were not taken, and why; several values where they leave it in doubt."""

    field: str
    value: Json
    reason: str


@dataclass(frozen=True)
class Extraction:
    """What a message says about a form. A field stands in one of the two at most once."""

    extracted: tuple[Extracted, ...] = ()
    rejected: tuple[Rejected, ...] = ()


def extract(
    form: Form, message: str | None, *, asked: Collection[str] = (), missing: Collection[str] | None = None
) -> Extraction:
    """The values that a message gives, by the paths of their fields. Never raises for what a user typed.

    `asked`: the fields that the user was asked for; when it is one, the whole message may be its value.
    `missing`: the fields that have no value yet; all, when not given.
    """
    if blank(message) or form.problem:
        return Extraction()
    reading = Reading(message or "")
    fields = [field for field in form.leaves if field.type not in _UNREADABLE]
    missing = [field.path for field in fields] if missing is None else missing
    found = resolve(reading, _candidates(reading, form, fields, missing), asked)
    told = [*found.chosen, *found.doubtful]
    left = _answered(reading, form, asked, told) if not found.unmeant.issuperset(asked) else told
    return _judged(reading, form, [one for one in left if one not in found.doubtful], found.doubtful)


def _candidates(reading: Reading, form: Form, fields: Sequence[Field], missing: Collection[str]) -> Iterator[Candidate]:
    """What every reader finds; bare numbers are read when it is known which fields were told otherwise."""
    surer = [*by_label(reading, fields, missing), *free_standing.by_unit(reading, fields)]
    numbers = [one for one in surer if numeric(one.field)]
    claimed = {one.field.path for one in numbers if not unmeant(reading, one.field, one.start, one.end, one.begins)}
    yield from surer
    yield from by_direction(reading, fields)
    yield from free_standing.by_pattern(reading, form, fields)
    yield from free_standing.by_format(reading, fields)
    yield from free_standing.by_choice(reading, fields)
    yield from free_standing.by_shape(reading, fields)
    yield from free_standing.by_number(reading, fields, claimed, free_standing.shaped(fields))


def _answered(reading: Reading, form: Form, asked: Collection[str], found: list[Candidate]) -> list[Candidate]:
    """What was found, and the whole message for the one field that was asked for, if nothing was told about that."""
    field = form.field(next(iter(asked))) if len(asked) == 1 else None
    if field is None or any(one.field.path == field.path for one in found):
        return found
    answer = whole_answer(reading, field)
    if answer is None or (answer.problem and _of_another(reading, form, field)):
        return found
    touched = [one for one in found if one.start < answer.end and answer.start < one.end]
    if not all(one.yields for one in touched):
        return found
    return [*(one for one in found if one not in touched), answer]


def _of_another(reading: Reading, form: Form, field: Field) -> bool:
    """True when a message calls a field by name that was not asked for: it is no attempt at the one that was."""
    return any(name.field is not field for name in names_in(reading, form.leaves))


def _judged(reading: Reading, form: Form, chosen: list[Candidate], doubtful: tuple[Candidate, ...]) -> Extraction:
    """The candidates held against the schema of their fields."""
    extracted: list[Extracted] = []
    rejected: dict[str, Rejected] = {}
    for one in chosen:
        path = one.field.path
        reason = one.problem or (VALUE_VIOLATES_SCHEMA if form.breaks(one.field, one.value) else None)
        if reason:
            rejected[path] = Rejected(path, one.value, reason)
        else:
            extracted.append(Extracted(path, one.value, reading.span(one.start, one.end), one.by))
    for path in dict.fromkeys(one.field.path for one in doubtful):
        values = list(dict.fromkeys(one.value for one in doubtful if one.field.path == path))
        rejected[path] = Rejected(path, values[0] if len(values) == 1 else values, AMBIGUOUS)
    order = {field.path: number for number, field in enumerate(form.leaves)}
    return Extraction(
        tuple(sorted(extracted, key=lambda one: order[one.field])),
        tuple(sorted(rejected.values(), key=lambda one: order[one.field])),
    )
