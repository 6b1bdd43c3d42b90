"""Which field a phrase means: points for its name, its title, its description (pipeline-1 10.4 (4))."""

from collections.abc import Sequence
from dataclasses import dataclass

from convengine.correction.clauses import edit_clauses
from convengine.schemas.form import Field, Form, Json
from convengine.schemas.words import Words, name_words, run_in, says_nothing, words

FIELD_UNKNOWN = "FIELD_UNKNOWN"
FIELD_AMBIGUOUS = "FIELD_AMBIGUOUS"


@dataclass(frozen=True)
class Resolved:
    """The one field that was meant, or why there is none."""

    field: Field | None
    reason: str | None = None


def resolve_field(phrase: str, fields: Sequence[Field]) -> Resolved:
    """The field with the most points; FIELD_AMBIGUOUS for a tie, FIELD_UNKNOWN when nothing fits.

    Words that name nothing by themselves ("it", "this") never name a field.
    """
    readings = [asked for asked in (words(phrase), name_words(phrase)) if not says_nothing(asked)]
    points = [max((_points(asked, field) for asked in readings), default=0) for field in fields]
    best = max(points, default=0)
    if best == 0:
        return Resolved(None, FIELD_UNKNOWN)
    winners = [field for field, found in zip(fields, points, strict=True) if found == best]
    return Resolved(winners[0]) if len(winners) == 1 else Resolved(None, FIELD_AMBIGUOUS)


def resolves_to_one_field(text: str | None, schema: Json) -> bool:
    """True when the text holds an explicit "set FIELD to VALUE" that means one field of the schema (8.2, row 4a)."""
    fields = Form(schema).fields
    return any(resolve_field(clause.field, fields).field is not None for clause in edit_clauses(text))


def _points(asked: Words, field: Field) -> int:
    if asked in field.labels or asked == field.description:
        return 3
    if any(run_in(asked, label) for label in field.labels):
        return 2
    return 1 if run_in(asked, field.description) else 0
