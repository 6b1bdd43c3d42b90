"""Which values a text changes: the clauses, the contrast form, the short form; all or nothing (pipeline-1 10.4)."""

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from convengine.correction.clauses import edit_clauses, sentences
from convengine.correction.fields import FIELD_AMBIGUOUS, FIELD_UNKNOWN, Resolved, resolve_field
from convengine.schemas.extract.unmeant import says_otherwise
from convengine.schemas.form import Field, Form
from convengine.schemas.values import VALUE_INVALID, Converted, cleaned, convert
from convengine.schemas.words import fold, words

Json = Any
_NOT_BUT = re.compile(r"\bnot\s+(?P<old>\S.*?),?\s+but\s+(?P<new>\S.*)", re.IGNORECASE | re.DOTALL)
_NOT = re.compile(
    r"(?P<new>\S.*?),?\s+(?:and\s+)?(?:not|instead of|rather than)\s+(?P<old>\S.*)", re.IGNORECASE | re.DOTALL
)
#: What leads up to a value that stands by itself, and to one behind the name of its field.
_LEAD_IN = re.compile(
    r"^(?:(?:no|oh|wait|sorry|actually|please|well|rather|use|take|make it|it's|its|it is|(?:it )?(?:should|must) be|"
    r"i mean|i meant)\b[\s,.!:]*)+",
    re.IGNORECASE,
)
_IS = re.compile(r"^[\s,]*(?:(?:it\s+)?(?:is|(?:should|must)\s+be)|it's|to|as)\b\s*", re.IGNORECASE)


@dataclass(frozen=True)
class Change:
    """One value that is to be changed."""

    field: Field
    value: Json


@dataclass(frozen=True)
class Patch:
    """What a text changes, or why it changes nothing."""

    changes: tuple[Change, ...] = ()
    reason: str | None = None
    #: What the reason is about, as the user called it or as the schema does.
    field: str | None = None


@dataclass(frozen=True)
class _Wish:
    """A field, named or found, and the words of its new value."""

    phrase: str
    resolved: Resolved
    value: str


def patch_of(text: str, form: Form, context: Mapping[str, Json]) -> Patch:
    """The changes that a text asks for. Nothing is applied unless everything can be."""
    changes: list[Change] = []
    for wish in _wishes(text, form, context):
        field = wish.resolved.field
        if field is None:
            return Patch(reason=wish.resolved.reason, field=wish.phrase)
        found = _converted(wish.value, field, form, context)
        if found.problem:
            return Patch(reason=found.problem, field=field.path)
        changes.append(Change(field, found.value))
    return Patch(tuple(changes)) if changes else Patch(reason=FIELD_UNKNOWN)


def _wishes(text: str, form: Form, context: Mapping[str, Json]) -> list[_Wish]:
    if clauses := edit_clauses(text):
        return [_Wish(clause.field, _named(clause.field, form, context), clause.value) for clause in clauses]
    contrasts = list(_contrasts(text, form, context))
    return contrasts or list(_short(text, form))


def _named(phrase: str, form: Form, context: Mapping[str, Json]) -> Resolved:
    """The field that a phrase names; else the one that holds what it says ("replace Dallas with Irving")."""
    found = resolve_field(phrase, form.fields)
    if found.field or found.reason != FIELD_UNKNOWN:
        return found
    holding = _holding(phrase, form, context)
    return Resolved(holding[0]) if len(holding) == 1 else found


def _short(text: str, form: Form) -> Iterator[_Wish]:
    """ "amount 350000": the one field whose name stands in the text, and what follows it."""
    found = {field.path: (field, end) for field, end in _mentions(text, form)}
    if len(found) == 1:
        ((field, end),) = found.values()
        yield _Wish(field.path, Resolved(field), _IS.sub("", next(sentences(text[end:]))))
    elif found:
        yield _Wish(", ".join(found), Resolved(None, FIELD_AMBIGUOUS), "")


def _mentions(text: str, form: Form) -> Iterator[tuple[Field, int]]:
    """The fields whose names stand in the text, longest names first, with where the name ends."""
    names = sorted(
        ((label, field) for field in form.fields for label in field.labels), key=lambda name: -sum(map(len, name[0]))
    )
    left = text
    for label, field in names:
        pattern = r"(?<![^\W_])" + r"[\s_-]*".join(map(re.escape, label)) + r"(?![^\W_])"
        if match := re.search(pattern, left, re.IGNORECASE):
            left = left[: match.start()] + "\0" * (match.end() - match.start()) + left[match.end() :]
            yield field, match.end()


def _contrasts(text: str, form: Form, context: Mapping[str, Json]) -> Iterator[_Wish]:
    """ "use Irving not Dallas", "not Dallas but Irving": the one text field that holds the old value."""
    for sentence in sentences(text):
        match = _NOT_BUT.search(sentence) or _NOT.match(sentence)
        holding = _holding(match["old"], form, context) if match else []
        if match and len(holding) == 1:
            yield _Wish(holding[0].path, Resolved(holding[0]), _new_value(match["new"], holding[0]))


def _new_value(text: str, field: Field) -> str:
    """The new value without what leads up to it: "no, use Irving", "the city is Irving"."""
    text = _LEAD_IN.sub("", cleaned(text))
    for label in field.labels:
        name = r"^(?:(?:the|my|our)\s+)?" + r"[\s_-]*".join(map(re.escape, label)) + r"(?![^\W_])"
        text = re.sub(name, "", text, flags=re.IGNORECASE)
    return text.strip()


def _holding(said: str, form: Form, context: Mapping[str, Json]) -> list[Field]:
    wanted = words(cleaned(said))
    return [
        field
        for field in form.fields
        if wanted and isinstance(context.get(field.path), str) and words(context[field.path]) == wanted
    ]


def _converted(said: str, field: Field, form: Form, context: Mapping[str, Json]) -> Converted:
    """The value of a field. "Irving, not Dallas" says Irving where Dallas is what the field holds."""
    value = cleaned(said)
    contrast = _NOT.fullmatch(value)
    held = context.get(field.path)
    if contrast and held is not None and fold(cleaned(contrast["old"])) == fold(str(held)):
        value = cleaned(contrast["new"])
    if field.type == "string" and says_otherwise(fold(value), field):
        return Converted(problem=VALUE_INVALID)
    return convert(value, field, form)
