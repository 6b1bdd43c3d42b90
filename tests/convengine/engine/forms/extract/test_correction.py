import time
from dataclasses import replace
from datetime import UTC, datetime
from typing import Any
from zoneinfo import ZoneInfo

import pytest

from convengine.engine.forms.extract import Extraction
from convengine.engine.forms.extract.correction import (
    find_fields_to_ask_again,
    find_possible_fields,
    read_correction,
    read_named_field,
)
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
        ("not 2 guests, 3", {"guests": 3}),
        ("sorry just me, not 2", {"guests": 1}),
        ("wait, could you come at 4 instead", {"time": "16:00"}),
        ("the date should be the 26th not the 25th", {"date": "2026-11-26"}),
        ("it's 3 not 2", {"guests": 3}),
        ("3 instead of 2", {"guests": 3}),
        ("from 2 to 3 pm", {}),
        ("Friday at 4pm instead", {"date": "2026-11-27", "time": "16:00"}),
        ("not 2 people, 3", {"guests": 3}),
        ("not two but three", {"guests": 3}),
        ("3 people not 2", {"guests": 3}),
        ("4 people", {"guests": 4}),
        ("thursday not wednesday", {"date": "2026-11-26"}),
        ("4pm instead of 3", {"time": "16:00"}),
        ("change 3pm to 4pm", {"time": "16:00"}),
        ("sorry that should be 4pm", {"time": "16:00"}),
        ("the time's wrong, it should be 4pm", {"time": "16:00"}),
        ("my name is actually Jon Smith", {"name": "Jon Smith"}),
        ("I meant Jon Smith", {"name": "Jon Smith"}),
        ("it's Smyth not Smith", {"name": "John Smyth"}),
        ("Jon Smith, not John Smith", {"name": "Jon Smith"}),
        ("I meant Bob Miller", {}),
        ("not 5 but 6", {}),
        ("could it be a day later", {"date": "2026-11-26"}),
        ("an hour later please", {"time": "16:00"}),
        ("half an hour earlier", {"time": "14:30"}),
        ("sorry, we're 5 now", {"guests": 5}),
        ("actually make it 11", {"time": "11:00"}),
        ("can we do 10 instead", {"time": "10:00"}),
        ("change the time to 4", {"time": "16:00"}),
        ("yes now is good", {}),
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
        ("nicht 2 sondern 3 Personen", {"guests": 3}),
        ("nicht 2, sondern 3", {"guests": 3}),
        ("3 statt 2 Gäste", {"guests": 3}),
        ("nicht Mittwoch, Donnerstag", {"date": "2026-11-26"}),
        ("nicht 4 sondern 5", {}),
        ("lieber wegen Zahnschmerzen", {"reason": "PAIN"}),
        ("eine Stunde später bitte", {"time": "16:00"}),
        ("doch lieber 11", {"time": "11:00"}),
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
     "does it hurt?", "not a cleaning", "anything but a check-up", "thanks cleaning"],
)  # fmt: skip
def test_other_messages_change_nothing(text: str) -> None:
    assert get_values(correct(text)) == {}


@pytest.mark.parametrize(
    ("text", "values"),
    [
        ("no wait, Rosa", {"name": "Rosa"}), ("oops jon smyth", {"name": "jon smyth"}), ("sorry one moment", {}),
        ("sorry mate", {}), ("sorry, driving", {}), ("hold on one minute", {}), ("sorry agent", {}),
    ],
)  # fmt: skip
def test_an_apology_is_no_name(text: str, values: dict[str, Any]) -> None:
    assert get_values(correct(text, held={"name": "John Smith"}, asked_path="phone")) == values


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
        ("change time to 20:00", "time", "OUT_OF_BOUNDS"),
        ("change time to 8 pm", "time", "OUT_OF_BOUNDS"),
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


COURT = Form(
    {
        "type": "object",
        "properties": {
            "start": {"type": "string", "format": "time", "x-min": "08:00", "x-max": "21:00"},
            "length": {"type": "string", "x-kind": "duration", "title": "Length"},
            "players": {
                "type": "integer",
                "title": "Players",
                "x-ask": "How many players?",
                "minimum": 2,
                "maximum": 12,
            },
            "inside": {"type": "boolean", "title": "Inside too"},
        },
    }
)
COURT_HELD = {"start": "09:00", "players": 2}


@pytest.mark.parametrize(
    ("text", "values"),
    [
        ("actually 4", {"players": 4}),
        ("no, 4", {"players": 4}),
        ("so 4", {"players": 4}),
        ("that makes 4", {"players": 4}),
        ("hang on, 3 with my brother", {"players": 3}),
        ("actually we're 4 now", {"players": 4}),
        ("actually make it 10am", {"start": "10:00"}),
    ],
)
def test_a_number_corrects_the_count_that_was_answered_last(text: str, values: dict[str, Any]) -> None:
    situation = make_situation("en-GB")

    assert get_values(read_correction(COURT, text, COURT_HELD, situation, asked_path="inside")) == values


def test_an_answer_for_the_asked_field_corrects_no_other_field() -> None:
    situation = make_situation("en-GB")

    assert read_correction(COURT, "1h", COURT_HELD, situation, asked_path="length") is None
    assert read_correction(COURT, "so 4", COURT_HELD, situation, asked_path="length") is None


def test_a_small_word_of_a_title_names_no_field() -> None:
    situation, held = make_situation("en-GB"), {**COURT_HELD, "inside": True}

    assert find_fields_to_ask_again(COURT, "not 4, that's too much", held, situation) == []
    assert find_fields_to_ask_again(COURT, "the inside is wrong", held, situation) == ["inside"]


AREA = Form({"type": "object", "properties": {"area": {"type": "integer", "title": "Fläche in Quadratmetern"}}})


@pytest.mark.parametrize(
    "text",
    ["ändern Sie die Fläche bitte auf 95", "Fläche auf 95 ändern", "Können Sie die Fläche auf 95 ändern?",
     "die Fläche bitte auf 95 ändern", "Fläche 95 statt 80"],
)  # fmt: skip
def test_a_german_change_names_the_field_and_its_new_value(text: str) -> None:
    assert get_values(read_correction(AREA, text, {"area": 80}, make_situation("de-DE"))) == {"area": 95}


