"""Half corrections of days, and days that are taken back."""

from datetime import datetime
from typing import Any
from zoneinfo import ZoneInfo

import pytest

from convengine.engine.forms.extract import extract
from convengine.engine.forms.extract.correction import find_fields_to_ask_again, read_correction
from convengine.engine.forms.form import Form
from convengine.engine.values import ReadingSituation, read_value

NOW = datetime(2026, 11, 5, 10, 0, tzinfo=ZoneInfo("America/Chicago"))
VISIT = Form(
    {
        "type": "object",
        "properties": {
            "day": {"format": "date", "title": "Day", "x-labels": ["Tag"], "x-min": "today+1d", "x-max": "today+90d"},
            "time": {"format": "time", "title": "Time", "x-labels": ["Uhrzeit"], "x-min": "08:00", "x-max": "16:30"},
            "name": {"type": "string", "title": "Name"},
            "birth": {"format": "date", "title": "Date of birth", "x-labels": ["Geburtsdatum"], "x-max": "today"},
            "phone": {"format": "phone", "title": "Phone", "x-country": "US"},
        },
    }
)
HELD = {"day": "2026-11-11", "time": "16:00", "name": "Dana Ruiz", "birth": "1979-03-09"}


def make_situation(locale: str) -> ReadingSituation:
    held = {"day": HELD["day"], "birth": HELD["birth"]}
    return ReadingSituation(NOW, "America/Chicago", locale, held_days=held)


def answer(text: str, asked: str, locale: str = "en-US") -> dict[str, Any]:
    situation = ReadingSituation(NOW, "America/Chicago", locale)
    extraction = extract(VISIT, text, asked_paths=[asked], missing=list(HELD), situation=situation)
    refused = {item.field: item.reason for item in extraction.rejected}
    return {item.field: item.value for item in extraction.extracted} | refused


def correct(text: str, locale: str) -> dict[str, Any] | None:
    extraction = read_correction(VISIT, text, HELD, make_situation(locale), is_expected=True)
    return extraction and {item.field: item.value for item in extraction.extracted}


@pytest.mark.parametrize(
    ("text", "locale", "birth"),
    [
        ("08/21/2018. sorry 2017", "en-US", "2017-08-21"),
        ("08/21/2018 no wait 2017", "en-US", "2017-08-21"),
        ("21 August 2018, I mean 2017", "en-US", "2017-08-21"),
        ("August 21 2018, sorry September", "en-US", "2018-09-21"),
        ("March 4 1980, oops, the 5th", "en-US", "1980-03-05"),
        ("3/3/2062, sorry, 1962", "en-US", "1962-03-03"),
        ("21.8.2018, nein, 2017", "de-DE", "2017-08-21"),
        ("4. März 1980, ach nein, April", "de-DE", "1980-04-04"),
        ("21.8.2018. ups, 2017", "de-DE", "2017-08-21"),
        ("3 May 1980, not 1981", "en-US", "1980-05-03"),
    ],
)
def test_the_last_part_of_a_day_counts(text: str, locale: str, birth: str) -> None:
    assert answer(text, "birth", locale) == {"birth": birth}


@pytest.mark.parametrize(
    ("text", "asked", "locale", "value"),
    [
        ("not 9, 10", "time", "en-US", "10:00"),
        ("14:00, scrap that, 14:30", "time", "en-US", "14:30"),
        ("not today, tomorrow", "day", "en-US", "2026-11-06"),
        ("nicht 9, sondern 10", "time", "de-DE", "10:00"),
        ("10 uhr, besser 11", "time", "de-DE", "11:00"),
        ("nicht heute, morgen", "day", "de-DE", "2026-11-06"),
    ],
)
def test_what_an_answer_denies_is_not_meant(text: str, asked: str, locale: str, value: str) -> None:
    assert answer(text, asked, locale) == {asked: value}


@pytest.mark.parametrize(
    ("text", "locale", "changed"),
    [
        ("April, not March", "en-US", {"birth": "1979-04-09"}),
        ("1978 not 1979", "en-US", {"birth": "1978-03-09"}),
        ("no, 1978", "en-US", {"birth": "1978-03-09"}),
        ("the 12th, not the 11th", "en-US", {"day": "2026-11-12"}),
        ("April nicht März", "de-DE", {"birth": "1979-04-09"}),
        ("nein, 1978", "de-DE", {"birth": "1978-03-09"}),
        ("Dezember statt November", "de-DE", {"day": "2026-12-11"}),
    ],
)
def test_a_part_of_a_day_is_changed(text: str, locale: str, changed: dict[str, str]) -> None:
    assert correct(text, locale) == changed


