from datetime import datetime
from typing import Any
from zoneinfo import ZoneInfo

import pytest

from convengine.engine.forms.extract import Extraction
from convengine.engine.forms.extract.correction import find_fields_to_ask_again, read_correction
from convengine.engine.forms.form import Form
from convengine.engine.values import ReadingSituation
from tests.convengine.engine.forms.extract.test_sentence_values import DENTIST, NOW

FORM = Form({"type": "object", "properties": DENTIST})
HELD = {
    "name": "John Smith", "reason": "CLEAN", "date": "2026-11-25", "time": "15:00", "guests": 2,
    "phone": "+447700900123", "email": "ann@example.org",
}  # fmt: skip


def make_situation(locale: str) -> ReadingSituation:
    return ReadingSituation(NOW, "Europe/London", locale)


def correct(text: str, locale: str = "en-GB", *, held: Any = None, **options: Any) -> Extraction | None:
    return read_correction(FORM, text, HELD if held is None else held, make_situation(locale), **options)


def get_values(extraction: Extraction | None) -> dict[str, Any]:
    return {finding.field: finding.value for finding in extraction.extracted} if extraction else {}


@pytest.mark.parametrize(
    ("text", "values"),
    [
        ("actually make it Thursday", {"date": "2026-11-26"}),
        ("no, the 5th", {"date": "2026-12-05"}),
        ("no the 5th", {"date": "2026-12-05"}),
        ("change the time to 4pm", {"time": "16:00"}),
        ("change the time to 16:30 and the date to Friday", {"time": "16:30", "date": "2026-11-27"}),
        ("sorry, I meant Monday", {"date": "2026-11-30"}),
        ("not 3 but 4pm", {"time": "16:00"}),
        ("wrong number, it's 07700 900124", {"phone": "+447700900124"}),
        ("can we make it pain instead?", {"reason": "PAIN"}),
        ("no make it 6 people", {"guests": 6}),
        ("Friday would be better", {"date": "2026-11-27"}),
        ("no, bob@example.org", {"email": "bob@example.org"}),
        ("sorry, my name is Jon Smyth", {"name": "Jon Smyth"}),
        ("change the name to Ann Lee", {"name": "Ann Lee"}),
        ("Friday at 4pm instead", {"date": "2026-11-27", "time": "16:00"}),
    ],
)
def test_a_value_of_a_correction_goes_to_the_field_of_its_kind(text: str, values: dict[str, Any]) -> None:
    assert get_values(correct(text)) == values


@pytest.mark.parametrize(
    ("text", "values"),
    [
        ("doch lieber Donnerstag", {"date": "2026-11-26"}),
        ("nein, der 5.", {"date": "2026-12-05"}),
        ("nein Freitag", {"date": "2026-11-27"}),
        ("stimmt nicht, am Freitag", {"date": "2026-11-27"}),
        ("nein, um 16 Uhr", {"time": "16:00"}),
        ("ändere die Uhrzeit auf 16 Uhr", {"time": "16:00"}),
        ("Entschuldigung, ich meinte Montag", {"date": "2026-11-30"}),
        ("doch nicht am Mittwoch, sondern am Donnerstag", {"date": "2026-11-26"}),
        ("lieber wegen Zahnschmerzen", {"reason": "PAIN"}),
        ("falsche Nummer, 07700 900124", {"phone": "+447700900124"}),
    ],
)
def test_a_german_correction_is_read_the_same(text: str, values: dict[str, Any]) -> None:
    assert get_values(correct(text, "de-DE")) == values


@pytest.mark.parametrize(
    ("text", "values"),
    [
        ("Thursday", {"date": "2026-11-26"}),
        ("Thursday please", {"date": "2026-11-26"}),
        ("can I come on Friday?", {"date": "2026-11-27"}),
        ("4pm", {"time": "16:00"}),
        ("bob@example.org", {"email": "bob@example.org"}),
    ],
)
def test_a_value_alone_changes_the_field_that_has_one(text: str, values: dict[str, Any]) -> None:
    assert get_values(correct(text)) == values


@pytest.mark.parametrize(
    "text",
    ["how much is it?", "I have had pain since Friday", "thanks", "is there parking on Fridays?", "no pain",
     "no problem", "sorry, what does a cleaning cost?", "John Smith", "12", "I was there on Monday", "the 25th",
     "does it hurt?"],
)  # fmt: skip
def test_other_messages_change_nothing(text: str) -> None:
    assert get_values(correct(text)) == {}