def test_the_value_stands_behind_the_clause_that_names_its_field() -> None:
    form = Form({"type": "object", "properties": {"budget": {"type": "number", "x-kind": "money", "title": "Budget"}}})
    situation, held = make_situation("en-GB"), {"budget": 300}

    assert get_values(read_named_field(form, "the budget is wrong, 350", ["budget"], held, situation)) == {
        "budget": 350
    }
    assert read_named_field(form, "the budget is wrong", ["budget"], held, situation) is None
    assert read_named_field(form, "the budget is wrong, 300", ["budget"], held, situation) is None


def test_two_names_may_be_one_text() -> None:
    form = Form({"type": "object", "properties": {"writing": {"type": "string", "title": "Writing"}}})
    situation, held = make_situation("en-GB"), {"writing": "Anna"}

    text = "change the writing to Anna and Tim"

    assert get_values(read_correction(form, text, held, situation)) == {"writing": "Anna and Tim"}


@pytest.mark.parametrize(
    ("text", "street"),
    [
        ("die Straße ist Rosenstraße 12b", "Rosenstraße 12b"),
        ("nein, die Straße ist Rosenstraße 12b", "Rosenstraße 12b"),
        ("unsere Straße lautet jetzt Rosenweg 3", "Rosenweg 3"),
        ("Straße: Rosenstraße 12b", "Rosenstraße 12b"),
        ("die Straße ist gesperrt", None),
        ("die Straße ist am 5. gesperrt?", None),
    ],
)
def test_a_word_of_the_title_names_the_text_to_change(text: str, street: str | None) -> None:
    form = Form(
        {
            "type": "object",
            "properties": {
                "strasse": {"type": "string", "title": "Straße und Hausnummer"},
                "time": {"type": "string", "format": "time"},
            },
        }
    )
    situation = ReadingSituation(datetime(2026, 2, 24, 10, tzinfo=UTC), "Europe/Berlin", "de-DE")

    extraction = read_correction(form, text, {"strasse": "Rosenstraße 12a"}, situation, asked_path="time")

    assert (extraction and [item.value for item in extraction.extracted]) == ([street] if street else None)


def test_the_clause_behind_a_named_text_is_its_new_value() -> None:
    form = Form({"type": "object", "properties": {"strasse": {"type": "string", "title": "Straße"}}})
    situation = ReadingSituation(datetime(2026, 2, 24, 10, tzinfo=UTC), "Europe/Berlin", "de-DE")
    held = {"strasse": "Rosenstraße 12a"}

    text = "Halt, die Straße stimmt nicht: Rosenstraße 12b"
    extraction = read_named_field(form, text, ["strasse"], held, situation)
    assert extraction
    assert [item.value for item in extraction.extracted] == ["Rosenstraße 12b"]
    assert read_named_field(form, "die Straße ist falsch, bitte ändern", ["strasse"], held, situation) is None


@pytest.mark.parametrize(
    ("text", "day"),
    [
        ("abholen würden wir am 18. Juni gegen 17 Uhr", "2026-06-18"),
        ("am 19. Juni gegen 17 Uhr", None),
        ("wir heiraten am 18. Juni um 17 Uhr", None),
        ("um 17 Uhr", None),
    ],
)
def test_another_day_beside_the_missing_time_changes_the_day(text: str, day: str | None) -> None:
    properties = {"day": {"type": "string", "format": "date"}, "time": {"type": "string", "format": "time"}}
    form = Form({"type": "object", "properties": properties})
    situation = ReadingSituation(datetime(2026, 2, 24, 10, tzinfo=UTC), "Europe/Berlin", "de-DE")

    extraction = read_correction(form, text, {"day": "2026-06-19"}, situation, asked_path="time")

    values = {item.field: item.value for item in extraction.extracted} if extraction else None
    assert values == ({"day": day, "time": "17:00"} if day else None)


@pytest.mark.parametrize("asked", ["reason", "guests", "phone", "email", "name"])
@pytest.mark.parametrize(
    ("text", "locale", "day"),
    [
        ("my sister needs the car then, so could we do the 14th?", "en-GB", "2026-12-14"),
        ("is the 14th free? I have to work that day", "en-GB", "2026-12-14"),
        ("it has to be the 14th after all", "en-GB", "2026-12-14"),
        ("we could come on Friday, the kids are away on Wednesday", "en-GB", "2026-11-27"),
        ("da ist meine Schwester krank, ginge der 14.?", "de-DE", "2026-12-14"),
        ("wir nehmen den 14., weil mein Mann arbeiten muss", "de-DE", "2026-12-14"),
    ],
)
def test_another_day_beside_its_reason_is_a_correction(text: str, locale: str, day: str, asked: str) -> None:
    held = {path: value for path, value in HELD.items() if path != asked}
    assert get_values(correct(text, locale, held=held, asked_path=asked)) == {"date": day}


@pytest.mark.parametrize(
    "text",
    [
        "my son has football on the 14th",
        "we could do the 4th as well",
        "I should ask my wife first, let's leave it for now",
        "no thanks, not on Friday",
    ],
)
def test_a_day_that_is_only_mentioned_corrects_nothing(text: str) -> None:
    held = {path: value for path, value in HELD.items() if path != "guests"}
    assert get_values(correct(text, held=held, asked_path="guests")) == {}


@pytest.mark.parametrize(
    ("text", "locale"),
    [
        ("3pm. no sorry make it Friday", "en-GB"),
        ("sorry, Friday instead. 3pm is fine", "en-GB"),
        ("15 Uhr. ach nein, lieber Freitag", "de-DE"),
    ],
)
def test_an_answer_beside_a_correction_counts_too(text: str, locale: str) -> None:
    held = {path: value for path, value in HELD.items() if path != "time"}
    changed = get_values(correct(text, locale, held=held, asked_path="time"))
    assert changed == {"date": "2026-11-27", "time": "15:00"}


