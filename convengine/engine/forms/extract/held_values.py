"""Compare what a message says with the value that a field holds (R109)."""

from collections.abc import Mapping
from dataclasses import replace
from functools import partial
from typing import Any

from convengine.engine.forms.extract import Extraction
from convengine.engine.forms.extract.answer import is_plausible_text
from convengine.engine.forms.form import Field
from convengine.engine.text.words import fold
from convengine.engine.values import (
    FieldSpec,
    Kind,
    ReadingSituation,
    read_value,
)
from convengine.engine.values.language import get_language
from convengine.engine.values.names import is_name_field

Json = Any
NOT_READ = (Kind.TEXT, Kind.YES_NO)
#: A number with a unit of these kinds counts nothing: "3 pm", "3 Stunden".
_MEASURED = (Kind.TIME, Kind.DATE, Kind.DURATION)
#: Longest name in words, and how alike (0 to 100) a corrected name is to the earlier one.
MAX_NAME_WORDS = 4
_MIN_LIKENESS = 70.0


def is_like_held(field: Field, words: str, held: Json, situation: ReadingSituation) -> bool:
    """True for a text of the same shape as the one that a field holds: a name, or words with a number."""
    if field.spec.kind is not Kind.TEXT or field.spec.long or words == held or not is_plausible_text(words, field):
        return False
    if is_retyped_text(field, words, held, situation):
        return True
    texts = (words, str(held))
    is_numbered = all(any(char.isdigit() for char in text) and any(map(str.isalpha, text)) for text in texts)
    return is_numbered and len(words.split()) <= MAX_NAME_WORDS + 1


def read_held(field: Field, words: str, held: Json, situation: ReadingSituation) -> Json:
    """The value of the words for a field that holds one; of two halves of the day, the nearer one. Null for none."""
    known = held[:10] if field.spec.kind is Kind.DATE_TIME and isinstance(held, str) else ""
    reading = read_value(field.spec, words, replace(situation, known_part=known))
    if reading.has_value or field.spec.kind not in (Kind.TIME, Kind.DATE_TIME):
        return reading.value if reading.has_value else None
    return min(reading.candidates, key=partial(measure_minutes, held), default=None)


def is_retyped_text(field: Field, words: str, held: Json, situation: ReadingSituation) -> bool:
    """True for a text that may be the last answer without its typing error."""
    from rapidfuzz import fuzz

    if field.spec.kind is not Kind.TEXT or words == held or len(words.split()) > MAX_NAME_WORDS + 1:
        return False
    is_close = fuzz.ratio(fold(words), fold(str(held))) >= _MIN_LIKENESS
    if is_name_field(field.spec, get_language(situation.locale)):
        # "No wait, Rosa", not "sorry, one moment".
        is_written_as_name = words[:1].isupper() and words.rsplit(maxsplit=1)[-1][0].isupper()
        is_name = is_plausible_text(words, field) and words.replace(" ", "").replace("-", "").isalpha()
        return is_name and (is_close or is_written_as_name)
    return is_close


def is_alike(field: Field, words: str, held: Json) -> bool:
    """True for words that may be the text of a field without its error."""
    from rapidfuzz import fuzz

    is_text = field.spec.kind is Kind.TEXT and not field.spec.long and 0 < len(words.split()) <= MAX_NAME_WORDS + 1
    return is_text and words != held and fuzz.ratio(fold(words), fold(str(held))) >= _MIN_LIKENESS


def measure_minutes(held: str, value: str) -> int:
    """The minutes between the times of day of two values."""
    times = [text[11:16] if "T" in text else text[:5] for text in (held, value)]
    first, second = (int(time[:2]) * 60 + int(time[3:5]) for time in times)
    return abs(first - second)


def is_held(field: Field, old: str, held: Json, situation: ReadingSituation) -> bool:
    """True when the words are the value that the field holds."""
    if field.spec.kind in NOT_READ:
        return False
    if read_counted(field, old, old, situation) == held:
        return True
    return held in read_value(field.spec, old, replace(situation, held_days={}, earlier_days={})).candidates


def read_counted(field: Field, words: str, others: str, situation: ReadingSituation) -> Json:
    """The value of the words; of a number, also before a noun that only the other value or nothing may contradict."""
    value = read_value(field.spec, words, situation)
    if value.has_value or field.spec.kind is not Kind.NUMBER:
        return value.value if value.has_value else None
    number, _, noun = words.partition(" ")
    others_noun = others.partition(" ")[2]
    if not noun or " " in noun or (others_noun and others_noun.casefold() != noun.casefold()):
        return None
    if any(read_value(FieldSpec(field.path, kind), words, situation).has_value for kind in _MEASURED):
        return None
    return read_value(field.spec, number, situation).value


def changes_values(extraction: Extraction, held: Mapping[str, Json]) -> bool:
    """True when a field gets another value, or one that is refused."""
    if any(refused.field in held for refused in extraction.rejected):
        return True
    return any(item.field in held and item.value != held[item.field] for item in extraction.extracted)
