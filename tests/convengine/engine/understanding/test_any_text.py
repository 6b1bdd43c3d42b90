"""Any text is read, however odd or long it is, and within a bounded time, with a field of every kind open."""

import json
import time
from datetime import UTC, date, datetime
from typing import Any

import pytest

from convengine.engine.forms.message import MOST_CHARACTERS
from convengine.engine.understanding import words
from convengine.engine.understanding.field import Kind, field_spec
from convengine.engine.understanding.finders import FINDERS
from convengine.engine.understanding.form import FormField, OpenForm, list_labels, make_lexicon
from convengine.engine.understanding.language import get_tables
from convengine.engine.understanding.read import read_into_form
from convengine.engine.understanding.reading import Reading
from convengine.engine.understanding.span import RefusalReason, Situation
from convengine.engine.understanding.understand import understand
from tests.pace import allow

FORM: dict[str, dict[str, Any]] = {
    "name": {"title": "Name"},
    "note": {"title": "Note", "x-long": True},
    "size": {"title": "Size", "enum": ["small", "medium", "large"]},
    "day": {"title": "Day", "format": "date"},
    "hour": {"title": "Time", "format": "time"},
    "start": {"title": "Start", "format": "date-time"},
    "length": {"title": "Length", "format": "duration"},
    "people": {"title": "People", "type": "integer"},
    "price": {"title": "Price", "type": "number", "x-currency": "EUR"},
    "phone": {"title": "Phone", "format": "phone"},
    "mail": {"title": "E-mail", "format": "email"},
    "postcode": {"title": "Postcode", "format": "postcode"},
    "account": {"title": "Account", "format": "iban"},
    "driver": {"title": "Driver", "x-kind": "person"},
    "breakfast": {"title": "Breakfast", "type": "boolean"},
    "plate": {"title": "Plate", "pattern": r"[A-Z]{2}-\d+"},
}
SPECS = [field_spec(name, {"type": "string", **declared}) for name, declared in FORM.items()]
FIELDS = tuple(FormField(spec, True, list_labels([spec.title, spec.name])) for spec in SPECS)
#: The days up to the last one of the calendar.
TO_THE_END = (date.max - date(2026, 3, 2)).days
SITUATION = Situation(datetime(2026, 3, 2, 9, tzinfo=UTC), "Europe/Berlin", "en", "de")
LENGTH = 16_384
#: On a quiet core each takes less than a tenth of this.
MOST_SECONDS = 1.0
#: What grows with the square of the length takes 16 times as long. Less time is not compared.
MOST_GROWTH, NOTICED = 8, 0.02

REPEATED = {
    "letters": "x y z q ",
    "one word": "a",
    "digits": "1 2 3 4 5 6 7 8 9 0 ",
    "one number": "1234567890",
    "spaces": " ",
    "lines": "\n5\n",
    "punctuation": ".,;:!?-()/",
    "dates": "12.3.2026 ",
    "days in words": "next Friday the 5th of March at 5 pm ",
    "umlauts": "äöüß Äpfel über ",
    "accents": "a\u0301\u0308",
    "emoji": "😀🎉👍🏽 ",
    "brackets": "([{<",
    "mail": "a.b@c.d.",
    "versions": "1.1.",
    "JSON": json.dumps({"day": "2026-03-05", "people": [1, 2, 3], "name": "Ann"}),
    "amounts": "5 EUR 3 ",
    "contrasts": "not 5 but 6, ",
    "number words": "twenty three hundred and ",
    "a compound": "hundertzwei",
    "people one by one": "one child and ",
    "people in a list": "2 kids 2 kids, ",
    "days after days": "2 days after ",
    "names": "name: my name is 5 ",
    "pieces": "x/the/The The ",
    "orders": "sorry, if not maybe ",
    "spoken addresses": "at x.y at ",
    "written addresses": "a@",
    "codes": "AB-1 ",
    "digits before a code": "1 (",
    "accounts": "DE89 3704 0044 0532 0130 00 ",
    "slips": "smalk mediun largr ",
    "moves": "yes no ",
}


def _read(text: str, asked: str) -> Reading:
    return _read_all(text[:MOST_CHARACTERS], asked)


def _read_all(text: str, asked: str) -> Reading:
    tables = get_tables("en", "de")
    lexicon = make_lexicon(FIELDS, tables.lexicon)
    understanding = understand(text, tables, FINDERS, SPECS, lexicon)
    assert all(word.key for word in understanding.words)
    return read_into_form(understanding, OpenForm(FIELDS, asked_path=asked), FINDERS, SITUATION)


def test_the_form_has_a_field_of_every_kind() -> None:
    assert {spec.kind for spec in SPECS} == {*Kind} - {Kind.OWN}


@pytest.mark.parametrize("part", REPEATED.values(), ids=REPEATED)
@pytest.mark.parametrize("asked", ["note", "people"])
def test_a_long_text_of_anything_is_read_within_a_bounded_time(part: str, asked: str) -> None:
    text = (part * LENGTH)[:LENGTH]
    start = time.process_time()
    _read(text, asked)

    assert time.process_time() - start < allow(MOST_SECONDS)


@pytest.mark.slow
@pytest.mark.parametrize("size", [1_024, pytest.param(8_192, marks=pytest.mark.nightly)])
@pytest.mark.parametrize("part", REPEATED.values(), ids=REPEATED)
def test_four_times_the_text_takes_about_four_times_as_long(
    part: str, size: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    # Without the bound on what is read, which hides how the time grows.
    monkeypatch.setattr(words, "MOST_CHARS", LENGTH)
    monkeypatch.setattr(words, "MOST_WORDS", LENGTH)

    short, long = (min(_measure(part, length) for _ in range(2)) for length in (size // 4, size))

    assert long < MOST_GROWTH * max(short, NOTICED)


def _measure(part: str, size: int) -> float:
    start = time.process_time()
    _read_all((part * size)[:size], "people")
    return time.process_time() - start


@pytest.mark.parametrize(
    "text", ["", "(ﾟ∀ﾟ)", "1⁄2", "⁄", "ᬄ5", "´", "²", "٣", "\x00", "DE89 ²½ 2026 12 2026", "𝟝 people"]
)
@pytest.mark.parametrize("asked", ["note", "people", "account", ""])
def test_signs_that_are_no_letters_do_no_harm(text: str, asked: str) -> None:
    _read(text, asked)


@pytest.mark.parametrize(
    "text",
    ["in 99999999 hours", f"in {TO_THE_END} days at 11pm PST", f"in {TO_THE_END} days at midnight"],
)
def test_a_moment_that_no_calendar_has_is_refused(text: str) -> None:
    assert [item.reason for item in _read(text, "start").refused if item.field == "start"] == [
        RefusalReason.INVALID_DATE
    ]


def test_every_apostrophe_is_one() -> None:
    tables = get_tables("en")

    keys = {understand(f"don{sign}t", tables, FINDERS).words[0].key for sign in "'’‘ʼ`´"}

    assert keys == {"don't"}