@pytest.mark.parametrize(
    ("text", "locale"),
    [("the plate is AB12 CDF, typo", "en-GB"), ("das Kennzeichen ist AB12 CDF, Zahlendreher", "de-DE")],
)
def test_a_text_is_corrected_without_the_words_about_the_slip(text: str, locale: str) -> None:
    form = Form({"type": "object", "properties": {"plate": {"type": "string", "title": "Plate Kennzeichen"}}})
    extraction = read_correction(form, text, {"plate": "AB12 CDE"}, make_situation(locale))
    assert get_values(extraction) == {"plate": "AB12 CDF"}


@pytest.mark.parametrize(
    ("text", "day", "locale"),
    [
        ("we're in Leeds then, rather the day after", "2026-11-29", "en-GB"),
        ("sorry, the day before instead", "2026-11-27", "en-GB"),
        ("quatsch, lieber am Tag darauf", "2026-11-29", "de-DE"),
        ("doch besser am Tag vorher", "2026-11-27", "de-DE"),
        ("lieber einen Tag später", "2026-11-29", "de-DE"),
    ],
)
def test_a_day_is_counted_from_the_one_that_is_changed(text: str, day: str, locale: str) -> None:
    held = {"name": "John Smith", "date": "2026-11-28"}
    situation = ReadingSituation(NOW, "Europe/London", locale, held_days={"date": "2026-11-28"})
    assert get_values(read_correction(FORM, text, held, situation, asked_path="time")) == {"date": day}


@pytest.mark.parametrize(
    ("text", "asked", "name"),
    [
        ("her name is Ivy so change that too", "age", "Ivy"),
        ("no, he's called Theodore", "age", "Theodore"),
        ("she's called Ivy, not Theo", "age", "Ivy"),
        ("is his name Theo?", "age", None),
        ("my name is Ann Bell", "age", None),
    ],
)
def test_an_introduction_corrects_the_name_of_somebody_else(text: str, asked: str, name: str | None) -> None:
    form = Form(
        {
            "type": "object",
            "properties": {
                "child": {"type": "string", "title": "Child", "x-ask": "What is your child's name?"},
                "age": {"type": "integer", "title": "Age"},
            },
        }
    )
    changed = read_correction(form, text, {"child": "Theo"}, make_situation("en-GB"), asked_path=asked)

    assert get_values(changed).get("child") == name


KEYS = Form(
    {
        "type": "object",
        "properties": {
            "keys": {"type": "integer", "title": "Keys", "x-ask": "How many keys?", "minimum": 1, "maximum": 6},
            "date": {"type": "string", "format": "date", "title": "Day"},
            "name": {"type": "string", "title": "Name"},
        },
    }
)


@pytest.mark.parametrize(
    ("text", "locale", "values"),
    [
        ("make that 4 instead, my lodger needs one too", "en-GB", {"keys": 4}),
        ("actually 5, because both of my kids want one as well", "en-GB", {"keys": 5}),
        ("actually make it 3, my son wants one on Friday", "en-GB", {}),
        ("actually make it 3, no wait make it 4", "en-GB", {"keys": 4}),
        ("actually make it 3, or is 4 the limit?", "en-GB", {}),
        ("yes, my wife wants one too", "en-GB", {}),
        ("my wife wants 3 of them, she told me so", "en-GB", {}),
        ("lieber doch 4, mein Untermieter braucht auch einen", "de-DE", {"keys": 4}),
        ("doch 5, weil meine Kinder auch je einen wollen", "de-DE", {"keys": 5}),
        ("doch lieber 3, aber 4 wären mir eigentlich recht", "de-DE", {}),
        ("ja, meine Frau will auch einen", "de-DE", {}),
    ],
)
def test_a_reason_behind_a_changed_number_is_no_second_value(text: str, locale: str, values: dict[str, int]) -> None:
    held = {"keys": 2, "date": "2026-11-27", "name": "Ann Lee"}

    changed = get_values(read_correction(KEYS, text, held, make_situation(locale)))

    assert {path: value for path, value in changed.items() if path == "keys"} == values


@pytest.mark.parametrize(
    ("text", "locale", "day"),
    [
        ("actually Saturday that week, we're away on the Friday", "en-GB", "2026-12-12"),
        ("make it Wednesday the same week", "en-GB", "2026-12-09"),
        ("rather the Tuesday before", "en-GB", "2026-12-08"),
        ("sorry, the Monday of the week after", "en-GB", "2026-12-14"),
        ("could we do a day later?", "en-GB", "2026-12-12"),
        ("sorry, the Tuesday before my exam", "en-GB", None),
        ("dann Mittwoch in der Woche", "de-DE", "2026-12-09"),
        ("doch lieber den Dienstag davor", "de-DE", "2026-12-08"),
        ("nee, den Montag danach", "de-DE", "2026-12-14"),
        ("lieber am Samstag in derselben Woche", "de-DE", "2026-12-12"),
        ("doch lieber einen Tag später", "de-DE", "2026-12-12"),
    ],
)
def test_that_week_is_the_week_of_the_day_that_was_given(text: str, locale: str, day: str | None) -> None:
    held = {"name": "John Smith", "date": "2026-12-11"}
    situation = replace(make_situation(locale), held_days={"date": "2026-12-11"})

    assert get_values(read_correction(FORM, text, held, situation, asked_path="time")).get("date") == day


@pytest.mark.parametrize(
    ("text", "locale", "name"),
    [
        ("the name is Dr. Jon Smyth, with a y", "en-GB", "Dr. Jon Smyth"),
        ("my name is Mrs. J. Smyth", "en-GB", "Mrs. J. Smyth"),
        ("der Name ist Prof. Dr. Jon Smyth, mit y", "de-DE", "Prof. Dr. Jon Smyth"),
    ],
)
def test_a_title_is_part_of_a_corrected_name_and_its_spelling_is_not(text: str, locale: str, name: str) -> None:
    assert get_values(correct(text, locale, is_expected=True)) == {"name": name}


SEATS_HELD = {"show": "hamlet", "day": "2026-11-12", "seats": 3, "area": "stalls"}