def test_without_a_held_value_nothing_is_a_correction() -> None:
    assert correct("actually make it Tuesday", held={}) is None
    assert correct("actually make it Tuesday", held={"name": "Ann"}) is None


def test_the_rest_of_the_message_is_read_too() -> None:
    held = {key: HELD[key] for key in ("name", "date")}

    assert get_values(correct("actually make it Thursday at 3pm", held=held)) == {"date": "2026-11-26", "time": "15:00"}


@pytest.mark.parametrize(
    ("text", "field", "reason"),
    [
        ("no, 30 February", "date", "INVALID_DATE"),
        ("make it 7pm", "time", "OUT_OF_BOUNDS"),
        ("actually next friday", "date", "AMBIGUOUS"),
    ],
)
def test_a_new_value_that_is_refused_says_why(text: str, field: str, reason: str) -> None:
    extraction = correct(text)

    assert extraction is not None
    assert [(refused.field, refused.reason) for refused in extraction.rejected] == [(field, reason)]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("make it 8pm", "2026-11-25T20:00:00+00:00"),
        ("no, on Friday", "2026-11-27T19:00:00+00:00"),
        ("no wait, at 7:30", "2026-11-25T19:30:00+00:00"),
        ("make it 8 in the morning", "2026-11-25T08:00:00+00:00"),
    ],
)
def test_half_of_a_date_and_time_keeps_the_other_half(text: str, expected: str) -> None:
    form = Form({"type": "object", "properties": {"when": {"type": "string", "format": "date-time"}}})
    held = {"when": "2026-11-25T19:00:00+00:00"}

    assert get_values(read_correction(form, text, held, make_situation("en-GB"))) == {"when": expected}


STAY = Form(
    {
        "type": "object",
        "properties": {
            "arrival": {"title": "Check-in", "format": "date"},
            "departure": {"title": "Check-out", "format": "date"},
        },
    }
)


def test_the_asked_field_takes_the_value_of_another_of_its_kind() -> None:
    situation = make_situation("en-GB")
    held = {"arrival": "2026-11-27"}

    assert read_correction(STAY, "no, Sunday", held, situation, asked_path="departure") is None
    assert get_values(read_correction(STAY, "no, Sunday", held, situation)) == {"arrival": "2026-11-29"}
    assert get_values(read_correction(STAY, "no, check-in on Sunday", held, situation, asked_path="departure")) == {
        "arrival": "2026-11-29"
    }


def test_with_two_values_of_a_kind_only_a_named_one_changes() -> None:
    held = {"arrival": "2026-11-27", "departure": "2026-11-29"}

    assert read_correction(STAY, "no, Saturday", held, make_situation("en-GB")) is None


@pytest.mark.parametrize(
    ("text", "is_expected", "fields"),
    [
        ("change the date", False, ["date"]),
        ("the phone is wrong", False, ["phone"]),
        ("no, change the name", False, ["name"]),
        ("the date", True, ["date"]),
        ("date and time", True, ["date", "time"]),
        ("the date", False, []),
        ("don't change the date", False, []),
        ("what is your phone number?", True, []),
    ],
)
def test_a_field_that_is_named_without_a_value_is_asked_for_again(
    text: str, is_expected: bool, fields: list[str]
) -> None:
    assert find_fields_to_ask_again(FORM, text, HELD, make_situation("en-GB"), is_expected=is_expected) == fields


def test_an_expected_change_needs_no_words_of_a_correction() -> None:
    assert get_values(correct("6 people", is_expected=True)) == {"guests": 6}
    assert get_values(correct("the name Ann Lee", is_expected=True)) == {"name": "Ann Lee"}


def test_the_clock_of_a_replay_reads_the_same() -> None:
    later = ReadingSituation(datetime(2027, 11, 24, 10, tzinfo=ZoneInfo("Europe/London")), "Europe/London", "en-GB")

    assert get_values(read_correction(FORM, "no, 5 December", HELD, make_situation("en-GB"))) == {"date": "2026-12-05"}
    assert get_values(read_correction(FORM, "no, 5 December", HELD, later)) == {"date": "2027-12-05"}
