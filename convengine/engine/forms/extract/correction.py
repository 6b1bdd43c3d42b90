"""Corrections of what a form holds already: "actually make it Tuesday", "no, the 5th", "doch lieber um vier" (R109).

The kind of the value chooses the field when none is named. `extract` reads the values.
"""

from collections.abc import Collection, Mapping
from dataclasses import replace
from functools import partial
from typing import Any

from convengine.engine.forms.extract import Extracted, Extraction, extract
from convengine.engine.forms.extract.candidate import VALUE
from convengine.engine.forms.extract.labels import find_mentions
from convengine.engine.forms.extract.reading import Reading
from convengine.engine.forms.extract.sentence_values import list_specs, read_inclusions
from convengine.engine.forms.form import Field, Form
from convengine.engine.values import (
    Kind,
    ReadingSituation,
    blank_leading_no,
    find_values,
    has_only_fillers,
    is_correction,
    read_value,
    strip_correction,
)
from convengine.engine.values.reading import Reason

Json = Any
#: A value of one of these kinds says which field it is for, also without words of a correction.
_TELLING = (Kind.DATE, Kind.TIME, Kind.DATE_TIME, Kind.CHOICE, Kind.EMAIL, Kind.PHONE, Kind.YES_NO)
_NOT_READ = (Kind.TEXT, Kind.YES_NO)
#: Which part of a stored date and time a new half is completed with.
_HALVES = {Reason.DATE_MISSING.value: slice(0, 10), Reason.TIME_MISSING.value: slice(11, 16)}
_HALF_DAY = 12 * 60
#: Longest message that is a value and nothing else, and longest that only names a field, in characters.
_MAX_BARE = 80
_MAX_NAMING = 60


def read_correction(
    form: Form,
    text: str,
    held: Mapping[str, Json],
    situation: ReadingSituation,
    *,
    asked_path: str | None = None,
    is_expected: bool = False,
) -> Extraction | None:
    """What a message changes, with all other values in it; null if it corrects nothing.

    `held`: the values by path. `is_expected`: the last answer asked what to change.
    """
    if not held or form.problem:
        return None
    if not (is_expected or is_correction(text, situation)) and not _is_bare(form, text, held, situation, asked_path):
        return None
    preferred = [[asked_path] if asked_path else [], list(held)]
    extraction = extract(form, text, situation=situation, preferred_paths=preferred)
    if _changes(extraction, held):
        return _complete_moments(form, text, extraction, held, situation)
    plain = blank_leading_no(text, situation)
    if plain != text:
        extraction = extract(form, plain, situation=situation, preferred_paths=preferred)
        if _changes(extraction, held) and not _chooses(form, extraction, held):
            return _complete_moments(form, plain, extraction, held, situation)
    return _read_whole_correction(form, text, held, situation, asked_path)


def find_fields_to_ask_again(
    form: Form, text: str, held: Collection[str], situation: ReadingSituation, *, is_expected: bool = False
) -> list[str]:
    """The fields that a message wants to change without a new value: "change the date", "the phone number is wrong"."""
    if len(text) > _MAX_NAMING or not (is_expected or is_correction(text, situation)):
        return []
    reading = Reading(text)
    mentions = find_mentions(reading, [field for field in form.leaves if field.path in held])
    return [
        name.field.path
        for name in mentions
        if not reading.is_question(name.start) and not reading.is_denied(name.start, name.start)
    ]