@pytest.mark.parametrize(
    ("text", "locale", "changed"),
    [
        ("were 5 now, and balcony rather than stalls", "en-GB", {"seats": 5, "area": "balcony"}),
        ("we're 5 and I'd prefer the balcony to the stalls", "en-GB", {"seats": 5, "area": "balcony"}),
        ("balcony instead of stalls, and 2", "en-GB", {"seats": 2, "area": "balcony"}),
        ("make it 6, balcony in place of stalls", "en-GB", {"seats": 6, "area": "balcony"}),
        ("lieber balcony als stalls und 5 statt 3", "de-DE", {"seats": 5, "area": "balcony"}),
        ("doch lieber 5, und balcony statt stalls", "de-DE", {"seats": 5, "area": "balcony"}),
        ("we were 5 last time, balcony rather than stalls", "en-GB", None),
    ],
)
def test_two_changes_in_one_message_are_both_read(text: str, locale: str, changed: dict[str, Any] | None) -> None:
    properties = {
        "show": {"x-options": [{"value": "hamlet", "label": "Hamlet"}]},
        "area": {"x-options": [{"value": "stalls", "label": "Stalls"}, {"value": "balcony", "label": "Balcony"}]},
        "seats": {"type": "integer", "minimum": 1, "maximum": 9, "x-ask": "How many seats?"},
        "day": {"type": "string", "format": "date"},
    }
    form = Form({"type": "object", "properties": properties})
    situation = ReadingSituation(datetime(2026, 11, 4, 10, tzinfo=UTC), "Europe/London", locale)
    extraction = read_correction(form, text, SEATS_HELD, situation, is_expected=True)
    assert (extraction and {item.field: item.value for item in extraction.extracted}) == changed


@pytest.mark.parametrize(
    ("text", "locale", "name"),
    [
        ("the name is wrong, Anne Bell with an e", "en-GB", "Anne Bell"),
        ("der Name ist falsch, Anne Bell mit e hinten", "de-DE", "Anne Bell"),
        ("der Name stimmt nicht, Ann Behl", "de-DE", "Ann Behl"),
    ],
)
def test_a_corrected_name_is_stored_without_how_it_is_spelled(text: str, locale: str, name: str) -> None:
    form = Form({"type": "object", "properties": {"name": {"type": "string", "title": "Name"}}})
    found = read_named_field(form, text, ["name"], {"name": "Ann Bell"}, make_situation(locale))

    assert get_values(found) == {"name": name}


@pytest.mark.parametrize(
    ("text", "values"),
    [
        ("oh you know what, make it 9, it's her 9th birthday and 9 of us", {}),
        ("oh you know what, make it 7, there's 7 of us now", {"guests": 7}),
        ("actually make it 5, my 2 cousins come along", {"guests": 5}),
        ("make it 5 or 6", {}),
        ("make it 5, or 6", {}),
        ("4pm, no, 4.30pm", {"time": "16:30"}),
        ("ann@example.com, sorry, anna@example.com", {"email": "anna@example.com"}),
        ("I mean John Smyth", {"name": "John Smyth"}),
        ("I mean the other one", {}),
        ("sorry 4 of us", {"guests": 4}),
    ],
)
def test_a_correction_tells_its_reason_or_takes_itself_back(text: str, values: dict[str, Any]) -> None:
    held = {key: value for key, value in HELD.items() if key != "time" or "pm" in text}

    assert get_values(correct(text, held=held)) == values


@pytest.mark.parametrize(
    ("text", "values"),
    [
        ("ach wissen Sie was, machen Sie 7 draus, wir sind jetzt 7", {"guests": 7}),
        ("weißt du was, mach 5 draus, meine Schwester kommt mit", {"guests": 5}),
        ("mach aus 2 4", {"guests": 4}),
        ("erhöhen wir auf 6", {"guests": 6}),
        ("machen Sie 3 oder 4 draus", {}),
    ],
)
def test_german_corrections_tell_their_reason(text: str, values: dict[str, Any]) -> None:
    held = {key: value for key, value in HELD.items() if key != "time"}

    assert get_values(correct(text, "de-DE", held=held)) == values


def test_a_bare_number_may_be_for_a_count_or_for_a_time() -> None:
    situation = make_situation("en-GB")

    assert find_possible_fields(FORM, "make it 4", HELD, situation) == ["time", "guests"]
    assert find_possible_fields(FORM, "you know what, make it 4, my mum comes too", HELD, situation) == [
        "time",
        "guests",
    ]
    assert find_possible_fields(FORM, "thanks for that", HELD, situation) == []


@pytest.mark.parametrize(
    ("text", "values"),
    [
        ("the guests, 7. and the name is Ann Lee", {"guests": 7, "name": "Ann Lee"}),
        ("the time, 4pm, and 5 guests", {"time": "16:00", "guests": 5}),
    ],
)
def test_a_field_may_be_named_before_each_of_two_changes(text: str, values: dict[str, Any]) -> None:
    assert get_values(correct(text, is_expected=True)) == values


def test_the_text_behind_the_named_field_is_new_where_a_change_was_asked_for() -> None:
    situation = make_situation("en-GB")

    def read(text: str, **options: Any) -> dict[str, Any]:
        return get_values(read_named_field(FORM, text, ["name"], HELD, situation, **options))

    assert read("the name. Ann Lee", takes_any_text=True) == {"name": "Ann Lee"}
    assert read("name is wrong, sorry", takes_any_text=True) == {}
    assert read("the name please", takes_any_text=True) == {}


MOMENT = Form({"type": "object", "properties": {"when": {"type": "string", "format": "date-time", "title": "When"}}})


