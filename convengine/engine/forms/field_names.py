"""Which field a phrase means: points for its name, its title, its description (pipeline-1 10.4 (4))."""

from collections.abc import Sequence
from dataclasses import dataclass

from convengine.engine.forms.edit_phrases import find_edit_clauses
from convengine.engine.forms.form import Field, Form, Json
from convengine.engine.text.words import Words, has_no_content, occurs_in, split_name, split_words

FIELD_UNKNOWN = "FIELD_UNKNOWN"
FIELD_AMBIGUOUS = "FIELD_AMBIGUOUS"


@dataclass(frozen=True)
class ResolvedField:
    """The field that a phrase means, or the reason why none."""

    field: Field | None
    reason: str | None = None


def resolve_field(phrase: str, fields: Sequence[Field]) -> ResolvedField:
    """The field with the most points; FIELD_AMBIGUOUS for a tie, FIELD_UNKNOWN when nothing matches.

    Words without meaning of their own ("it", "this") never name a field.
    """
    readings = [asked for asked in (split_words(phrase), split_name(phrase)) if not has_no_content(asked)]
    points = [max((_score_field(asked, field) for asked in readings), default=0) for field in fields]
    best = max(points, default=0)
    if best == 0:
        return ResolvedField(None, FIELD_UNKNOWN)
    winners = [field for field, found in zip(fields, points, strict=True) if found == best]
    return ResolvedField(winners[0]) if len(winners) == 1 else ResolvedField(None, FIELD_AMBIGUOUS)


def resolves_to_one_field(text: str | None, schema: Json) -> bool:
    """True when the text has an explicit "set FIELD to VALUE" for exactly one field of the schema."""
    fields = Form(schema).fields
    return any(resolve_field(clause.field, fields).field is not None for clause in find_edit_clauses(text))


def _score_field(asked: Words, field: Field) -> int:
    if asked in field.labels or asked == field.description:
        return 3
    if any(occurs_in(asked, label) for label in field.labels):
        return 2
    return 1 if occurs_in(asked, field.description) else 0
