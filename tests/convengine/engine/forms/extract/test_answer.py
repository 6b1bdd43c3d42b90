from dataclasses import replace
from datetime import datetime
from typing import Any
from zoneinfo import ZoneInfo

import pytest

from convengine.engine.forms.extract import extract
from convengine.engine.forms.extract.answer import read_answer, says_no_name, verb_goes_on
from convengine.engine.forms.extract.reading import Reading
from convengine.engine.forms.form import Field, Form
from convengine.engine.values import ReadingSituation

SITUATION = ReadingSituation(datetime(2026, 2, 24, 10, tzinfo=ZoneInfo("Europe/London")), "Europe/London")


def answer(message: str, name: str = "a", **declared: Any) -> Any:
    form = Form({"type": "object", "properties": {name: declared}})
    candidate = read_answer(Reading(message), form.fields[0], SITUATION)
    return candidate and (candidate.problem or candidate.value)


@pytest.mark.parametrize(
    ("message", "value"),
    [
        ("Dallas", "Dallas"),
        ("um, it's Dallas, thanks!", "Dallas"),
        ("Dallas, no, Irving", "Irving"),
        ("my city is Dallas", "Dallas"),
        ("what?", None),
        ("is it Dallas?", None),
        ("I have no idea", None),
        ("not Dallas", None),
        ("I want to speak to a human", None),
        ("cancel", None),
        ("send it to Dallas", None),
        ("whats the phone number", None),
        ("used to be Dallas", None),
        ("the old one: Dallas", None),
        ("switch to tracking", None),
        ("one two three four five six seven eight nine", None),
    ],
)
def test_a_name_is_the_answer_and_a_sentence_is_not(message: str, value: str | None) -> None:
    assert answer(message, "city", type="string") == value


def test_where_sentences_are_wanted_they_are_taken() -> None:
    assert answer("I was charged twice", "reason", type="string") == "I was charged twice"


@pytest.mark.parametrize(
    ("message", "value"),
    [
        ("M", "M"),
        ("in", "IN"),
        ("size M please", "M"),
        ("XXL", "NOT_AN_OPTION"),
        ("x" * 61, None),
        ("is it nice", None),
    ],
)
def test_a_choice_may_be_short_when_it_was_asked_for(message: str, value: str | None) -> None:
    assert answer(message, "size", type="string", enum=["S", "M", "IN"]) == value


@pytest.mark.parametrize(
    ("message", "value"),
    [
        ("yes", True), ("Yes, please!", True), ("of course", True), ("yes I do", True), ("no", False),
        ("nope, thanks", False), ("no I don't", False), ("maybe", None), ("I'd rather not say yes", None),
    ],
)  # fmt: skip
def test_yes_and_no(message: str, value: bool | None) -> None:
    assert answer(message, "express", type="boolean") is value


@pytest.mark.parametrize(
    ("message", "value"),
    [
        ("24", 24), ("about 24, I guess", 24), ("24 months", 24), ("I'd say 24 of them", 24), ("twelve", 12),
        ("2 years", 24), ("half a year", 6),
        ("6 weeks", "WRONG_UNIT"), ("I have 2 kids", "WRONG_UNIT"), ("2 kids", "WRONG_UNIT"), ("3.5", "NOT_WHOLE"),
        ("12 or 24", "AMBIGUOUS"), ("not 12", None), ("soon", None), ("room A12", None),
    ],
)  # fmt: skip
def test_a_number(message: str, value: Any) -> None:
    assert answer(message, "tenureMonths", type="integer") == value


@pytest.mark.parametrize(
    ("message", "kind", "value"),
    [
        ("555 0109", "phone", "5550109"),
        ("it's 31.05.2026", "date", "2026-05-31"),
        ("03/04/2026", "date", "AMBIGUOUS"),
        ("tomorrow", "date", "2026-02-25"),
        ("anna@example", "email", "INVALID_EMAIL"),
    ],
)
def test_a_format(message: str, kind: str, value: str | None) -> None:
    assert answer(message, "a", type="string", format=kind) == value


def test_lists_and_objects_are_no_answers() -> None:
    assert answer("a, b", "tags", type="array") is None


def field(name: str, **declared: Any) -> Field:
    return Form({"type": "object", "properties": {name: declared}}).fields[0]