@pytest.mark.parametrize(
    ("text", "locale", "expected"),
    [
        ("ja, aber lieber um 10 statt um 9", "de-DE", "2026-11-25T10:00:00+00:00"),
        ("um 10 statt 9 uhr bitte", "de-DE", "2026-11-25T10:00:00+00:00"),
        ("statt 9 lieber 10", "de-DE", "2026-11-25T10:00:00+00:00"),
        ("selber tag, nur um 4", "de-DE", "2026-11-25T16:00:00+00:00"),
        ("ja, aber eine Stunde später", "de-DE", "2026-11-25T10:00:00+00:00"),
        ("doch freitag, uhrzeit bleibt", "de-DE", "2026-11-27T09:00:00+00:00"),
        ("Freitag statt Mittwoch", "de-DE", "2026-11-27T09:00:00+00:00"),
        ("yes but at 10 instead of 9", "en-GB", "2026-11-25T10:00:00+00:00"),
        ("can we do 10 rather than 9", "en-GB", "2026-11-25T10:00:00+00:00"),
        ("one hour later", "en-GB", "2026-11-25T10:00:00+00:00"),
        ("same day but at 4", "en-GB", "2026-11-25T16:00:00+00:00"),
        ("friday after all, same time", "en-GB", "2026-11-27T09:00:00+00:00"),
        ("Friday instead of Wednesday", "en-GB", "2026-11-27T09:00:00+00:00"),
    ],
)
def test_a_changed_half_of_a_moment_keeps_the_other_at_the_confirmation(text: str, locale: str, expected: str) -> None:
    held = {"when": "2026-11-25T09:00:00+00:00"}
    correction = read_correction(MOMENT, text, held, make_situation(locale), is_expected=True)

    assert get_values(correction) == {"when": expected}


@pytest.mark.parametrize(
    "text", ["Anreise ist schon am 2.12.", "die Anreise ist erst am 2.12.", "wir kommen schon am 2.12."]
)
def test_a_day_may_come_earlier_or_later_than_the_one_before(text: str) -> None:
    form = Form({"type": "object", "properties": {"anreise": {"title": "Anreise", "format": "date"}}})
    correction = read_correction(form, text, {"anreise": "2026-12-01"}, make_situation("de-DE"), is_expected=True)

    assert get_values(correction) == {"anreise": "2026-12-02"}


@pytest.mark.parametrize(
    ("text", "locale", "name"),
    [
        ("oh sorry the name should be hers, Dorothy Lacey", "en-GB", "Dorothy Lacey"),
        ("the name must be Dorothy Lacey", "en-GB", "Dorothy Lacey"),
        ("der Name soll Dora Lange sein", "de-DE", "Dora Lange"),
        ("der name sollte Dora Lange lauten", "de-DE", "Dora Lange"),
        ("the name should be fine", "en-GB", None),
    ],
)
def test_a_name_may_be_said_behind_should_be(text: str, locale: str, name: str | None) -> None:
    form = Form(
        {"type": "object", "properties": {"name": {"type": "string", "title": "Name"}, "place": {"type": "string"}}}
    )
    held = {"name": "Beth Lacey"}
    correction = read_correction(form, text, held, make_situation(locale), asked_path="place")

    assert correction is None if name is None else get_values(correction) == {"name": name}


QUOTE = Form(
    {
        "type": "object",
        "properties": {
            "trees": {
                "type": "integer",
                "title": "How many",
                "x-ask": "How many trees is it? Wie viele?",
                "maximum": 30,
            },
            "day": {"type": "string", "format": "date", "title": "Day", "x-ask": "Which day?", "x-min": "today"},
            "name": {"type": "string", "title": "Name"},
        },
        "required": ["trees", "day", "name"],
    }
)


@pytest.mark.parametrize(
    ("text", "locale", "trees"),
    [
        ("actually 4, forgot the one behind the shed", "en-GB", 4),
        ("4 actually", "en-GB", 4),
        ("sorry, four", "en-GB", 4),
        ("hang on, 5", "en-GB", 5),
        ("es sind doch 4, einer steht hinterm Schuppen", "de-DE", 4),
        ("eigentlich 4", "de-DE", 4),
        ("ach nein, vier", "de-DE", 4),
        ("4", "en-GB", None),
        ("actually the 4th", "en-GB", None),
        ("actually on 4 December", "en-GB", None),
        ("doch der 4.", "de-DE", None),
        ("eigentlich am 4.", "de-DE", None),
    ],
)
def test_a_number_behind_a_correction_is_no_day_if_it_may_be_the_last_count(
    text: str, locale: str, trees: int | None
) -> None:
    correction = read_correction(QUOTE, text, {"trees": 3}, make_situation(locale), asked_path="day")

    assert get_values(correction) == ({"trees": trees} if trees else {})


def test_a_number_behind_sorry_is_a_day_if_the_day_was_asked_for_twice() -> None:
    situation = make_situation("en-GB")

    assert read_correction(QUOTE, "sorry, 4", {"trees": 3}, situation, asked_path="day", is_retry=True) is None


@pytest.mark.parametrize(
    ("text", "locale", "held", "day"),
    [
        ("hang on wrong day, its the sunday not the saturday", "en-GB", "2026-12-19", "2026-12-20"),
        ("not saturday, friday", "en-GB", "2026-12-19", "2026-12-18"),
        ("the monday not the friday", "en-GB", "2026-12-18", "2026-12-21"),
        ("thursday instead of tuesday", "en-GB", "2026-12-15", "2026-12-17"),
        ("Moment, falscher Tag, es ist der Freitag, nicht der Samstag", "de-DE", "2026-12-19", "2026-12-18"),
        ("nicht am Dienstag sondern am Mittwoch", "de-DE", "2026-12-15", "2026-12-16"),
    ],
)
def test_another_weekday_is_beside_the_day_that_is_held(text: str, locale: str, held: str, day: str) -> None:
    correction = read_correction(QUOTE, text, {"trees": 3, "day": held}, make_situation(locale))

    assert get_values(correction) == {"day": day}


@pytest.mark.parametrize("text", ["actually no leave that, the trees can wait", "no, forget it, no trees after all"])
def test_who_stops_names_no_field_to_change(text: str) -> None:
    assert find_fields_to_ask_again(QUOTE, text, {"trees": 2}, make_situation("en-GB")) == []


