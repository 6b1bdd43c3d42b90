"""Corrections of days and times: moved, in part, near the ones that are held (R109)."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import Any

from convengine.engine.forms.extract import Extracted, Extraction, Rejected, extract
from convengine.engine.forms.extract.candidate import VALUE
from convengine.engine.forms.extract.day_order import is_day_field, is_of_other_event
from convengine.engine.forms.extract.held_values import measure_minutes
from convengine.engine.forms.extract.reading import Reading
from convengine.engine.forms.form import Field, Form
from convengine.engine.values import (
    Kind,
    ReadingSituation,
    cut_kept,
    denies,
    find_shift,
    find_values,
    is_correction,
    lengthens,
    read_value,
    strip_correction,
)
from convengine.engine.values.calendar_math import shift_moment
from convengine.engine.values.choices import stem_words
from convengine.engine.values.date_parts import replace_date_part
from convengine.engine.values.date_times import read_time_limit
from convengine.engine.values.language import get_language
from convengine.engine.values.reading import NOTHING, Reason
from convengine.engine.values.tokens import fold_text

Json = Any
#: Kinds that a message may change in one clause and explain in another.
MOMENTS = (Kind.DATE, Kind.TIME, Kind.DATE_TIME)
#: Which part of a stored date and time a new half is completed with.
_HALVES = {Reason.DATE_MISSING.value: slice(0, 10), Reason.TIME_MISSING.value: slice(11, 16)}
_HALF_DAY, HOUR = 12 * 60, 60


def find_held_times(form: Form, held: Mapping[str, Json]) -> dict[str, str]:
    """The times (`HH:MM`) of the moments that the fields hold, by path: a change is near them."""
    moments = ((field.path, held.get(field.path)) for field in form.leaves if field.spec.kind is Kind.DATE_TIME)
    return {path: value[11:16] for path, value in moments if isinstance(value, str)}


def read_date_part(form: Form, text: str, held: Mapping[str, Json], situation: ReadingSituation) -> Extraction | None:
    """The only day that the form holds and that takes the year or month that is all of a correction: "nein, 2017"."""
    if denies(text, situation):
        return None  # "Not the 11th"
    rest, local = strip_correction(text, situation).strip(" .!"), replace(situation, is_asked=True)
    days = [field for field in form.leaves if field.spec.kind is Kind.DATE and isinstance(held.get(field.path), str)]
    changed = {field.path: replace_date_part(field.spec, held[field.path], rest, local).value for field in days}
    new = [(path, day) for path, day in changed.items() if day and day != held[path]]
    if len(new) > 1 and (moved := move_months(form, text, held, dict(new))):
        return moved
    return Extraction((Extracted(*new[0], (0, len(text)), VALUE),)) if len(new) == 1 else None


def move_months(form: Form, text: str, held: Mapping[str, Json], changes: Mapping[str, Json]) -> Extraction | None:
    """All days that a form holds in one month, in another month: "that has to be October, not September"."""
    old, new = ({str(values[path])[:7] for path in changes} for values in (held, changes))
    stay = all(str(held[path])[7:] == str(day)[7:] for path, day in changes.items())
    others = (held[field.path] for field in form.leaves if is_day_field(field) and field.path in held.keys() - changes)
    if not stay or len(old) != 1 or len(new) != 1 or any(str(day)[:7] in old for day in others):
        return None
    return Extraction(tuple(Extracted(path, day, (0, len(text)), VALUE) for path, day in changes.items()))


def read_new_moment(
    form: Form, text: str, held: Mapping[str, Json], situation: ReadingSituation, asked_path: str | None
) -> Extraction | None:
    """A message that gives the missing time and another day beside it: "we'd collect it on 18 June at 5pm"."""
    days, times = ([field for field in form.leaves if field.spec.kind is kind] for kind in (Kind.DATE, Kind.TIME))
    if len(days) != 1 or len(times) != 1 or days[0].path not in held or times[0].path in held or "?" in text:
        return None
    day, time = days[0], times[0]
    if asked_path == day.path or not isinstance(held[day.path], str):
        return None
    spans = find_values([day.spec, time.spec], text, situation)
    paths = [next(iter(span.readings)) for span in spans if len(span.readings) == 1]
    if sorted(paths) != sorted([day.path, time.path]) or len(spans) != 2:
        return None
    beside = text[spans[0].end : spans[1].start]
    reading, values = Reading(text), {path: span.readings[path] for path, span in zip(paths, spans, strict=True)}
    new = values[day.path]
    start = spans[paths.index(day.path)].start
    is_beside = len(beside.split()) <= 1 and not any(sign in beside for sign in ".,;")
    if not is_beside or not new.has_value or new.value == held[day.path] or form.breaks(day, new.value):
        return None
    if is_of_other_event(reading, day, start) or reading.is_denied(start, start):
        return None
    extraction = extract(form, text, situation=situation)
    changed = {item.field: item.value for item in extraction.extracted}
    return extraction if changed.get(day.path) == new.value and time.path in changed else None


def read_shift(
    form: Form, text: str, held: Mapping[str, Json], situation: ReadingSituation, asked_path: str | None
) -> Extraction | None:
    """The moments that are "an hour later" than those of the fields that the message names, else of the only one."""
    moments = [field for field in form.leaves if field.spec.kind in MOMENTS]
    fields = [field for field in moments if field.path in held]
    plain = cut_kept(text, situation)
    named, names = _find_named_moments(fields, moments, plain, situation)
    parts = find_shift(plain, situation, names)
    asked_field = form.field(asked_path) if asked_path else None
    if parts is None:
        return None
    kind = Kind.TIME if set(parts) <= {"hour", "minute"} else Kind.DATE
    if lengthens(text, situation):
        named = _find_end(form, held, asked_field) if kind is Kind.DATE else []
        fields = []
    if not named and asked_field is not None and asked_field.spec.kind in (kind, Kind.DATE_TIME, Kind.DURATION):
        return None
    fields = [field for field in named or fields if field.spec.kind in (kind, Kind.DATE_TIME)]
    if not fields or (not named and len(fields) > 1):
        return None
    extracted, rejected = [], []
    for field in fields:
        value = shift_moment(str(held[field.path]), parts)
        reading = read_value(field.spec, value, replace(situation, earlier_days={})) if value else NOTHING
        if reading.has_value:
            extracted.append(Extracted(field.path, reading.value, (0, len(text)), VALUE))
        elif reading.reason:
            rejected.append(Rejected(field.path, text, reading.reason.value, reading.data))
    return Extraction(tuple(extracted), tuple(rejected)) if extracted or rejected else None


def read_new_limit(form: Form, text: str, held: Mapping[str, Json], situation: ReadingSituation) -> Extraction | None:
    """Why a correction that only limits the only time, "can we do after 6 instead", is none."""
    times = [field for field in form.leaves if field.spec.kind is Kind.TIME]
    if len(times) != 1 or times[0].path not in held or not is_correction(text, situation):
        return None
    limit = read_time_limit(times[0].spec, text, situation)
    rejected = Rejected(times[0].path, text, limit.reason.value, limit.data) if limit.reason else None
    return Extraction(rejected=(rejected,)) if rejected else None


def _find_end(form: Form, held: Mapping[str, Json], asked_field: Field | None) -> list[Field]:
    """The later one of the only two days, which "one day longer" moves, unless the form asks how long."""
    days = [field for field in form.leaves if field.path in held and field.spec.kind is Kind.DATE]
    lengths = [field for field in form.leaves if field.spec.kind is Kind.DURATION]
    if len(days) != 2 or lengths or (asked_field is not None and asked_field.spec.kind is Kind.NUMBER):
        return []
    return [max(days, key=lambda field: str(held[field.path]))]


def _find_named_moments(
    fields: Sequence[Field], moments: Sequence[Field], text: str, situation: ReadingSituation
) -> tuple[list[Field], frozenset[str]]:
    """The fields that the words of their titles name, else those of their questions, and the words that do so.

    "Wir reisen einen Tag später ab" names "Abreise", and "everything" names all. `moments`: all that the form asks for.
    """
    language = get_language(situation.locale)
    words = [token.text for token in language.read_tokens(text).tokens]
    ends = words[-1:] if language.words.get("joins_words") else []
    stems = {word: set(stem_words(word, language)) for word in words}
    stems |= {f"{end} {word}": set(stem_words(end + word, language)) for end in ends for word in words[:-1]}
    if any(language.is_in("all_of_them", word) for word in words):
        return list(fields), frozenset(word for word in words if language.is_in("all_of_them", word))
    units = {*(language.slots["unit"].values or {}), *(language.slots["time_unit"].values or {})}
    for is_title in (True, False):
        own = {
            field.path: {
                stem
                for word in (field.spec.words if is_title else field.spec.question)
                if not (language.is_in("fillers", word) or fold_text(word) in units)
                for stem in stem_words(fold_text(word), language)
            }
            for field in moments
        }
        telling = {
            field.path: own[field.path].difference(*(own[other.path] for other in moments if other is not field))
            for field in fields
        }
        named = [field for field in fields if any(telling[field.path] & item for item in stems.values())]
        if named:
            everything = set().union(*own.values())
            names = {part for word, item in stems.items() if item & everything for part in word.split()}
            return named, frozenset(names)
    return [], frozenset()


def complete_moments(
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
        values = values or (
            sorted(readings[0].candidates, key=partial(measure_minutes, value)) if len(readings) == 1 else []
        )
        if values and not form.breaks(field, values[0]) and measure_minutes(value, values[0]) < _HALF_DAY:
            extracted.append(Extracted(refused.field, values[0], (spans[0].start, spans[-1].end), VALUE))
        else:
            rejected.append(refused)
    return Extraction(tuple(extracted), tuple(rejected))
