from datetime import UTC, datetime
from typing import Any

import pytest

from convengine.engine.forms.extract import extract
from convengine.engine.forms.form import Form
from convengine.engine.values import ReadingSituation

NOW = datetime(2026, 11, 24, tzinfo=UTC)
OPTIONS = [
    {"value": "station", "label": "Station", "synonyms": ["Bahnhof"]},
    {"value": "airport", "label": "Airport", "synonyms": ["Flughafen"]},
]
RIDE = Form(
    {
        "type": "object",
        "properties": {
            "pickup": {"type": "string", "title": "Pick-up address"},
            "goal": {"type": "string", "x-options": OPTIONS},
        },
    }
)


def read(text: str, *, asked: str = "pickup", locale: str = "en-GB", missing: Any = None) -> dict[str, Any]:
    situation = ReadingSituation(NOW, locale=locale)
    extraction = extract(RIDE, text, asked_paths=[asked] if asked else [], situation=situation, missing=missing)
    return {finding.field: finding.value for finding in extraction.extracted}


@pytest.mark.parametrize(
    ("text", "locale"),
    [
        ("Flat 2, 9 Station Road", "en-GB"),
        ("outside the station", "en-GB"),
        ("next to the airport", "en-GB"),
        ("vor dem Bahnhof", "de-DE"),
        ("am Bahnhof", "de-DE"),
    ],
)
def test_an_option_in_the_name_of_a_place_is_the_text_that_was_asked_for(text: str, locale: str) -> None:
    assert read(text, locale=locale) == {"pickup": text}


def test_an_option_of_its_own_stays_a_choice() -> None:
    assert read("9 Mill Lane, to the station") == {"pickup": "9 Mill Lane", "goal": "station"}


def test_a_street_is_no_option_anywhere() -> None:
    assert read("a taxi from 9 Station Road to the airport", asked="") == {"goal": "airport"}


def test_a_text_that_is_an_option_of_a_filled_field_answers_the_question() -> None:
    assert read("Station", missing=["pickup"]) == {"pickup": "Station"}


def read_all(schema: dict[str, Any], text: str, asked: str, locale: str = "en-GB") -> dict[str, Any]:
    form = Form({"type": "object", "properties": schema})
    situation = ReadingSituation(NOW, locale=locale)
    extraction = extract(form, text, asked_paths=[asked] if asked else [], situation=situation)
    return {finding.field: finding.value for finding in extraction.extracted}


def build_choice(*labels: str) -> dict[str, Any]:
    return {"type": "string", "x-options": [{"value": label, "label": label} for label in labels]}


@pytest.mark.parametrize(
    ("text", "locale", "values"),
    [
        ("colour and cut by Anna", "en-GB", {"stylist": "Anna"}),
        ("Färben bei Anna", "de-DE", {"stylist": "Anna"}),
        ("Wasserhahn tropft, am Vormittag", "de-DE", {"work": "Wasserhahn tropft", "part": "Vormittag"}),
        ("we pay by card", "en-GB", {"pay": "Card"}),
    ],
)
def test_an_option_beside_a_text_that_is_no_place_is_a_choice(text: str, locale: str, values: dict[str, Any]) -> None:
    schema = {
        "work": {"type": "string", "title": "What would you like done"},
        "stylist": build_choice("Sarah", "Anna"),
        "part": build_choice("Vormittag", "Nachmittag"),
        "pay": build_choice("Card", "Cash"),
    }
    assert read_all(schema, text, "work", locale).items() >= values.items()


@pytest.mark.parametrize(
    ("text", "asked", "value"),
    [
        ("a large house", "size", {"size": "Large"}),
        ("it's a large detached house", "home", {"home": "Detached", "size": "Large"}),
        ("I need 1 gold ring", "", {"metal": "Gold"}),
        ("gold ring, large", "metal", {"metal": "Gold", "size": "Large"}),
    ],
)
def test_an_option_before_a_word_that_only_some_streets_have_is_a_choice(
    text: str, asked: str, value: dict[str, Any]
) -> None:
    schema = {
        "size": build_choice("Small", "Large"),
        "home": build_choice("Detached", "Flat"),
        "metal": build_choice("Gold", "Silver"),
    }
    assert read_all(schema, text, asked) == value


