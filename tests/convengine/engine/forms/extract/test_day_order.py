"""Dates of one form that follow each other (R109)."""

from datetime import UTC, datetime
from typing import Any
from zoneinfo import ZoneInfo

import pytest

from convengine.engine.forms.extract import extract
from convengine.engine.forms.extract.day_order import find_earlier_days
from convengine.engine.forms.form import Form
from convengine.engine.values import ReadingSituation

#: A Sunday.
NOW = datetime(2026, 6, 7, 20, 30, tzinfo=UTC)
DAY = {"type": "string", "format": "date", "x-min": "today"}
FORM = Form(
    {
        "type": "object",
        "properties": {"arrival": DAY | {"title": "Anreise"}, "departure": DAY | {"title": "Abreise"}},
        "required": ["arrival", "departure"],
    }
)


def read(text: str, asked: str, held: dict[str, str], earlier: dict[str, str], locale: str = "de-DE") -> dict[str, Any]:
    situation = ReadingSituation(NOW, "Europe/Berlin", locale, held_days=held, earlier_days=earlier)
    missing = [path for path in ("arrival", "departure") if path not in held]
    extraction = extract(FORM, text, asked_paths=[asked], missing=missing or None, situation=situation)
    return {item.field: item.value for item in extraction.extracted}


@pytest.mark.parametrize(
    ("text", "departure"),
    [
        ("am 10.", "2026-07-10"),
        ("bis zum 10.", "2026-07-10"),
        ("freitag", "2026-07-10"),
        ("eine woche später", "2026-07-10"),
        ("7 Nächte", "2026-07-10"),
        ("nach einer Woche", "2026-07-10"),
        ("am nächsten Tag", "2026-07-04"),
        ("10. Juni", None),
        ("am 3.", None),
    ],
)
def test_a_partial_day_is_the_next_one_behind_the_field_before(text: str, departure: str | None) -> None:
    held = {"arrival": "2026-07-03"}

    assert read(text, "departure", held, {"departure": "2026-07-03"}).get("departure") == departure


def test_an_end_before_its_start_is_refused_with_the_start() -> None:
    situation = ReadingSituation(
        NOW, "Europe/Berlin", "de-DE", held_days={"arrival": "2026-07-03"}, earlier_days={"departure": "2026-07-03"}
    )

    extraction = extract(FORM, "10. Juni", asked_paths=["departure"], missing=["departure"], situation=situation)

    (refused,) = extraction.rejected
    assert (refused.field, refused.reason, refused.data) == ("departure", "OUT_OF_BOUNDS", {"min": "2026-07-03"})


def test_the_days_of_one_message_follow_each_other() -> None:
    days = {"arrival": "2026-07-03", "departure": "2026-07-10"}

    assert read("Anreise am 3., Abreise am 10.", "arrival", {}, {}) == days


def test_the_day_of_a_correction_is_of_the_same_month() -> None:
    held = {"arrival": "2026-08-03", "departure": "2026-08-10"}

    assert read("Anreise doch am 5.", "", held, {"departure": "2026-08-03"})["arrival"] == "2026-08-05"


def test_a_weekday_is_the_first_within_the_bounds() -> None:
    form = Form({"type": "object", "properties": {"day": DAY | {"x-min": "today+3d"}}})
    extraction = extract(form, "Monday", asked_paths=["day"], situation=ReadingSituation(NOW, "UTC", "en-GB"))

    assert [item.value for item in extraction.extracted] == ["2026-06-15"]


@pytest.mark.parametrize(("text", "refused"), [("5 July 2026", True), ("15 July 2026", False)])
def test_a_date_that_comes_after_another_one_by_name_is_refused_before_it(text: str, refused: bool) -> None:
    trial = DAY | {"title": "Trial", "x-after": "viewing"}
    form = Form({"type": "object", "properties": {"viewing": DAY, "trial": trial}})
    situation = ReadingSituation(NOW, "Europe/Berlin", "en-GB", held_days={"viewing": "2026-07-10"})

    extraction = extract(form, text, asked_paths=["trial"], missing=["trial"], situation=situation)

    reasons = [(item.reason, item.data) for item in extraction.rejected if item.field == "trial"]
    assert reasons == ([("OUT_OF_BOUNDS", {"min": "2026-07-10"})] if refused else [])


