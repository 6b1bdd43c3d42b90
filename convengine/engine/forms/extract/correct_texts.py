"""Corrections of names and other texts: by the name of the field, by introducing somebody, by likeness (R109)."""

import re
from collections.abc import Mapping
from typing import Any

from convengine.engine.forms.extract import Extracted, Extraction
from convengine.engine.forms.extract.answer import is_plausible_text
from convengine.engine.forms.extract.candidate import VALUE
from convengine.engine.forms.extract.held_values import is_alike, is_like_held, is_retyped_text
from convengine.engine.forms.extract.reading import Reading
from convengine.engine.forms.extract.sentence_values import read_introduced_names
from convengine.engine.forms.form import Form
from convengine.engine.values import (
    Kind,
    ReadingSituation,
    cut_to_other_name,
    find_values,
    is_only_slip,
    strip_correction,
    strip_tail,
)
from convengine.engine.values.language import get_language
from convengine.engine.values.names import find_name_behind, is_name_field, is_small_name, takes_name_of_other

Json = Any
#: "The street is Rosenstraße 12b", folded.
_NAMED_TEXT = re.compile(
    r"(?:(?:the|my|our|die|der|das|meine?|unsere?)\s+)?(?P<name>[^\W\d_]{3,})\s*"
    r"(?:\s(?:is|should\s+be|must\s+be|has\s+to\s+be|needs\s+to\s+be|ist|lautet|heisst|soll|sollte|muss|müsste)\s|[:=])\s*"
    r"(?:(?:actually|now|eigentlich|jetzt|doch|richtig)\s+)*(?:(?:hers|his|theirs|ours|ihrer|seiner|unserer)\s*,\s*)?"
    r"(?!(?:hers|his|theirs|ours|ihrer|seiner|unserer)\W*$)(?P<value>\S.*?)(?:\s(?:sein|lauten|hei(?:ss|ß)en))?"
)


def read_named_text(
    form: Form, text: str, held: Mapping[str, Json], situation: ReadingSituation, asked_path: str | None
) -> Extraction | None:
    """The new text of a field that its title or a word of it names: "the street is Rosenstraße 12b"."""
    reading = Reading(strip_correction(text, situation))
    match = _NAMED_TEXT.fullmatch(reading.text.rstrip(" .!"))
    if match is None or "?" in text:
        return None
    name = match["name"]
    fields = [field for field in form.leaves if name in field.spec.words]
    if len(fields) != 1 or fields[0].path not in held or fields[0].path == asked_path:
        return None
    field, words = fields[0], _strip_slip_behind(reading.quote(*match.span("value")), situation)
    if not is_like_held(field, words, held[field.path], situation) or form.breaks(field, words):
        return None
    start = text.rindex(words)
    return Extraction((Extracted(field.path, words, (start, start + len(words)), VALUE),))


def read_new_names(
    form: Form, text: str, held: Mapping[str, Json], situation: ReadingSituation, asked_path: str | None
) -> Extraction | None:
    """The other names that a message introduces for fields that hold one: "her name is Ivy, so change that too"."""
    asked_field, language = form.field(asked_path) if asked_path else None, get_language(situation.locale)
    if "?" in text or (
        asked_field is not None
        and (is_name_field(asked_field.spec, language) or takes_name_of_other(asked_field.spec, language))
    ):
        return None
    reading = Reading(strip_correction(text, situation))
    others = [field for field in form.leaves if field.path in held and takes_name_of_other(field.spec, language)]
    names = read_introduced_names(reading, others, situation, [])
    changed = [
        name for name in names if name.value != held[name.field.path] and not form.breaks(name.field, name.value)
    ]
    return (
        Extraction(tuple(Extracted(name.field.path, name.value, (0, len(text)), VALUE) for name in changed))
        if changed
        else None
    )


def read_other_name(
    form: Form, text: str, held: Mapping[str, Json], situation: ReadingSituation, asked_path: str | None
) -> Extraction | None:
    """The name of "put it under Omar Khan instead" for the only name that the form holds."""
    language = get_language(situation.locale)
    names = [field for field in form.leaves if is_name_field(field.spec, language)]
    if len(names) != 1 or names[0].path not in held or names[0].path == asked_path:
        return None
    field, value = names[0], held[names[0].path]
    others = [other.spec for other in form.leaves if other.spec.kind is not Kind.TEXT]
    for words in (
        cut_to_other_name(text, situation),
        "" if asked_path or "?" in text else find_name_behind(text, language),
    ):
        is_new = is_retyped_text(field, words, value, situation) if words else False
        is_new = is_new or (words != value and is_small_name(words, language))
        if is_new and not (form.breaks(field, words) or find_values(others, words, situation)):  # "Book it for Friday"
            start = text.find(words)
            return Extraction((Extracted(field.path, words, (start, start + len(words)), VALUE),))
    return None


def _strip_slip_behind(words: str, situation: ReadingSituation) -> str:
    """The value of "DEL RR 19, typo": without a last clause that only tells of a slip."""
    *first, last = re.split(r"\s*(?:[,;!]|\s[–-])\s+", words)
    return words[: words.rindex(last)].rstrip(" ,;!–-") if first and is_only_slip(last, situation) else words


def read_alike_text(
    form: Form, text: str, held: Mapping[str, Json], situation: ReadingSituation, asked_path: str | None
) -> Extraction | None:
    """The text of "I meant John Smith" or "I mean 12 Elm Road", if it is like that of only one field."""
    rest = strip_tail(strip_correction(text, situation).strip(" .!"), situation)
    asked_field = form.field(asked_path) if asked_path else None
    if rest == text or (asked_field is not None and asked_field.spec.kind is Kind.TEXT):
        return None
    fields = [field for field in form.leaves if field.path in held and is_alike(field, rest, held[field.path])]
    if len(fields) != 1 or not is_plausible_text(rest, fields[0]) or form.breaks(fields[0], rest):
        return None
    start = text.index(rest)
    return Extraction((Extracted(fields[0].path, rest, (start, start + len(rest)), VALUE),))