@pytest.mark.parametrize(
    ("said", "expected"),
    [
        ("anything", True), ("city", True), ("the target city", True), ("it depends", True), ("new york", False),
        ("nice", False), ("this takes long", True),
    ],
)  # fmt: skip
def test_words_that_name_nothing(said: str, expected: bool) -> None:
    assert says_no_name(said.split(), field("targetCity", type="string")) is expected


def test_a_verb_that_goes_on_is_no_name_and_a_capital_is() -> None:
    assert verb_goes_on(Reading("I am moving to Lyon"), "i am ", 5)
    assert not verb_goes_on(Reading("it is Flushing Meadows"), "it is ", 6)
    assert not verb_goes_on(Reading("it is reading"), "it is ", 6)


def make_wording(locale: str) -> dict[str, str]:
    if locale == "en-GB":
        return {"title": "Message", "x-ask": "What should be written on the cake?"}
    return {"title": "Text", "x-ask": "Was soll auf der Torte stehen?"}


@pytest.mark.parametrize(
    ("message", "locale", "value"),
    [
        ("Welcome home!", "en-GB", "Welcome home!"),
        ("Thanks team!", "en-GB", "Thanks team!"),
        ("please write 'Bon voyage' on it", "en-GB", "Bon voyage"),
        ("it should say Good luck Tim!", "en-GB", "Good luck Tim!"),
        ("Just married", "en-GB", "Just married"),
        ("thanks!", "en-GB", None),
        ("nothing", "en-GB", None),
        ("can it be red?", "en-GB", None),
        ("Danke Team!", "de-DE", "Danke Team!"),
        ("Für Oma.", "de-DE", "Für Oma"),
        ("„Gute Reise!“ bitte", "de-DE", "Gute Reise!"),
        ("bitte schreiben Sie Alles Liebe!", "de-DE", "Alles Liebe!"),
        ("danke", "de-DE", None),
    ],
)
def test_words_that_are_copied_stay_as_they_are_typed(message: str, locale: str, value: str | None) -> None:
    form = Form({"type": "object", "properties": {"text": {"type": "string", **make_wording(locale)}}})
    situation = ReadingSituation(SITUATION.now, SITUATION.time_zone, locale)
    candidate = read_answer(Reading(message), form.fields[0], situation)
    assert (candidate and candidate.value) == value


@pytest.mark.parametrize("message", ["yes now it's right", "yes, that's right now", "ok it's good"])
def test_a_yes_with_small_words_is_no_text(message: str) -> None:
    assert answer(message, "address", title="Delivery address") is None


@pytest.mark.parametrize(
    ("message", "declared", "value"),
    [
        ("12 then, the others can stand", {"type": "integer"}, 12),
        ("well ok, 12 if need be", {"type": "integer"}, 12),
        ("12, maybe 14", {"type": "integer"}, None),
        ("I can't, 12 others can", {"type": "integer"}, None),
        ("as early as you like! 9", {"format": "time", "x-min": "09:00", "x-max": "18:00"}, "09:00"),
        ("4, after my shift", {"format": "time", "x-min": "09:00", "x-max": "18:00"}, "16:00"),
        ("4, or 5", {"format": "time", "x-min": "09:00", "x-max": "18:00"}, "AMBIGUOUS"),
    ],
)
def test_a_clause_is_the_answer_if_no_other_one_has_a_number(message: str, declared: Any, value: Any) -> None:
    assert answer(message, "a", **declared) == value


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("only HH? then HH-TX 77", "HH-TX 77"),
        ("achso. dann hh-tx 77", "HH-TX 77"),
        ("it is HH-TX 77 or HH-TX 78", None),
    ],
)
def test_a_longer_answer_has_one_code(text: str, value: str | None) -> None:
    assert answer(text, type="string", pattern="^(?:HH-[A-Z]{1,2} [0-9]{1,4})$") == value


def test_the_point_of_a_day_ends_no_clause() -> None:
    form = Form({"type": "object", "properties": {"day": {"type": "string", "format": "date"}}})
    german = ReadingSituation(SITUATION.now, "Europe/Berlin", "de-DE")
    found = read_answer(Reading("schön, dann am 1. September"), form.fields[0], german)

    assert found is None or found.value == "2026-09-01"


RIDE = {
    "type": "object",
    "properties": {
        "to": {"type": "string", "title": "Destination", "x-ask": "Where would you like to go?"},
        "time": {"type": "string", "format": "time", "title": "Time"},
        "people": {"type": "integer", "title": "Passengers", "minimum": 1, "maximum": 8},
    },
}