@pytest.mark.parametrize(
    ("text", "question", "day"),
    [
        ("wir heiraten am 19. Juni", "Wann holen Sie ab?", None),
        ("wir heiraten am 19. Juni", "Wann heiraten Sie?", "2026-06-19"),
        ("the wedding is in three weeks", "Which day?", None),
        ("the wedding is in three weeks", "When is the wedding?", "2026-03-17"),
        ("for the wedding on 19 June", "Which day?", "2026-06-19"),
    ],
)
def test_the_day_of_another_event_is_no_day_of_the_form(text: str, question: str, day: str | None) -> None:
    properties = {"day": {"type": "string", "format": "date", "x-ask": question}}
    situation = ReadingSituation(datetime(2026, 2, 24, 10, tzinfo=UTC), "Europe/Berlin", "en-GB", "de-DE")

    extraction = extract(Form({"type": "object", "properties": properties}), text, situation=situation)

    assert [item.value for item in extraction.extracted] == ([day] if day else [])


@pytest.mark.parametrize(
    ("text", "asked", "day"),
    [
        ("next year I mean, 2027", "venue", "2027-06-05"),
        ("2027", "venue", "2027-06-05"),
        ("nächstes Jahr natürlich", "venue", "2027-06-05"),
        ("Halle 2028", "venue", None),
        ("2028", "guests", None),
    ],
)
def test_a_year_alone_moves_the_day_that_the_form_holds(text: str, asked: str, day: str | None) -> None:
    venue, guests = {"type": "string", "title": "Venue"}, {"type": "integer", "title": "Guests"}
    form = Form({"type": "object", "properties": {"day": DAY, "venue": venue, "guests": guests}})
    situation = ReadingSituation(NOW, "Europe/Berlin", "en-GB", "de-DE", held_days={"day": "2026-06-05"})
    extraction = extract(form, text, asked_paths=[asked], missing=["venue", "guests"], situation=situation)

    assert {item.field: item.value for item in extraction.extracted}.get("day") == day


def test_a_day_belongs_to_the_field_that_allows_it() -> None:
    birth = {"type": "string", "format": "date", "title": "Geburtsdatum", "x-min": "1920-01-01", "x-max": "today"}
    form = Form({"type": "object", "properties": {"birth": birth, "visit": DAY}})
    situation = ReadingSituation(NOW, "Europe/Berlin", "de-DE")

    born = extract(form, "Mia, geb. 3.4.2019", missing=["birth", "visit"], situation=situation)
    visit = extract(form, "am 12.6. bitte", asked_paths=["birth"], missing=["birth", "visit"], situation=situation)

    assert [(item.field, item.value) for item in born.extracted] == [("birth", "2019-04-03")]
    assert not visit.extracted
    assert [item.field for item in visit.rejected] == ["birth"]


APPOINTMENT = {
    "en-GB": {
        "date": {"type": "string", "format": "date", "title": "Day", "x-ask": "Which day would you like to come?"}
    },
    "de-DE": {
        "date": {"type": "string", "format": "date", "title": "Tag", "x-ask": "An welchem Tag möchten Sie kommen?"}
    },
}


@pytest.mark.parametrize("is_asked", [True, False])
@pytest.mark.parametrize(
    ("locale", "text", "day"),
    [
        ("de-DE", "meine Tochter hat am 5. Dezember Geburtstag", None),
        ("de-DE", "am 5. dezember hat meine tochter geburtstag", None),
        ("de-DE", "die party is am 12. dezember", None),
        ("de-DE", "die Weihnachtsfeier ist am 12. Dezember", None),
        ("de-DE", "ich bin am 5. dezember im urlaub", None),
        ("de-DE", "mein ausweis läuft am 5. dezember ab", None),
        ("de-DE", "die taufe ist am 12. dezember, also am 10. dezember", "2026-12-10"),
        ("de-DE", "ich brauche den termin am 12. dezember, danach ist die party", "2026-12-12"),
        ("de-DE", "am 12. dezember, für den geburtstag meiner frau", "2026-12-12"),
        ("en-GB", "my son has his birthday on 5 December", None),
        ("en-GB", "on 5 December it's my wife's birthday", None),
        ("en-GB", "the party is on the 12th of December", None),
        ("en-GB", "I'm away on the 5th of December", None),
        ("en-GB", "my passport expires on 5 December", None),
        ("en-GB", "the christening is on the 12th so the 10th of December", "2026-12-10"),
        ("en-GB", "I need it on 12 December as the party is that day", "2026-12-12"),
    ],
)
def test_the_day_of_a_clause_about_something_else_is_no_appointment(
    locale: str, text: str, day: str | None, is_asked: bool
) -> None:
    form = Form({"type": "object", "properties": APPOINTMENT[locale]})
    situation = ReadingSituation(datetime(2026, 11, 24, 10, tzinfo=ZoneInfo("Europe/Berlin")), "Europe/Berlin", locale)

    extraction = extract(form, text, asked_paths=["date"] if is_asked else (), situation=situation)

    assert {finding.field: finding.value for finding in extraction.extracted}.get("date") == day


