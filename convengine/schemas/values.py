"""From the words of a user to the value of a field: by its type, then held against its schema (pipeline-1 10.4 (5))."""

import re
from dataclasses import dataclass
from typing import Any

from convengine.schemas.choices import choice_of
from convengine.schemas.dates import Unclear
from convengine.schemas.form import Field, Form
from convengine.schemas.formats import FORMATS
from convengine.schemas.numbers import as_json, read_number

Json = Any

VALUE_INVALID = "VALUE_INVALID"
VALUE_VIOLATES_SCHEMA = "VALUE_VIOLATES_SCHEMA"
TYPE_UNSUPPORTED = "TYPE_UNSUPPORTED"
NULL_NOT_ALLOWED = "NULL_NOT_ALLOWED"
BOOLEANS = {"true": True, "yes": True, "false": False, "no": False}
_LEADING = re.compile(r"(?:[=:,]\s*)+")
_CLOSING = ".?!… \t\r\n"
_COURTESY = re.compile(r"[\s,.!]{0,12}\b(?:please|pls|plz|thanks(?: a lot)?|thank you|thx|cheers)$", re.IGNORECASE)
_QUOTED = re.compile(r"\"(.+)\"|“(.+)”|«(.+)»|'(.+)'")


@dataclass(frozen=True)
class Converted:
    """A value, or the code of why there is none."""

    value: Json = None
    problem: str | None = None


def cleaned(text: str) -> str:
    """The words of a value: without marks before and after it, thanks, and quotes around it."""
    text = text.strip()
    if leading := _LEADING.match(text):
        text = text[leading.end() :]
    before = None
    while text != before:
        before = text
        text = _COURTESY.sub("", text.rstrip(_CLOSING))
    quoted = _QUOTED.fullmatch(text.strip())
    return next(part for part in quoted.groups() if part) if quoted else text.strip()


def convert(text: str, field: Field, form: Form) -> Converted:
    """The value that a text gives a field, held against the field's own schema."""
    if text.lower() == "null":
        return Converted(None) if field.nullable or not field.required else Converted(problem=NULL_NOT_ALLOWED)
    found = _by_choice(text, field) or _by_type(text, field)
    if found.problem is None and form.breaks(field, found.value):
        return Converted(found.value, VALUE_VIOLATES_SCHEMA)
    return found


def _by_choice(text: str, field: Field) -> Converted | None:
    spelling = choice_of(text, field)
    return Converted(spelling.value) if spelling else None


def _by_type(text: str, field: Field) -> Converted:
    if field.type in ("array", "object"):
        return Converted(problem=TYPE_UNSUPPORTED)
    if field.type == "boolean":
        said = BOOLEANS.get(text.lower())
        return Converted(problem=VALUE_INVALID) if said is None else Converted(said)
    if field.type in ("integer", "number"):
        number = read_number(text)
        value = as_json(number, field.type) if number else None
        return Converted(problem=VALUE_INVALID) if value is None else Converted(value)
    return _text(text, field)


def _text(text: str, field: Field) -> Converted:
    if not text.strip():
        return Converted(problem=VALUE_INVALID)
    known = FORMATS.get(field.format or "")
    if known is None:
        return Converted(text)
    try:
        return Converted(known.read(text))
    except Unclear as unclear:
        return Converted(text, str(unclear))
