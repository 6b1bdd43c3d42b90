"""Corrections that say the earlier value beside the new one: "Saturday, not Friday", "4pm is too late, 2pm?" (R109)."""

import re
from collections.abc import Mapping
from dataclasses import replace
from functools import partial
from itertools import islice
from typing import Any

from convengine.engine.forms.extract import Extracted, Extraction, extract
from convengine.engine.forms.extract.answer import cut_own_name
from convengine.engine.forms.extract.candidate import VALUE
from convengine.engine.forms.extract.correct_moments import move_months
from convengine.engine.forms.extract.correct_numbers import CLAUSE_GAP, MAX_IN_CLAUSES
from convengine.engine.forms.extract.held_values import (
    MAX_NAME_WORDS,
    NOT_READ,
    is_held,
    measure_minutes,
    read_counted,
    read_held,
)
from convengine.engine.forms.form import Field, Form
from convengine.engine.text.words import fold
from convengine.engine.values import (
    Kind,
    ReadingSituation,
    find_contrasts,
    find_core,
    find_refused_words,
    find_values,
    has_number,
    read_value,
    strip_correction,
)
from convengine.engine.values.date_parts import names_weekday_of, replace_date_part, replace_weekday
from convengine.engine.values.language import Language, get_language
from convengine.engine.values.lone_numbers import find_lone_number
from convengine.engine.values.names import is_name_field, takes_name_of_other
from convengine.engine.values.tokens import fold_text

Json = Any
_CLAUSE_SIGN = re.compile(r"[,;:!?]\s|(?<!\d)\.\s")
#: Behind a value; the full stop of "am 9." belongs to it.
_END_SIGN = re.compile(r"(?:[\s!?]|(?<!\d)\.)+$")
#: How many gaps between clauses, and how many contrasts, are tried.
_MOST_GAPS, _MOST_CONTRASTS = 4, 4


def read_contrast(form: Form, text: str, held: Mapping[str, Json], situation: ReadingSituation) -> Extraction | None:
    """The new value of "not 2 dogs, 3" for the only field that holds the earlier one."""
    changes: dict[str, Json] = {}
    for old, new in islice(find_contrasts(text, situation), _MOST_CONTRASTS):
        for field in form.leaves:
            if field.path in held and field.path not in changes:
                value = _find_new_value(field, held[field.path], old, new, situation)
                if value is not None and value != held[field.path] and not form.breaks(field, value):
                    changes[field.path] = value
    if len(changes) > 1 and (moved := move_months(form, text, held, changes)):
        return moved
    # "Not 2 but 3" may be a day of the month, and hardly is one.
    counts = [path for path in changes if (counted := form.field(path)) and counted.spec.kind is Kind.NUMBER]
    paths = counts if len(changes) > 1 else list(changes)
    if len(paths) != 1:
        return None
    return Extraction((Extracted(paths[0], changes[paths[0]], (0, len(text)), VALUE),))


def read_refused_value(
    form: Form, text: str, held: Mapping[str, Json], situation: ReadingSituation, asked_path: str | None
) -> Extraction | None:
    """The new value behind a clause that refuses the held one: "Friday is no good, Monday?", "the time is bad, 4pm".

    With other values that stand beside the new one: "I can't make Friday, Monday at 10".
    """
    if _is_note(form.field(asked_path) if asked_path else None, situation) and "?" not in text:
        return None
    for gap in islice(CLAUSE_GAP.finditer(text[:MAX_IN_CLAUSES]), _MOST_GAPS):
        old, rest = find_refused_words(text[: gap.start()], situation), text[gap.end() :]
        if not old or not any(map(str.isalnum, rest)):
            continue
        changes = {}
        for field in form.leaves:
            if field.path not in held or field.spec.kind in NOT_READ:
                continue
            is_named = _names_field(field, old, situation)
            value = _read_new(field, held[field.path], "" if is_named else old, rest, situation)
            if value is not None and value != held[field.path] and not form.breaks(field, value):
                changes[field.path] = value
        if len(changes) > 1:  # "I can't do two, only at four" moves the time of 2 people
            spans = find_values([field.spec for field in form.leaves if field.path in changes], rest, situation)
            changes = {path: changes[path] for span in spans[:1] for path in span.readings}
        if len(changes) == 1:
            beside = extract(form, rest, situation=situation, preferred_paths=[list(changes), list(held)])
            added = [item for item in beside.extracted if held.get(item.field, item.value) != item.value]
            own = [Extracted(path, value, (0, len(text)), VALUE) for path, value in changes.items()]
            return Extraction((*own, *(item for item in added if item.field not in changes)))
    return None


def _is_note(field: Field | None, situation: ReadingSituation) -> bool:
    """True for a field that takes any text: it would take the reason of a change, too."""
    language = get_language(situation.locale)
    return field is not None and field.spec.kind is Kind.TEXT and not is_name_field(field.spec, language)