@pytest.mark.parametrize(
    ("text", "locale"),
    [
        ("yesterday lol. no, monday", "en-US"),
        ("yesterday... no wait, monday", "en-US"),
        ("gestern, haha, nein, Montag", "de-DE"),
        ("gestern, ach quatsch, Montag", "de-DE"),
    ],
)
def test_a_day_that_is_taken_back_goes_nowhere(text: str, locale: str) -> None:
    assert answer(text, "day", locale) == {"day": "2026-11-09"}


def test_a_day_that_the_asked_field_refuses_is_tried_at_no_other_field() -> None:
    assert answer("3/3/2062", "birth") == {"birth": "OUT_OF_BOUNDS"}


@pytest.mark.parametrize(
    ("text", "locale"),
    [
        ("tuesday after all, same time", "en-US"),
        ("same time but on tuesday", "en-US"),
        ("make it tuesday, keep the time", "en-US"),
        ("doch dienstag, uhrzeit bleibt", "de-DE"),
        ("dienstag bitte, gleiche Uhrzeit", "de-DE"),
    ],
)
def test_what_stays_is_kept(text: str, locale: str) -> None:
    assert correct(text, locale) == {"day": "2026-11-10"}


@pytest.mark.parametrize(
    ("text", "locale"), [("the time stays the same", "en-US"), ("die Uhrzeit bleibt", "de-DE"), ("same time", "en-US")]
)
def test_what_stays_is_not_asked_again(text: str, locale: str) -> None:
    assert find_fields_to_ask_again(VISIT, text, HELD, make_situation(locale), is_expected=True) == []


def correct_other(text: str, properties: dict[str, Any], held: dict[str, Any]) -> dict[str, Any]:
    form = Form({"type": "object", "properties": properties})
    days = {path: held[path][:10] for path in ("day", "birth") if path in held}
    situation = ReadingSituation(NOW, "Europe/London", "en-GB", held_days=days)
    extraction = read_correction(form, text, held, situation, is_expected=True)
    return {item.field: item.value for item in extraction.extracted} if extraction else {}


COUNTED = {
    "birth": {"format": "date", "title": "Date of birth", "x-max": "today"},
    "people": {"type": "integer", "title": "People"},
}


@pytest.mark.parametrize(
    ("text", "people", "changed"),
    [
        ("no, 1981", 4, {"birth": "1981-05-03"}),
        ("actually 1981", 4, {"birth": "1981-05-03"}),
        ("no, 5", 4, {"people": 5}),
        ("no, 1981", 1900, {"people": 1981}),
    ],
)
def test_a_year_is_no_count_of_a_few(text: str, people: int, changed: dict[str, Any]) -> None:
    assert correct_other(text, COUNTED, {"birth": "1980-05-03", "people": people}) == changed


def test_another_month_of_a_day_to_come_is_not_over() -> None:
    day = {"day": {"format": "date", "title": "Day"}}

    assert correct_other("in May", day, {"day": "2026-11-27"}) == {"day": "2027-05-27"}


def test_a_time_that_is_corrected_is_no_count() -> None:
    order = {
        "when": {"type": "string", "format": "date-time", "title": "Collection"},
        "budget": {"type": "number", "title": "Budget"},
    }
    changed = correct_other("9am, no, 9.30am", order, {"when": "2026-11-27T10:00:00+00:00", "budget": 50})

    assert changed == {"when": "2026-11-27T09:30:00+00:00"}


PURCHASE = Form(
    {
        "type": "object",
        "properties": {
            "bought": {"format": "date", "title": "Bought", "x-max": "today", "x-ask": "When did you buy it?"},
            "collect": {"format": "date", "title": "Collection", "x-min": "today", "x-ask": "When shall we come?"},
        },
    }
)


def buy(text: str, locale: str, asked: str = "bought") -> dict[str, Any]:
    situation = ReadingSituation(NOW, "Europe/London", locale)
    extraction = extract(PURCHASE, text, asked_paths=[asked], missing=[asked], situation=situation)
    refused = {item.field: item.reason for item in extraction.rejected}
    return {item.field: item.value for item in extraction.extracted} | refused