def test_a_part_of_the_day_is_no_place() -> None:
    schema = {"place": {"type": "string", "title": "Abholadresse"}, "part": build_choice("Mittag", "Abend")}
    assert read_all(schema, "Zur Mühle 3 am Abend", "place", "de-DE") == {"place": "Zur Mühle 3", "part": "Abend"}


def test_a_house_number_makes_a_street_of_any_word() -> None:
    assert read("a taxi from 3 Station Close to the airport", asked="") == {"goal": "airport"}


@pytest.mark.parametrize(
    ("text", "street"),
    [
        ("79102, Habsburgerstr. 17", "Habsburgerstr. 17"),
        ("79102 Freiburg, Am Rosenweg 5a", "Am Rosenweg 5a"),
        ("79102", None),
        ("79102, Anna 3", None),
        ("79102, am besten Herbst 3", None),
        ("79102, danke Ihnen", None),
    ],
)
def test_a_street_beside_the_asked_post_code_is_the_street(text: str, street: str | None) -> None:
    properties = {
        "code": {"type": "string", "x-kind": "postcode", "x-country": "DE"},
        "street": {"type": "string", "title": "Straße und Hausnummer"},
        "name": {"type": "string", "title": "Name"},
    }
    situation = ReadingSituation(datetime(2026, 2, 24, 10, tzinfo=UTC), "Europe/Berlin", "de-DE")

    extraction = extract(
        Form({"type": "object", "properties": properties}), text, situation=situation, asked_paths=["code"]
    )

    values = {item.field: item.value for item in extraction.extracted}
    assert values == {"code": "79102"} | ({"street": street} if street else {})


COURIER = {
    "delivery": {"type": "string", "title": "Delivery address", "x-ask": "Where shall we take it?", "x-order": 2},
    "fetching": {"type": "string", "title": "Pick-up address", "x-ask": "Where do we pick it up?", "x-order": 1},
    "recipient": {"type": "string", "title": "Name of the recipient"},
}


@pytest.mark.parametrize(
    ("text", "locale", "streets"),
    [
        ("a parcel from 12 mill lane to 4 high street", "en-GB", ["12 mill lane", "4 high street"]),
        ("pick it up at 12 Mill Lane and take it to 4b High Street", "en-GB", ["12 Mill Lane", "4b High Street"]),
        ("ein Paket von der Rosenstraße 5 nach Am Markt 3", "de-DE", ["Rosenstraße 5", "Am Markt 3"]),
        ("ein Paket von der Rosenstraße 5 in die Gartenstraße 12a", "de-DE", ["Rosenstraße 5", "Gartenstraße 12a"]),
        ("from 5 Orchard Yard and take it to 81 Station Road", "en-GB", ["5 Orchard Yard", "81 Station Road"]),
        ("from 12 Mill Lane, Leeds to 4 High Street, York", "en-GB", ["12 Mill Lane, Leeds", "4 High Street, York"]),
        ("from 12 Mill Lane, Friday please, to 4 High Street", "en-GB", ["12 Mill Lane", "4 High Street"]),
        ("not from 12 mill lane to 4 high street", "en-GB", []),
    ],
)
def test_two_streets_are_where_something_is_fetched_and_taken(text: str, locale: str, streets: list[str]) -> None:
    form = Form({"type": "object", "properties": COURIER})
    found = extract(form, text, situation=ReadingSituation(NOW, "Europe/London", locale))

    values = {finding.field: finding.value for finding in found.extracted}
    assert [values[path] for path in ("fetching", "delivery") if path in values] == streets
