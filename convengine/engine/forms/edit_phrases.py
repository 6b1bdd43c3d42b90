"""Phrases that change a value, such as "set FIELD to VALUE": find them in a text, and the field that each names.

(pipeline-1 10.4 (1), (4))
"""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import islice

from convengine.engine.forms.form import Field, Form, Json
from convengine.engine.rules.patterns import MAX_INPUT
from convengine.engine.text.words import Words, has_no_content, occurs_in, split_name, split_words

FIELD_UNKNOWN = "FIELD_UNKNOWN"
FIELD_AMBIGUOUS = "FIELD_AMBIGUOUS"
#: How many joints of a sentence are examined: nobody changes more values at once.
_MAX_JOINTS = 20
_VERB = r"(?:change|set|update|make|correct|replace)"
_ARTICLE = r"(?:(?:the|my|our)\s+)?"
_FIELD_IS_VALUE = rf"{_ARTICLE}(?P<field>\S.{{0,59}}?)(?:\s+(?:to|as|with)\s+|\s*[=:]\s*)(?P<value>\S.*)"
_CLAUSE = re.compile(rf"\b{_VERB}\s+{_FIELD_IS_VALUE}", re.IGNORECASE | re.DOTALL)
_WITHOUT_VERB = re.compile(_FIELD_IS_VALUE, re.IGNORECASE | re.DOTALL)
_INNER_VERB = re.compile(rf"\b{_VERB}\s", re.IGNORECASE)
#: Words allowed between two verbs of one clause: "make sure to change …".
_LEAD_IN = re.compile(r"(?:sure|certain|it)?\s*(?:to|that|you|please|\s)*", re.IGNORECASE)
#: A verb after one of these is no request: "please don't change …", "why did you change …".
_UNWANTED = re.compile(
    r"\b(?:not|never|without|don[’']?t|didn[’']?t|won[’']?t|shouldn[’']?t|"
    r"(?:why|when|who|what|how|did|have|has|was|were)\s+(?:did\s+|have\s+|has\s+|was\s+)?"
    r"(?:you|he|she|it|they|we|i|somebody|someone|the)?)\b",
    re.IGNORECASE,
)
_JOINT = re.compile(r",?\s+and\s+|,\s+", re.IGNORECASE)
_SENTENCE_END = re.compile(r"[.?!]+(?=\s|$)")
#: Words whose full stop does not end a sentence.
_ABBREVIATED = re.compile(r"\b(?:st|mt|ft|mr|mrs|ms|dr|prof|jr|sr|ave|blvd|inc|ltd|co|\w)$", re.IGNORECASE)


@dataclass(frozen=True)
class EditClause:
    """One "set FIELD to VALUE", with both texts as written."""

    field: str
    value: str


def find_edit_clauses(text: str | None) -> tuple[EditClause, ...]:
    """The explicit edits in a text, in order. Later clauses may omit the verb."""
    return tuple(clause for piece in split_sentences((text or "")[:MAX_INPUT]) for clause in _split_clauses(piece))


def split_sentences(text: str) -> Iterator[str]:
    """Split the text after full stops, question marks and exclamation marks that a blank or the end follows."""
    start = 0
    for end in _SENTENCE_END.finditer(text):
        if end.group() == "." and end.end() < len(text) and _ABBREVIATED.search(text[start : end.start()]):
            continue
        yield text[start : end.start()].strip()
        start = end.end()
    yield text[start:].strip()


def _split_clauses(piece: str) -> Iterator[EditClause]:
    """Split one sentence at "and" and commas, but only if both sides are clauses."""
    start, first = 0, True
    for joint in islice(_JOINT.finditer(piece), _MAX_JOINTS):
        clause = _parse_clause(piece[start : joint.start()], verb_needed=first)
        if clause and _parse_clause(piece[joint.end() :], verb_needed=False):
            yield clause
            start, first = joint.end(), False
    if last := _parse_clause(piece[start:], verb_needed=first):
        yield last


def _parse_clause(part: str, *, verb_needed: bool) -> EditClause | None:
    match = _CLAUSE.search(part) or (None if verb_needed else _WITHOUT_VERB.match(part))
    if match and _UNWANTED.search(part, 0, match.start()):
        return None
    while match and (inner := _INNER_VERB.search(part, match.start("field"), match.end("field"))):
        # In "make sure to change the amount to 5" the clause begins at the last verb before its field. Any other words
        # between two verbs are a clause that was not understood; half a correction must not count as a whole one.
        if not _LEAD_IN.fullmatch(part, match.start("field"), inner.start()):
            return None
        match = _CLAUSE.match(part, inner.start()) or None
    return EditClause(match["field"].strip(), match["value"].strip()) if match else None


@dataclass(frozen=True)
class ResolvedField:
    """The field that a phrase means, or the reason why none."""

    field: Field | None
    reason: str | None = None


def resolve_field(phrase: str, fields: Sequence[Field]) -> ResolvedField:
    """The field with the most points for its name, title and description.

    FIELD_AMBIGUOUS for a tie, FIELD_UNKNOWN when nothing matches. Words without meaning of their own ("it",
    "this") never name a field.
    """
    readings = [words for words in (split_words(phrase), split_name(phrase)) if not has_no_content(words)]
    points = [max((_score_field(reading, field) for reading in readings), default=0) for field in fields]
    best = max(points, default=0)
    if best == 0:
        return ResolvedField(None, FIELD_UNKNOWN)
    winners = [field for field, score in zip(fields, points, strict=True) if score == best]
    return ResolvedField(winners[0]) if len(winners) == 1 else ResolvedField(None, FIELD_AMBIGUOUS)


def resolves_to_one_field(text: str | None, schema: Json) -> bool:
    """True when the text has an explicit "set FIELD to VALUE" for exactly one field of the schema."""
    fields = Form(schema).fields
    return any(resolve_field(clause.field, fields).field is not None for clause in find_edit_clauses(text))


def _score_field(words: Words, field: Field) -> int:
    if words in field.labels or words == field.description:
        return 3
    if any(occurs_in(words, label) for label in field.labels):
        return 2
    return 1 if occurs_in(words, field.description) else 0