@pytest.mark.parametrize("text", ["not in 1980", "no problem, I need one", "no worries, we all have one"])
def test_a_year_and_a_friendly_no_change_no_number(text: str) -> None:
    form = Form(
        {"type": "object", "properties": {**DENTIST, "rail": {"type": "boolean", "x-ask": "Do you need a rail?"}}}
    )

    assert read_correction(form, text, HELD, make_situation("en-GB"), asked_path="rail") is None


HOLIDAY = Form(
    {
        "type": "object",
        "properties": {
            "arrival": {"type": "string", "format": "date", "title": "Arrival", "x-ask": "When do you arrive?"},
            "departure": {"type": "string", "format": "date", "title": "Departure", "x-ask": "When do you leave?"},
            "boat": {"type": "boolean", "title": "Boat", "x-ask": "Would you like a boat?"},
            "plate": {"type": "string", "title": "Plate", "x-ask": "What is the number plate?"},
        },
    }
)
AUFENTHALT = Form(
    {
        "type": "object",
        "properties": {
            "arrival": {"type": "string", "format": "date", "title": "Anreise", "x-ask": "Wann reisen Sie an?"},
            "departure": {"type": "string", "format": "date", "title": "Abreise", "x-ask": "Wann reisen Sie ab?"},
            "boat": {"type": "boolean", "title": "Boot mieten", "x-ask": "Möchten Sie ein Boot mieten?"},
            "plate": {"type": "string", "title": "Kennzeichen", "x-ask": "Wie lautet das Kennzeichen?"},
        },
    }
)
HELD_STAY = {"arrival": "2027-06-06", "departure": "2027-06-10", "boat": True, "plate": "KA-SU 118"}
JULY = {"arrival": "2027-07-06", "departure": "2027-07-10"}


@pytest.mark.parametrize(
    ("form", "locale", "text", "values"),
    [
        (HOLIDAY, "en-GB", "make the departure a day later", {"departure": "2027-06-11"}),
        (HOLIDAY, "en-GB", "we leave two days earlier", {"departure": "2027-06-08"}),
        (HOLIDAY, "en-GB", "arrival a week later please", {"arrival": "2027-06-13"}),
        (HOLIDAY, "en-GB", "everything a week later", {"arrival": "2027-06-13", "departure": "2027-06-17"}),
        (HOLIDAY, "en-GB", "can we stay one day longer", {"departure": "2027-06-11"}),
        (HOLIDAY, "en-GB", "a day later please", {}),
        (AUFENTHALT, "de-DE", "abreise doch einen tag später bitte", {"departure": "2027-06-11"}),
        (AUFENTHALT, "de-DE", "wir reisen einen tag früher an", {"arrival": "2027-06-05"}),
        (AUFENTHALT, "de-DE", "wir reisen zwei Tage früher ab", {"departure": "2027-06-08"}),
        (AUFENTHALT, "de-DE", "einen tag länger bitte", {"departure": "2027-06-11"}),
        (AUFENTHALT, "de-DE", "einen tag später", {}),
    ],
)
def test_a_shift_is_reckoned_from_the_day_that_is_named(form: Form, locale: str, text: str, values: Any) -> None:
    assert get_values(read_correction(form, text, HELD_STAY, make_situation(locale), is_expected=True)) == values


@pytest.mark.parametrize(
    ("form", "locale", "text", "departure", "values"),
    [
        (HOLIDAY, "en-GB", "it has to be July, not June", "06-10", JULY),
        (HOLIDAY, "en-GB", "wrong month, July", "06-10", JULY),
        (HOLIDAY, "en-GB", "August, not July", "07-02", {"departure": "2027-08-02"}),
        (AUFENTHALT, "de-DE", "das muss juli sein, nicht juni", "06-10", JULY),
        (AUFENTHALT, "de-DE", "juli statt juni", "06-10", JULY),
        (AUFENTHALT, "de-DE", "das muss mai sein, nicht april", "06-10", {}),
    ],
)
def test_another_month_moves_all_days_of_the_wrong_one(
    form: Form, locale: str, text: str, departure: str, values: Any
) -> None:
    held = {**HELD_STAY, "departure": f"2027-{departure}"}

    assert get_values(read_correction(form, text, held, make_situation(locale), is_expected=True)) == values


@pytest.mark.parametrize(
    ("form", "locale", "text", "values"),
    [
        (HOLIDAY, "en-GB", "no boat needed after all", {"boat": False}),
        (AUFENTHALT, "de-DE", "doch kein boot mieten", {"boat": False}),
        (HOLIDAY, "en-GB", "KA-SU 181 it should be", {"plate": "KA-SU 181"}),
        (HOLIDAY, "en-GB", "it should say KA-SU 181", {"plate": "KA-SU 181"}),
        (AUFENTHALT, "de-DE", "KA-SU 181 muss es heißen", {"plate": "KA-SU 181"}),
        (AUFENTHALT, "de-DE", "KA-SU 181 ist richtig", {"plate": "KA-SU 181"}),
    ],
)
def test_words_around_a_new_value_are_no_part_of_it(form: Form, locale: str, text: str, values: Any) -> None:
    assert get_values(read_correction(form, text, HELD_STAY, make_situation(locale), is_expected=True)) == values


@pytest.mark.parametrize(
    ("text", "locale", "values"),
    [
        ("hmm can i swap to pain", "en-GB", {"reason": "PAIN"}),
        ("could we switch to the 5th", "en-GB", {"date": "2026-12-05"}),
        ("make the time 4pm btw", "en-GB", {"time": "16:00"}),
        ("kann ich auf Freitag wechseln", "de-DE", {"date": "2026-11-27"}),
        ("lieber doch am Freitag", "de-DE", {"date": "2026-11-27"}),
    ],
)
def test_a_wish_to_swap_is_a_change(text: str, locale: str, values: Any) -> None:
    assert get_values(correct(text, locale, asked_path="notes")) == values


