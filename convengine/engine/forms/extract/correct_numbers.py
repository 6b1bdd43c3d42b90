"""Corrections of numbers: told bare, as a total, as one more or fewer (R109)."""

import re
from collections.abc import Mapping, Sequence
from typing import Any

from convengine.engine.forms.asking import (
    has_leaving_clause,
    is_courtesy,
)
from convengine.engine.forms.extract import Extracted, Extraction, Rejected
from convengine.engine.forms.extract.candidate import VALUE
from convengine.engine.forms.extract.correct_moments import HOUR
from convengine.engine.forms.extract.held_values import measure_minutes, read_held
from convengine.engine.forms.extract.sentence_values import list_specs
from convengine.engine.forms.form import Field, Form
from convengine.engine.values import (
    Kind,
    ReadingSituation,
    denies,
    find_bare_number,
    find_total,
    find_values,
    has_only_fillers,
    is_correction,
    read_value,
)
from convengine.engine.values.differences import find_difference
from convengine.engine.values.language import get_language

Json = Any
#: Between the clauses of a message, also before one that gives a reason.
CLAUSE_GAP = re.compile(
    r"[,;:!?]+(?:\s+|$)|\.\s+|\.$|\s[–-]+\s|\s+(?=(?:as|because|since|cos|cause|so|but|and|weil|da|denn|also|aber|und)\s)",
    re.IGNORECASE,
)
MAX_IN_CLAUSES = 300
#: Fewer words tell no reason: "thank you".
_FEWEST_REASON_WORDS = 2


def read_total(
    form: Form,
    text: str,
    held: Mapping[str, Json],
    situation: ReadingSituation,
    asked_path: str | None,
    earlier: Sequence[Field],
) -> Extraction | None:
    """The number of "so 2" for the count that was answered last, where the asked field takes no number."""
    asked_field, number = form.field(asked_path) if asked_path else None, find_total(text, situation)
    last = next(iter(earlier), None)
    if number is None or asked_field is None or last is None or last.spec.kind is not Kind.NUMBER:
        return None
    if asked_field.spec.kind not in (Kind.YES_NO, Kind.CHOICE, Kind.TEXT):
        return None
    value = read_value(last.spec, number, situation).value
    if value is None or value == held[last.path] or form.breaks(last, value):
        return None
    return Extraction((Extracted(last.path, value, (0, len(text)), VALUE),))


def read_bare_number(
    form: Form,
    number: str,
    span: tuple[int, int],
    held: Mapping[str, Json],
    situation: ReadingSituation,
    asked_path: str | None,
    earlier: Sequence[Field],
    *,
    is_cardinal: bool = False,
    names_field: bool = False,
    is_hour: bool = False,
) -> Extraction | None:
    """The number of "make it 11" for the only field that takes it.

    While a field is asked for, it may be one of several: of a time and a count, the time if it is nearer, else the
    field that was answered last, `earlier`. Nothing if the asked field takes it. `is_cardinal`: it is no
    day of the month, and so for the only count if that was answered just before the day that is asked for.
    `names_field`: the message says which field it is for. `is_hour`: it is a time.
    """
    asked_field = form.field(asked_path) if asked_path else None
    counts = [field for field in form.leaves if field.spec.kind is Kind.NUMBER]
    recounts = is_cardinal and asked_field is not None and asked_field.spec.kind is Kind.DATE and earlier[:1] == counts
    if asked_field is not None and asked_field.spec.kind is not Kind.TEXT and not recounts:
        answer = read_value(asked_field.spec, number, situation)
        if answer.has_value or answer.candidates:
            return None
    changes: list[tuple[float, Extracted]] = []
    for field in counts if recounts else form.leaves:
        is_time = field.spec.kind in (Kind.TIME, Kind.DATE_TIME)
        takes = field.path in held and (is_time or not is_hour)
        value = read_number(field, number, held[field.path], situation) if takes else None
        if value is None or value == held[field.path] or form.breaks(field, value):
            continue
        distance = measure_minutes(held[field.path], value) / HOUR if is_time else abs(value - held[field.path])
        changes.append((distance, Extracted(field.path, value, span, VALUE)))
    times = [change for change in changes if isinstance(change[1].value, str)]
    if len(changes) > 1 and not asked_path and not names_field:
        return None  # It is asked which one is meant.
    if len(changes) > 1 and (len(times) != 1 or min(changes, key=lambda change: change[0]) is not times[0]):
        last = earlier[0].path if asked_path and earlier else ""
        return next((Extraction((change,)) for _, change in changes if change.field == last), None)
    return Extraction(((times or changes)[0][1],)) if changes else None