@pytest.mark.parametrize(
    ("text", "locale", "day"),
    [
        ("it was october 2023, let's say october 2", "en-GB", "2023-10-02"),
        ("october 2023, the 2nd I think", "en-GB", "2023-10-02"),
        ("early in june 2022, june 4", "en-GB", "2022-06-04"),
        ("june last year, about the 12th", "en-GB", "2025-06-12"),
        ("last june, around the 12th", "en-GB", "2026-06-12"),
        ("2021 - the 3rd of july", "en-GB", "2021-07-03"),
        ("in june, maybe the 12th", "en-GB", "2026-06-12"),
        ("im oktober 2023, so um den 2.", "de-DE", "2023-10-02"),
        ("oktober 2023, sagen wir 2. oktober", "de-DE", "2023-10-02"),
        ("oktober 2023, sagen wir 2.10.", "de-DE", "2023-10-02"),
        ("juni letztes jahr, etwa der 12.", "de-DE", "2025-06-12"),
        ("letztes jahr im juni, so um den 12.", "de-DE", "2025-06-12"),
        ("2021, am 3. juli", "de-DE", "2021-07-03"),
        ("2 june, it is a 2019 model", "en-GB", "2026-06-02"),
        ("2 june, we had one in march 2019 already", "en-GB", "2026-06-02"),
        ("june 12, the guarantee ends in march 2028", "en-GB", "2026-06-12"),
        ("the 2nd, guarantee until march 2028", "en-GB", "2026-11-02"),
        ("5 june 2024", "en-GB", "2024-06-05"),
        ("august 2024", "en-GB", "DAY_MISSING"),
        ("august 2024", "de-DE", "DAY_MISSING"),
    ],
)
def test_a_day_is_in_the_month_and_year_that_the_message_names(text: str, locale: str, day: str) -> None:
    assert buy(text, locale) == {"bought": day}


@pytest.mark.parametrize(
    ("text", "locale", "day"),
    [
        ("12 june, in 2025 it was great", "en-GB", "2027-06-12"),
        ("12 june, last year it was great", "en-GB", "2027-06-12"),
        ("june next year, about the 12th", "en-GB", "2027-06-12"),
        ("next june, about the 12th", "en-GB", "2027-06-12"),
        ("juni nächstes jahr, so um den 12.", "de-DE", "2027-06-12"),
        ("am 12. juni, in 2025 war das super", "de-DE", "2027-06-12"),
    ],
)
def test_a_day_to_come_is_in_no_year_that_is_over(text: str, locale: str, day: str) -> None:
    assert buy(text, locale, "collect") == {"collect": day}


def test_a_day_in_a_month_that_is_over_is_no_day_to_come() -> None:
    assert buy("march 2019, the 12th", "en-GB", "collect") == {"collect": "OUT_OF_BOUNDS"}
    assert buy("june 2027, the 12th", "en-GB", "collect") == {"collect": "2027-06-12"}


@pytest.mark.parametrize(
    ("text", "locale"),
    [
        ("the 12th, my passport runs out in march 2028", "en-GB"),
        ("on the 12th, we were there in march 2024", "en-GB"),
        ("am 12., wir waren im März 2024 schon da", "de-DE"),
    ],
)
def test_the_month_of_something_else_moves_no_day_to_come(text: str, locale: str) -> None:
    assert buy(text, locale, "collect") == {"collect": "2026-11-12"}


def test_a_day_is_in_the_month_that_the_last_answer_named() -> None:
    situation = ReadingSituation(NOW, "Europe/London", "en-GB", known_part="2023-10-01..2023-10-31")
    spec = PURCHASE.fields[0].spec

    assert [read_value(spec, text, situation).value for text in ("the 2nd", "2 october")] == ["2023-10-02"] * 2


@pytest.mark.parametrize(
    ("text", "locale"),
    [
        ("am 9.11.14 uhr", "de-DE"),
        ("am 9.11. 14 uhr", "de-DE"),
        ("9.11.14h", "de-DE"),
        ("am 9. November 14 Uhr", "de-DE"),
        ("on 9 november 14 o'clock", "en-GB"),
        ("november 9 2pm", "en-GB"),
    ],
)
def test_a_number_before_the_word_of_an_hour_is_no_year(text: str, locale: str) -> None:
    situation = ReadingSituation(NOW, "Europe/London", locale)

    extraction = extract(VISIT, text, missing=list(HELD), situation=situation)

    assert {item.field: item.value for item in extraction.extracted} == {"day": "2026-11-09", "time": "14:00"}