@pytest.mark.parametrize(
    ("asked", "text", "missing", "values"),
    [
        ("to", "3", ["to", "people"], {"people": 3}),
        ("to", "three", ["to", "people"], {"people": 3}),
        ("to", "3", ["to", "time", "people"], {}),
        ("to", "3 Mill Lane", ["to", "people"], {"to": "3 Mill Lane"}),
        ("to", "4am", ["to", "time", "people"], {"time": "04:00"}),
        ("time", "one", ["time", "people"], {}),
        ("people", "one", ["people"], {"people": 1}),
    ],
)
def test_a_bare_number_is_no_place_and_a_doubtful_hour_is_no_count(
    asked: str, text: str, missing: list[str], values: dict[str, object]
) -> None:
    situation = replace(SITUATION, locale="en-GB")
    extraction = extract(Form(RIDE), text, asked_paths=[asked], missing=missing, situation=situation)

    assert {finding.field: finding.value for finding in extraction.extracted} == values


@pytest.mark.parametrize(
    ("message", "locale", "value"),
    [
        ("its a Fender", "en-GB", "Fender"),
        ("it's an old Gibson i think", "en-GB", "old Gibson"),
        ("that's a gibson", "en-GB", "gibson"),
        ("they're Bosch", "en-GB", "Bosch"),
        ("it's made by Roland", "en-GB", "Roland"),
        ("das ist eine Stihl", "de-DE", "Stihl"),
        ("ist von Miele", "de-DE", "Miele"),
        ("die ist von Bosch", "de-DE", "Bosch"),
        ("its a bit out of tune", "en-GB", "its a bit out of tune"),
        ("A Plus", "en-GB", "A Plus"),
        ("ist kaputt", "de-DE", "ist kaputt"),
    ],
)
@pytest.mark.parametrize("is_required", [True, False])
def test_a_short_answer_has_no_lead_in(message: str, locale: str, value: str, is_required: bool) -> None:
    properties = {"brand": {"type": "string", "title": "Brand", "x-ask": "What brand is it?"}}
    form = Form({"type": "object", "properties": properties, "required": ["brand"] if is_required else []})

    candidate = read_answer(Reading(message), form.fields[0], replace(SITUATION, locale=locale))

    assert candidate is not None
    assert candidate.value == value


@pytest.mark.parametrize(
    ("message", "found", "refused"),
    [
        ("40", {"guests": 40}, {}),
        ("about 40", {"guests": 40}, {}),
        ("31", {"day": "2026-03-31"}, {}),
        ("500", {}, {}),
    ],
)
@pytest.mark.parametrize("has_time", [True, False])
def test_a_number_that_no_month_has_is_the_open_number(
    message: str, found: dict[str, Any], refused: dict[str, str], has_time: bool
) -> None:
    properties = {
        "day": {"type": "string", "format": "date", "x-ask": "Which day?"},
        "guests": {"type": "integer", "maximum": 200, "title": "Guests"},
        **({"time": {"type": "string", "format": "time", "title": "Time"}} if has_time else {}),
    }
    form = Form({"type": "object", "properties": properties, "required": list(properties)})

    extraction = extract(form, message, asked_paths=["day"], situation=replace(SITUATION, locale="en-GB"))

    assert {item.field: item.value for item in extraction.extracted} == found
    assert {item.field: item.reason for item in extraction.rejected} == refused


@pytest.mark.parametrize(
    ("text", "locale", "value"),
    [
        ("Thanks Ruth Hale", "en-GB", "Ruth Hale"),
        ("oh the name, Ruth Hale", "en-GB", "Ruth Hale"),
        ("Vielen Dank Ruth Sommer", "de-DE", "Ruth Sommer"),
        ("achso der Name, Ruth Sommer", "de-DE", "Ruth Sommer"),
    ],
)
def test_courtesy_before_a_full_name_and_the_name_of_the_field_are_no_part_of_it(
    text: str, locale: str, value: str
) -> None:
    form = Form({"type": "object", "properties": {"name": {"type": "string", "title": "Name"}}})

    found = read_answer(Reading(text), form.fields[0], replace(SITUATION, locale=locale))

    assert found is not None
    assert found.value == value


@pytest.mark.parametrize(
    ("text", "value"),
    [("Sure thing, Love Grandad", "Love Grandad"), ("Well done, Love Grandad", "Well done, Love Grandad")],
)
def test_an_assent_is_left_out_of_a_text_as_a_whole(text: str, value: str) -> None:
    assert answer(text, "message", type="string") == value