def _names_field(field: Field, words: str, situation: ReadingSituation) -> bool:
    """True for "the time" and "das Datum"."""
    language = get_language(situation.locale)
    names = {*map(fold_text, field.spec.words), *language.words["kind_names"].get(field.spec.kind.value, ())}
    return names.issuperset(token.text for token in language.read_tokens(words).tokens)


def _read_new(field: Field, held: Json, old: str, new: str, situation: ReadingSituation) -> Json:
    """The new value of a field that holds the old one; without an old one, the only value that the words have."""
    if old:
        return _find_new_value(field, held, old, _END_SIGN.sub("", new), situation, may_add=True)
    plain = _END_SIGN.sub("", strip_correction(new, situation))
    value = read_held(field, find_core(plain, situation), held, replace(situation, is_asked=True))
    if value is None:
        spans = find_values([field.spec], plain, situation)
        value = spans[0].readings[field.path].value if len(spans) == 1 else None
    return value


def _find_new_value(
    field: Field, held: Json, old: str, new: str, situation: ReadingSituation, *, may_add: bool = False
) -> Json:
    """The new value of a field that holds the old one, which small words may surround; null for others.

    `may_add`: the caller reads the other values beside the new one.
    """
    plain = strip_correction(cut_own_name(new, field), situation)
    value = _replace_value(field, held, old, plain, situation)
    if value is not None or field.spec.kind is Kind.TEXT:
        return value
    old_core, core = find_core(old, situation), find_core(plain, situation)
    if not _CLAUSE_SIGN.search(plain):  # "We were 5 last time, balcony rather than stalls"
        value = _replace_value(field, held, old_core, core, situation)  # "Can you make it the 21st, not the 20th"
    if value is not None or not _holds(field, old_core, held, situation):
        return value
    if field.spec.kind is Kind.NUMBER:
        # "It's going to be 5 people, not 4", "just me, not 2"
        readings = [span.readings[field.path] for span in find_values([field.spec], new, situation)]
        return next((reading.value for reading in readings), find_lone_number(field.spec, new, situation).value)
    spans = find_values([field.spec], plain, situation)
    if _CLAUSE_SIGN.search(plain) or len(spans) != 1:
        return None
    words = plain[spans[0].start : spans[0].end]
    if not may_add and has_number(plain.replace(words, ""), situation):
        return None
    value = _replace_value(field, held, old_core, words, situation)
    return spans[0].readings[field.path].value if value is None else value


def _replace_value(field: Field, held: Json, old: str, new: str, situation: ReadingSituation) -> Json:
    """The new value of a field that holds the old one; null for others. Of a name, one word may be replaced."""
    if field.spec.kind is Kind.TEXT:
        language = get_language(situation.locale)
        words, new_words = str(held).split(), new.split()
        while new_words and _leads_to_name(new_words[0], language):
            new_words = new_words[1:]  # "She's called Ivy, not Theo"
        old_words = find_core(old, situation).split()
        is_name = is_name_field(field.spec, language) or takes_name_of_other(field.spec, language)
        if not is_name or not new_words or len(new_words) > MAX_NAME_WORDS:
            return None
        folded = [fold(word) for word in words]
        if fold(old) == fold(str(held)):
            return " ".join(new_words)
        if len(old_words) != 1 or folded.count(fold(old_words[0])) != 1:
            return None
        if len(new_words) == 1:
            words[folded.index(fold(old_words[0]))] = new_words[0]
            return " ".join(words)
        # "It's Olivia Nguyen, not Oliver"
        return " ".join(new_words) if len(new_words) == len(words) else None
    if field.spec.kind is Kind.DATE_TIME and isinstance(held, str):
        situation = replace(situation, known_part=held[:16])  # "At 10 instead of 9", "Tuesday instead of Monday"
    if field.spec.kind is Kind.DATE and isinstance(held, str):
        local = replace(situation, is_asked=True)
        if replace_date_part(field.spec, held, old, local).value == held:
            return replace_date_part(field.spec, held, new, local).value  # "March, not May"
        if day := replace_weekday(field.spec, held, old, new, local).value:
            return day  # "The Sunday, not the Saturday"
    if not is_held(field, old, held, situation):
        return None
    value = read_counted(field, new, old, situation)
    if value is None and field.spec.kind is Kind.TIME:
        return min(read_value(field.spec, new, situation).candidates, key=partial(measure_minutes, held), default=None)
    return value


def _holds(field: Field, old: str, held: Json, situation: ReadingSituation) -> bool:
    """True when the words are the value that the field holds, or the weekday of its day."""
    is_day = field.spec.kind is Kind.DATE and isinstance(held, str)
    return is_held(field, old, held, situation) or (is_day and names_weekday_of(held, old, situation))


def _leads_to_name(word: str, language: Language) -> bool:
    """True for the words of "her surname is"."""
    tables = ("sentence_words", "naming_verbs", "copulas", "name_fields", "possessives")
    return any(language.is_in(table, fold_text(word)) for table in tables)
