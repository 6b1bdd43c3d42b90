"""Convert the user's text to the value of a field, then validate it (pipeline-1 10.4 (5))."""

import re
from dataclasses import dataclass
from typing import Any

from convengine.engine.forms.form import Field, Form
from convengine.engine.forms.message import read_value
from convengine.engine.forms.spellings import find_choice
from convengine.engine.text.dates import Unclear
from convengine.engine.text.formats import FORMATS
from convengine.engine.text.numbers import read_number, to_json_number
from convengine.engine.understanding.field import Kind
from convengine.engine.understanding.span import Situation

Json = Any

VALUE_INVALID = "VALUE_INVALID"
VALUE_VIOLATES_SCHEMA = "VALUE_VIOLATES_SCHEMA"
TYPE_UNSUPPORTED = "TYPE_UNSUPPORTED"
NULL_NOT_ALLOWED = "NULL_NOT_ALLOWED"
#: Kinds that are taken as they are written, and kinds whose refusals say more than the schema.
_AS_WRITTEN = (Kind.TEXT, Kind.PATTERN)
_CALENDAR = (Kind.DATE, Kind.TIME, Kind.DATE_TIME, Kind.DURATION)
BOOLEANS = {"true": True, "yes": True, "false": False, "no": False}
_LEADING = re.compile(r"(?:[=:,]\s*)+")
_CLOSING = ".?!… \t\r\n"
_COURTESY = re.compile(r"[\s,.!]{0,12}\b(?:please|pls|plz|thanks(?: a lot)?|thank you|thx|cheers)$", re.IGNORECASE)
_QUOTED = re.compile(r"\"(.+)\"|“(.+)”|«(.+)»|'(.+)'")


@dataclass(frozen=True)
class ConvertedValue:
    """A value, or the code of the reason why there is none."""

    value: Json = None
    problem: str | None = None


def clean_value(text: str) -> str:
    """The text without surrounding punctuation, thanks and quotes."""
    text = text.strip()
    if leading := _LEADING.match(text):
        text = text[leading.end() :]
    before = None
    while text != before:
        before = text
        text = _COURTESY.sub("", text.rstrip(_CLOSING))
    quoted = _QUOTED.fullmatch(text.strip())
    return next(part for part in quoted.groups() if part) if quoted else text.strip()


def convert_value(text: str, field: Field, form: Form, situation: Situation | None = None) -> ConvertedValue:
    """Convert a text to the value of a field and validate it.

    `situation`: the user said it, so that it is read as people say values (R114).
    """
    if text.lower() == "null":
        return (
            ConvertedValue(None) if field.nullable or not field.required else ConvertedValue(problem=NULL_NOT_ALLOWED)
        )
    spoken = _read_spoken(text, field, situation) if situation else None
    converted = spoken or _convert_by_choice(text, field) or _convert_by_type(text, field)
    if converted.problem is None and form.breaks(field, converted.value):
        return ConvertedValue(converted.value, VALUE_VIOLATES_SCHEMA)
    return converted


def _read_spoken(text: str, field: Field, situation: Situation) -> ConvertedValue | None:
    """What the finders read; null for free text, and where the schema says better what is wrong."""
    if field.spec.kind in _AS_WRITTEN or field.type in ("array", "object"):
        return None
    reading = read_value(text, field.spec, situation)
    if reading.taken:
        return ConvertedValue(reading.taken[0].value)
    if reading.refused and field.spec.kind in _CALENDAR:
        return ConvertedValue(text, str(reading.refused[0].reason))
    return None


def _convert_by_choice(text: str, field: Field) -> ConvertedValue | None:
    spelling = find_choice(text, field)
    return ConvertedValue(spelling.value) if spelling else None


def _convert_by_type(text: str, field: Field) -> ConvertedValue:
    if field.type in ("array", "object"):
        return ConvertedValue(problem=TYPE_UNSUPPORTED)
    if field.type == "boolean":
        boolean = BOOLEANS.get(text.lower())
        return ConvertedValue(problem=VALUE_INVALID) if boolean is None else ConvertedValue(boolean)
    if field.type in ("integer", "number"):
        number = read_number(text)
        value = to_json_number(number, field.type) if number else None
        return ConvertedValue(problem=VALUE_INVALID) if value is None else ConvertedValue(value)
    return _convert_text(text, field)


def _convert_text(text: str, field: Field) -> ConvertedValue:
    if not text.strip():
        return ConvertedValue(problem=VALUE_INVALID)
    known = FORMATS.get(field.format or "")
    if known is None:
        return ConvertedValue(text)
    try:
        return ConvertedValue(known.read(text))
    except Unclear as unclear:
        return ConvertedValue(text, str(unclear))