@pytest.mark.parametrize(
    ("locale", "text", "question"),
    [
        ("de-DE", "die party ist am 12. dezember", "An welchem Tag ist die Party?"),
        ("en-GB", "the party is on 12 December", "Which day is the party?"),
    ],
)
def test_a_form_about_an_event_takes_its_day(locale: str, text: str, question: str) -> None:
    form = Form({"type": "object", "properties": {"date": {"type": "string", "format": "date", "x-ask": question}}})
    situation = ReadingSituation(datetime(2026, 11, 24, 10, tzinfo=ZoneInfo("Europe/Berlin")), "Europe/Berlin", locale)

    extraction = extract(form, text, asked_paths=["date"], situation=situation)

    assert [finding.value for finding in extraction.extracted] == ["2026-12-12"]


PATIENT = Form(
    {
        "type": "object",
        "properties": {
            "born": {
                "type": "string",
                "format": "date",
                "title": "Date of birth",
                "x-min": "1920-01-01",
                "x-max": "today",
            },
            "day": {"type": "string", "format": "date", "title": "Day", "x-min": "tomorrow", "x-max": "today+60d"},
            "time": {"type": "string", "format": "time", "title": "Time"},
        },
        "required": ["born", "day", "time"],
    }
)


@pytest.mark.parametrize(
    ("text", "locale", "values"),
    [
        ("3/7/1988", "en-US", {"born": "1988-03-07"}),
        ("3/7/1988", "en-GB", {"born": "1988-07-03"}),
        ("3/7/1988", "en", {}),
        ("Friday", "en-GB", {"day": "2026-06-12"}),
        ("on Tuesday please", "en-GB", {"day": "2026-06-09"}),
        ("last Tuesday", "en-GB", {}),
        ("7.3.1988", "de-DE", {"born": "1988-03-07"}),
        ("am Freitag", "de-DE", {"day": "2026-06-12"}),
        ("Mittwoch um 9 Uhr", "de-DE", {"day": "2026-06-10", "time": "09:00"}),
    ],
)
def test_a_weekday_is_no_birthday_and_the_country_orders_its_numbers(
    text: str, locale: str, values: dict[str, str]
) -> None:
    situation = ReadingSituation(NOW, "Europe/Berlin", locale)

    extraction = extract(PATIENT, text, asked_paths=["born"], missing=["born", "day", "time"], situation=situation)

    assert {item.field: item.value for item in extraction.extracted} == values


