"""A language is a folder of tables and no code: a small invented one books a table."""

from datetime import UTC, datetime
from typing import Any

import pytest

from convengine.engine.understanding.field import field_spec
from convengine.engine.understanding.finders import FINDERS
from convengine.engine.understanding.form import FormField, OpenForm, list_labels, make_lexicon
from convengine.engine.understanding.language import make_tables
from convengine.engine.understanding.read import read_into_form
from convengine.engine.understanding.span import Situation
from convengine.engine.understanding.understand import understand

NUMBERS = ["uno", "duo", "tre", "quar", "quin", "ses", "sep", "oct", "nov", "dek"]
WEEKDAYS = ["luna", "mara", "merka", "jova", "vena", "satra", "sola"]
WORDS: dict[str, Any] = {
    "classes": {
        "filler": ["mi", "vole", "ki", "la", "en"],
        "courtesy": ["pliz", "saluto"],
        "joint": ["e"],
        "denial": ["ne"],
        "supposition": ["forsan"],
        "correction": ["korekto"],
        "opening": {"ya": "yes", "na": "no"},
    },
    "move": [
        {"means": "AFFIRM", "text": ["ya", "bone"]},
        {"means": "NEGATE", "text": ["na"]},
        {"means": "SKIP", "text": ["nulo", "pasa"]},
    ],
}
CALENDAR: dict[str, Any] = {
    "values": [
        {"class": "weekday", "words": [[number, word] for number, word in enumerate(WEEKDAYS)]},
        {"class": "number_word", "words": [[number, word] for number, word in enumerate(NUMBERS, start=1)]},
        {"class": "month", "words": [[12, "dekembro"]]},
    ],
    "date": [
        {"means": "relative_day", "relative_day": 1, "text": ["demano"]},
        {"means": "weekday", "text": ["en {weekday}"]},
        {"means": "day_of_month", "text": ["{month_day} {month}"]},
    ],
    "month_day": [{"means": "value", "text": ["{day_number}", "{number_word}"]}],
    "day": [{"means": "value", "text": ["{date}"]}],
}
NUMBER_TABLE: dict[str, Any] = {
    "number_value": [{"means": "value", "text": ["{numeral}", "{number_word}"]}],
    "number": [
        {"means": "number", "weak": True, "text": ["{number_value}"]},
        {"means": "number", "text": ["{number_value} homi"]},
    ],
}
FIELDS = (
    FormField(field_spec("guests", {"type": "integer", "title": "homi"}), True, list_labels(["homi"])),
    FormField(field_spec("day", {"type": "string", "format": "date", "title": "dio"}), True, list_labels(["dio"])),
    FormField(field_spec("chair", {"type": "boolean", "title": "sedilo"}), True, list_labels(["sedilo"])),
    FormField(field_spec("note", {"type": "string", "title": "noto"}), False, list_labels(["noto"])),
)
SITUATION = Situation(datetime(2026, 11, 24, 9, tzinfo=UTC))


@pytest.mark.parametrize(
    ("asked_path", "message", "expected"),
    [
        ("guests", "mi vole en vena, quar homi pliz", {"guests": 4, "day": "2026-11-27"}),
        ("guests", "ses", {"guests": 6}),
        ("day", "demano pliz", {"day": "2026-11-25"}),
        ("day", "5 dekembro", {"day": "2026-12-05"}),
        ("day", "ne en vena", {}),
        ("chair", "ya pliz", {"chair": True}),
        ("note", "nulo", {"note": None}),
        ("note", "na", {"note": None}),
    ],
)
def test_a_language_of_tables_alone_books_a_table(asked_path: str, message: str, expected: dict[str, Any]) -> None:
    tables = make_tables("xx", [[WORDS, CALENDAR, NUMBER_TABLE]], {})
    form = OpenForm(FIELDS, {}, asked_path)
    lexicon = make_lexicon(FIELDS, tables.lexicon)
    understanding = understand(message, tables, FINDERS, [item.spec for item in FIELDS], lexicon)

    reading = read_into_form(understanding, form, FINDERS, SITUATION)

    empty: dict[str, Any] = dict.fromkeys(reading.cleared)
    assert {item.field: item.value for item in reading.taken} | empty == expected


PHRASES: dict[str, Any] = {
    "small": ["por"],
    "forms": ["tablo tabli", "anulo_de nuligo"],
    "related": ["mango kosto"],
}