TABLE = Form(
    {
        "type": "object",
        "properties": {
            "day": {"type": "string", "format": "date", "title": "Day", "x-ask": "Which day?"},
            "time": {"type": "string", "format": "time", "title": "Time", "x-min": "11:00", "x-max": "22:00"},
            "people": {"type": "integer", "minimum": 1, "maximum": 12, "x-ask": "How many people will you be?"},
            "pram": {"type": "boolean", "title": "Pram", "x-ask": "Are you bringing a pram?"},
            "name": {"type": "string", "title": "Name", "x-ask": "What name should I put it under?"},
            "phone": {"type": "string", "x-kind": "phone", "title": "Phone number"},
        },
    }
)
TABLE_HELD = {"day": "2026-11-28", "time": "18:00", "people": 4}


def change_table(text: str, locale: str, asked_path: str | None = None) -> dict[str, Any]:
    situation = make_situation(locale)
    is_expected = asked_path is None
    return get_values(
        read_correction(TABLE, text, TABLE_HELD, situation, asked_path=asked_path, is_expected=is_expected)
    )


@pytest.mark.parametrize(
    ("text", "locale", "asked", "values"),
    [
        ("yes, and could we do 7 instead", "en-GB", "pram", {"pram": True, "time": "19:00"}),
        ("nope. oh and we're 5 not 4", "en-GB", "pram", {"pram": False, "people": 5}),
        ("no and can it be sunday rather than saturday", "en-GB", "pram", {"pram": False, "day": "2026-11-29"}),
        ("yeah but could we make it 8pm", "en-GB", "pram", {"pram": True, "time": "20:00"}),
        ("make it 6 people, and yes please", "en-GB", "pram", {"pram": True, "people": 6}),
        ("Ann Pryce, but make it sunday", "en-GB", "name", {"name": "Ann Pryce", "day": "2026-11-29"}),
        ("Hill and Sons, and change the time to 7pm", "en-GB", "name", {"name": "Hill and Sons", "time": "19:00"}),
        ("07700 900123 and it's going to be 3 people not 4", "en-GB", "phone", {"phone": "+447700900123", "people": 3}),
        ("ja, aber lieber um 19 Uhr", "de-DE", "pram", {"pram": True, "time": "19:00"}),
        ("nee. ach und wir sind übrigens 6", "de-DE", "pram", {"pram": False, "people": 6}),
        ("Ina Wolf und bitte doch am Sonntag", "de-DE", "name", {"name": "Ina Wolf", "day": "2026-11-29"}),
        # What may be only the beginning of a change, or a courtesy, answers nothing.
        ("no, make it sunday", "en-GB", "pram", {"day": "2026-11-29"}),
        ("nein, lieber Sonntag", "de-DE", "pram", {"day": "2026-11-29"}),
        ("almost, it's 5 of us not 4", "en-GB", "name", {"people": 5}),
        ("great, make it sunday", "en-GB", "name", {"day": "2026-11-29"}),
        ("make it sunday, cheers mate", "en-GB", "name", {"day": "2026-11-29"}),
    ],
)
def test_an_answer_and_a_change_in_one_message_are_both_read(
    text: str, locale: str, asked: str, values: dict[str, Any]
) -> None:
    assert change_table(text, locale, asked) == values


@pytest.mark.parametrize("asked", [None, "pram", "name"])
@pytest.mark.parametrize(
    ("text", "locale", "people"),
    [
        ("actually were only 3", "en-GB", 3),
        ("we are now 6", "en-GB", 6),
        ("oh, its 5 of us not 4", "en-GB", 5),
        ("wir sind jetzt doch 6", "de-DE", 6),
        ("wir sind leider nur 3", "de-DE", 3),
        ("inzwischen sind wir 7", "de-DE", 7),
    ],
)
def test_the_number_beside_we_are_counts_the_people_again(
    text: str, locale: str, people: int, asked: str | None
) -> None:
    assert change_table(text, locale, asked) == {"people": people}


@pytest.mark.parametrize("asked", [None, "pram", "name"])
@pytest.mark.parametrize(
    ("text", "locale", "people"),
    [
        ("one more", "en-GB", 5),
        ("2 more guests please", "en-GB", 6),
        ("one fewer, my son is ill", "en-GB", 3),
        ("another person is coming", "en-GB", 5),
        ("my cousin joins us too so one more", "en-GB", 5),
        ("einer mehr, meine Schwester kommt mit", "de-DE", 5),
        ("zwei Personen weniger bitte", "de-DE", 2),
        ("noch ein Gast dazu", "de-DE", 5),
        # Other things, and what nobody is sure of.
        ("one more thing", "en-GB", None),
        ("one more day", "en-GB", None),
        ("one more appointment", "en-GB", None),
        ("maybe one more", "en-GB", None),
        ("one more or 2", "en-GB", None),
        ("noch eine Frage", "de-DE", None),
        ("noch ein Termin", "de-DE", None),
    ],
)
def test_a_number_may_be_moved(text: str, locale: str, people: int | None, asked: str | None) -> None:
    assert change_table(text, locale, asked) == ({"people": people} if people else {})


@pytest.mark.parametrize(
    ("text", "locale", "values"),
    [
        ("can we push that back an hour", "en-GB", {"time": "19:00"}),
        ("could you bring it forward by half an hour", "en-GB", {"time": "17:30"}),
        ("postpone it by a week", "en-GB", {"day": "2026-12-05"}),
        ("two days earlier, same time", "en-GB", {"day": "2026-11-26"}),
        ("wed at 7 instead", "en-GB", {"day": "2026-11-25", "time": "19:00"}),
        ("sun at 8pm", "en-GB", {"day": "2026-11-29", "time": "20:00"}),
        ("eine halbe Stunde nach vorne bitte", "de-DE", {"time": "17:30"}),
        ("können wir das eine Woche nach hinten verschieben?", "de-DE", {"day": "2026-12-05"}),
        ("einen Tag später, gleiche Uhrzeit", "de-DE", {"day": "2026-11-29"}),
        ("mach bitte Sonntag den 6. draus", "de-DE", {"day": "2026-12-06"}),
        ("move it forward an hour", "en-GB", {}),
        ("I'll be back in half an hour or so", "en-GB", {}),
    ],
)
def test_a_time_or_a_day_may_be_moved(text: str, locale: str, values: dict[str, Any]) -> None:
    assert change_table(text, locale) == values