@pytest.mark.parametrize(
    ("locale", "question", "text", "day"),
    [
        ("en-GB", "Which day?", "the room for my daughters 18th birthday on 5 december from 6pm", "2026-12-05"),
        ("en-GB", "Which day?", "a room for our 25th wedding anniversary on the 5th of december", "2026-12-05"),
        ("en-GB", "For which date?", "a table for his 40th birthday on 5 december", "2026-12-05"),
        ("en-GB", "Which day?", "the room on 5 may from 6pm", "2027-05-05"),
        ("en-GB", "Which day?", "my 18th birthday is on 5 december", None),
        ("en-GB", "When will you pick it up?", "a cake for my son's 5th birthday on 5 december", None),
        ("de-DE", "An welchem Tag?", "der saal für den 18. geburtstag meiner tochter am 5. dezember", "2026-12-05"),
        ("de-DE", "Wann?", "zum 60. geburtstag meiner mutter am samstag den 5.12.", "2026-12-05"),
        ("de-DE", "Wann holen Sie ab?", "eine torte für den 5. geburtstag meines sohns am 5. dezember", None),
        ("de-DE", "An welchem Tag?", "am 18. geburtstag meiner tochter", None),
    ],
)
def test_the_day_of_an_event_counts_where_something_is_for_it_and_only_the_day_is_asked(
    locale: str, question: str, text: str, day: str | None
) -> None:
    title = "Day" if locale == "en-GB" else "Tag"
    field = {"type": "string", "format": "date", "title": title, "x-ask": question}
    form = Form({"type": "object", "properties": {"date": field}})
    situation = ReadingSituation(datetime(2026, 11, 24, 10, tzinfo=ZoneInfo("Europe/Berlin")), "Europe/Berlin", locale)

    extraction = extract(form, text, situation=situation)

    assert {finding.field: finding.value for finding in extraction.extracted}.get("date") == day


LOSS: dict[str, dict[str, Any]] = {
    "en-GB": {
        "day": {"type": "string", "format": "date", "x-min": "today-30d", "x-max": "today"},
        "part": {"type": "string", "enum": ["Morning", "Afternoon", "Night"]},
    },
    "de-DE": {
        "day": {"type": "string", "format": "date", "x-min": "today-30d", "x-max": "today"},
        "part": {"type": "string", "enum": ["Morgens", "Mittags", "Nacht"]},
    },
}


@pytest.mark.parametrize("is_asked", [True, False])
@pytest.mark.parametrize(
    ("locale", "text", "day", "part"),
    [
        ("en-GB", "I left my bag in the bus last night", "2026-11-23", "Night"),
        ("en-GB", "it was late last night", "2026-11-23", "Night"),
        ("en-GB", "I lost my keys this morning", "2026-11-24", "Morning"),
        ("en-GB", "it got lost yesterday afternoon", "2026-11-23", "Afternoon"),
        ("en-GB", "I bought it yesterday", None, None),
        ("de-DE", "das war gestern mittag", "2026-11-23", "Mittags"),
        ("de-DE", "letzte nacht hab ich mein handy verloren", "2026-11-23", "Nacht"),
        ("de-DE", "vorgestern nacht im taxi", "2026-11-22", "Nacht"),
        ("de-DE", "gestern gekauft, heute verloren", None, None),
    ],
)
def test_a_day_that_is_over_is_told(locale: str, text: str, day: str | None, part: str | None, is_asked: bool) -> None:
    form = Form({"type": "object", "properties": LOSS[locale]})
    situation = ReadingSituation(datetime(2026, 11, 24, 10, tzinfo=ZoneInfo("Europe/Berlin")), "Europe/Berlin", locale)

    extraction = extract(form, text, asked_paths=["day"] if is_asked else (), situation=situation)
    values = {finding.field: finding.value for finding in extraction.extracted}

    assert (values.get("day"), values.get("part")) == (day, part)


@pytest.mark.parametrize(
    ("text", "locale", "day"),
    [
        ("next tuesday", "en-GB", "2026-12-01"),
        ("in a week", "en-GB", "2026-12-01"),
        ("am Freitag", "de-DE", "2026-11-27"),
    ],
)
def test_a_day_that_cannot_be_behind_the_one_before_counts_from_today(text: str, locale: str, day: str) -> None:
    declared = {"type": "string", "format": "date", "x-min": "today+1d"}
    days = {
        "wedding": {**declared, "title": "Wedding day", "x-max": "today+900d"},
        "visit": {**declared, "title": "Appointment", "x-max": "today+60d"},
    }
    form = Form({"type": "object", "properties": days, "required": ["wedding", "visit"]})
    now = datetime(2026, 11, 24, 10, tzinfo=UTC)
    held = {"wedding": "2027-12-12"}
    situation = ReadingSituation(
        now, "Europe/London", locale, held_days=held, earlier_days=find_earlier_days(form, held)
    )
    extraction = extract(form, text, asked_paths=["visit"], missing=["visit"], situation=situation)

    assert {item.field: item.value for item in extraction.extracted} == {"visit": day}