def find_number_with_reason(form: Form, text: str, situation: ReadingSituation) -> str | None:
    """The number of "you know what, make it 80, she's turning 80": one clause corrects, those behind it tell why.

    Null if the others correct, ask, deny, or may be a value themselves. Another number there counts something else.
    """
    clauses = [clause for clause in CLAUSE_GAP.split(text[:MAX_IN_CLAUSES]) if clause.strip()]
    while len(clauses) > 1 and is_courtesy(clauses[0]):
        clauses = clauses[1:]
    first = clauses[0] if clauses else ""
    number = find_bare_number(first, situation) if is_correction(first, situation) else None
    if number is None or "?" in text or has_leaving_clause(text):
        return None
    reason = text[text.index(first) + len(first) :]
    words = [token.text for token in get_language(situation.locale).read_tokens(reason).tokens]
    if is_courtesy(reason) or (len(words) < _FEWEST_REASON_WORDS and number not in words):
        return None
    if _counts_other(words, number, situation) or is_correction(reason, situation) or denies(reason, situation):
        return None
    plain = " ".join(word for word in words if word != number)
    is_value = find_values(list_specs(form, form.leaves), plain, situation) or find_bare_number(plain, situation)
    return None if is_value else number


def _counts_other(words: Sequence[str], number: str, situation: ReadingSituation) -> bool:
    """True when a word is another number and no noun follows it: "make it 3, or 4"."""
    language = get_language(situation.locale)
    for index, word in enumerate(words):
        if word != number and (word.isdigit() or language.number_words.get(word, 1) != 1):
            noun = words[index + 1] if index + 1 < len(words) else ""
            if not noun.isalpha() or has_only_fillers([noun], situation):
                return True
    return False


def read_number(field: Field, number: str, held: Json, situation: ReadingSituation) -> Json:
    """The value of a bare number for a field that holds another one; null if it takes none."""
    if field.spec.kind in (Kind.NUMBER, Kind.MONEY):
        return read_value(field.spec, number, situation).value
    if field.spec.kind not in (Kind.TIME, Kind.DATE_TIME) or not isinstance(held, str):
        return None
    return read_held(field, number, held, situation)


def read_difference(
    form: Form, text: str, held: Mapping[str, Json], situation: ReadingSituation, asked_path: str | None
) -> Extraction | None:
    """The number that is "one more" than that of the count that is named, or of the only one that the form holds."""
    counts = [
        field for field in form.leaves if field.spec.kind is Kind.NUMBER and isinstance(held.get(field.path), int)
    ]
    matches = [(field, item) for field in counts if (item := find_difference(field.spec, text, situation))]
    asked_field = form.field(asked_path) if asked_path else None
    asks_number = asked_field is not None and asked_field.spec.kind is Kind.NUMBER
    if len(matches) != 1 or (not matches[0][1][1] and (asks_number or len(counts) > 1)):
        return None
    field, (difference, _) = matches[0]
    value = read_value(field.spec, str(held[field.path] + difference), situation)
    if value.has_value and not form.breaks(field, value.value):
        return Extraction((Extracted(field.path, value.value, (0, len(text)), VALUE),))
    return Extraction(rejected=(Rejected(field.path, text, value.reason.value, value.data),)) if value.reason else None