@pytest.mark.parametrize("asked", [None, "phone"])
@pytest.mark.parametrize(
    ("text", "locale", "is_fetched", "values"),
    [
        ("actually dont collect it, ill bring it round", "en-GB", True, {"fetch": False}),
        ("actually please collect it from mine", "en-GB", False, {"fetch": True}),
        ("we do need the collection after all", "en-GB", False, {"fetch": True}),
        ("actually no collection", "en-GB", True, {"fetch": False}),
        ("wir brauchen doch eine Abholung", "de-DE", False, {"fetch": True}),
        ("doch keine Abholung", "de-DE", True, {"fetch": False}),
        # What stays, is asked, or is about something else.
        ("actually no collection", "en-GB", False, {}),
        ("actually, is the collection free?", "en-GB", False, {}),
        ("actually the bike is green", "en-GB", False, {}),
        ("could you put it under Omar Khan please", "en-GB", False, {"name": "Omar Khan"}),
        ("put it under the mat", "en-GB", False, {}),
        ("yes book it for Omar Khan", "en-GB", False, {"name": "Omar Khan"}),
        ("yes but for omar khan", "en-GB", False, {"name": "omar khan"}),
        ("ja aber auf Omar Khan", "de-DE", False, {"name": "Omar Khan"}),
        ("yes book it for my mum", "en-GB", False, {}),
        ("and if one of us is ill can we cancel", "en-GB", False, {}),
        ("falls 2 von uns krank sind", "de-DE", False, {}),
        ("schreiben Sie es auf Ina Wolf bitte", "de-DE", False, {"name": "Ina Wolf"}),
    ],
)
def test_a_field_is_given_again_by_what_it_is_about(
    text: str, locale: str, is_fetched: bool, values: dict[str, Any], asked: str | None
) -> None:
    title, question = "Collection", "Shall we collect the bike from your home?"
    if locale == "de-DE":
        title, question = "Abholung", "Sollen wir das Rad bei Ihnen zu Hause abholen?"
    properties = {
        "bikes": {"type": "integer", "title": "Bikes", "x-ask": "How many bikes?"},
        "fetch": {"type": "boolean", "title": title, "x-ask": question},
        "name": {"type": "string", "title": "Name"},
        "phone": {"type": "string", "x-kind": "phone"},
    }
    form, held = Form({"type": "object", "properties": properties}), {"fetch": is_fetched, "name": "Ann Hill"}
    assert get_values(read_correction(form, text, held, make_situation(locale), asked_path=asked)) == values


def test_a_surname_names_the_name_that_is_wrong() -> None:
    form = Form({"type": "object", "properties": {"name": {"type": "string", "title": "Name"}}})
    held, situation = {"name": "Emma Clarke"}, make_situation("en-GB")
    for text in ("my surname is spelt wrong, its Emma Clark", "the surname is misspelled, Emma Clark"):
        paths = find_fields_to_ask_again(form, text, held, situation)
        assert get_values(read_named_field(form, text, paths, held, situation)) == {"name": "Emma Clark"}


@pytest.mark.parametrize("text", ["no but id like one", "nope, I want one though"])
def test_one_is_no_number_beside_a_yes_or_no(text: str) -> None:
    properties = {
        "seats": {"type": "integer", "title": "Seats", "x-ask": "How many seats?"},
        "card": {"type": "boolean", "title": "Membership card", "x-ask": "Do you have one of our cards?"},
    }
    form = Form({"type": "object", "properties": properties})

    assert read_correction(form, text, {"seats": 2}, make_situation("en-GB"), asked_path="card") is None


@pytest.mark.parametrize(
    ("text", "locale", "asked", "values"),
    [
        ("an hour later please, got to drop the kids off", "en-GB", None, {"time": "16:00"}),
        ("a week later, my sister isn't home till then", "en-GB", None, {"date": "2026-12-02"}),
        ("could you do thursday instead of wednesday? I'm working", "en-GB", None, {"date": "2026-11-26"}),
        ("eine Stunde später, die Bahn hat immer Verspätung", "de-DE", None, {"time": "16:00"}),
        ("statt 15 uhr lieber 16 uhr", "de-DE", None, {"time": "16:00"}),
        ("it's only 1 guest now, the other can't travel", "en-GB", "email", {"guests": 1}),
    ],
)
def test_a_change_may_have_its_reason_beside_it(text: str, locale: str, asked: str | None, values: Any) -> None:
    held = {path: value for path, value in HELD.items() if path != asked}

    change = correct(text, locale, held=held, asked_path=asked, is_expected=asked is None)

    assert get_values(change) == values


@pytest.mark.parametrize(
    "text",
    [
        "yes please, the sooner the better",
        "lovely, see you then",
        "fine, but what if it rains",
        "great, forget the rest",
    ],
)
def test_clauses_that_change_nothing_are_no_reasons(text: str) -> None:
    assert correct(text, is_expected=True) is None


@pytest.mark.parametrize("part", ["a, ", "yes, ", "4, not 5 ", ", ", "and "])
def test_no_long_message_takes_long_to_correct(part: str) -> None:
    started = time.thread_time()
    correct((part * 4000)[:4000], is_expected=True)
    correct((part * 4000)[:4000], held={"reason": "CLEAN", "date": "2026-11-25"}, asked_path="guests")

    assert time.thread_time() - started < 10


def test_an_option_beside_an_answer_is_only_mentioned() -> None:
    held = {"name": "Jo Day", "reason": "CLEAN", "date": "2026-11-25"}

    answer = correct("should be 2pm, that's when the pain starts", held=held, asked_path="time")
    change = correct("2pm, and actually make it pain", held=held, asked_path="time")

    assert get_values(answer).get("reason") is None
    assert get_values(change) == {"reason": "PAIN", "time": "14:00"}


@pytest.mark.parametrize(("text", "locale"), [("the name is wrong", "en-GB"), ("name: falsch", "de-DE")])
def test_a_word_for_a_wrong_value_is_no_value(text: str, locale: str) -> None:
    assert get_values(correct(text, locale, is_expected=True)) == {}