def _complete_moments(
    form: Form, text: str, extraction: Extraction, held: Mapping[str, Json], situation: ReadingSituation
) -> Extraction:
    """The extraction with the other half of a date and time from the value that it changes: "make it 8pm".

    Of two halves of the day, the nearer one to the earlier time is meant: after 20:00, "7:30" is 19:30.
    """
    extracted, rejected = list(extraction.extracted), []
    for refused in extraction.rejected:
        field, value = form.field(refused.field), held.get(refused.field)
        if field is None or not isinstance(value, str) or field.spec.kind not in (Kind.TIME, Kind.DATE_TIME):
            rejected.append(refused)
            continue
        known = value[_HALVES[refused.reason]] if refused.reason in _HALVES else ""
        spans = find_values([field.spec], text, replace(situation, known_part=known))
        readings = [reading for span in spans for reading in span.readings.values()]
        values = [readings[0].value] if len(readings) == 1 and readings[0].has_value else []
        values = values or (sorted(readings[0].candidates, key=partial(_measure, value)) if len(readings) == 1 else [])
        if values and not form.breaks(field, values[0]) and _measure(value, values[0]) < _HALF_DAY:
            extracted.append(Extracted(refused.field, values[0], (spans[0].start, spans[-1].end), VALUE))
        else:
            rejected.append(refused)
    return Extraction(tuple(extracted), tuple(rejected))


def _measure(held: str, value: str) -> int:
    """The minutes between the times of day of two values."""
    times = [text[11:16] if "T" in text else text[:5] for text in (held, value)]
    first, second = (int(time[:2]) * 60 + int(time[3:5]) for time in times)
    return abs(first - second)


def _read_whole_correction(
    form: Form, text: str, held: Mapping[str, Json], situation: ReadingSituation, asked_path: str | None
) -> Extraction | None:
    """The rest of "nein, der 5." as the value of the only field that takes it."""
    rest = strip_correction(text, situation)
    if not rest or rest == text:
        return None
    unread = _NOT_READ if blank_leading_no(text, situation) == text else (*_NOT_READ, Kind.CHOICE)
    local = replace(situation, is_asked=False)
    readings = {
        field: reading
        for field in form.leaves
        if (field.path in held or field.path == asked_path) and field.spec.kind not in unread
        if (reading := read_value(field.spec, rest, local)).has_value
    }
    if len(readings) != 1:
        return None
    ((field, reading),) = readings.items()
    if field.path not in held or reading.value == held[field.path] or form.breaks(field, reading.value):
        return None
    start = text.index(rest)
    return Extraction((Extracted(field.path, reading.value, (start, start + len(rest)), VALUE),))


def _changes(extraction: Extraction, held: Mapping[str, Json]) -> bool:
    """True when a field gets another value, or one that is refused."""
    if any(refused.field in held for refused in extraction.rejected):
        return True
    return any(item.field in held and item.value != held[item.field] for item in extraction.extracted)


def _chooses(form: Form, extraction: Extraction, held: Mapping[str, Json]) -> bool:
    """True when a choice changes: "no pain" does not choose the pain."""
    fields = [form.field(item.field) for item in extraction.extracted if item.field in held]
    return any(field is not None and field.spec.kind is Kind.CHOICE for field in fields)


def _is_bare(
    form: Form, text: str, held: Mapping[str, Json], situation: ReadingSituation, asked_path: str | None
) -> bool:
    """True when a message is another value of a field that has one, and says nothing else: "Tuesday please"."""
    asked_field = form.field(asked_path) if asked_path else None
    if len(text) > _MAX_BARE or (asked_field is not None and asked_field.spec.long):
        return False
    is_text_asked = asked_field is not None and asked_field.spec.kind is Kind.TEXT
    fields = [field for field in form.leaves if _is_telling(field, is_text_asked)]
    if not any(field.path in held for field in fields):
        return False
    reading = Reading(text)
    spans = [
        (span.start, span.end, tuple(span.readings)) for span in find_values(list_specs(form, fields), text, situation)
    ]
    inclusions = read_inclusions(reading, [field for field in fields if field.spec.kind is Kind.YES_NO], situation)
    spans += [(*reading.span(item.start, item.end), (item.field.path,)) for item in inclusions]
    spans.sort()
    if not any(asked_path not in paths and any(path in held for path in paths) for _, _, paths in spans):
        return False
    ends = [0, *(end for _, end, _ in spans)]
    starts = [*(start for start, _, _ in spans), len(text)]
    return has_only_fillers((text[end:start] for end, start in zip(ends, starts, strict=True)), situation)


def _is_telling(field: Field, is_text_asked: bool) -> bool:
    return field.spec.kind in _TELLING and not (is_text_asked and field.spec.kind is Kind.CHOICE)
