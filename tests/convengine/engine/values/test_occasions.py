"""How often something happens: "twice a day", "dreimal am Tag"."""

from datetime import UTC, datetime
from typing import Any

import pytest

from convengine.engine.forms.extract import extract
from convengine.engine.forms.form import Form
from convengine.engine.values import ReadingSituation

NOW = datetime(2026, 11, 24, 10, tzinfo=UTC)
PETS = [
    {"value": "cat", "label": "Cats", "synonyms": ["Katzen"]},
    {"value": "dog", "label": "Dogs", "synonyms": ["Hunde"]},
]


def make_form(title: str, question: str) -> Form:
    visits = {"type": "integer", "title": title, "minimum": 1, "maximum": 3, "x-ask": question}
    return Form({"type": "object", "properties": {"pet": {"title": "Pet", "x-options": PETS}, "visits": visits}})


VISITS = make_form("Visits a day", "How many visits a day?")
BESUCHE = make_form("Besuche am Tag", "Wie viele Besuche am Tag?")
OFTEN = make_form("Frequency", "How often per week shall we come?")


def read(form: Form, text: str, locale: str, asked: str) -> dict[str, Any]:
    extraction = extract(form, text, asked_paths=[asked], situation=ReadingSituation(NOW, "Europe/London", locale))
    return {item.field: item.value for item in extraction.extracted}


@pytest.mark.parametrize(
    ("form", "text", "locale", "count"),
    [
        (VISITS, "twice a day pls", "en-GB", 2),
        (VISITS, "just the once", "en-GB", 1),
        (VISITS, "three times a day", "en-GB", 3),
        (VISITS, "3 times daily", "en-GB", 3),
        (VISITS, "2x", "en-GB", 2),
        (VISITS, "two a day", "en-GB", 2),
        (VISITS, "one visit per day is fine", "en-GB", 1),
        (VISITS, "morning and evening", "en-GB", 2),
        (VISITS, "not once but twice a day", "en-GB", 2),
        (OFTEN, "twice a week", "en-GB", 2),
        (OFTEN, "thrice", "en-GB", 3),
        (BESUCHE, "zweimal am Tag bitte", "de-DE", 2),
        (BESUCHE, "2 mal täglich", "de-DE", 2),
        (BESUCHE, "einmal reicht", "de-DE", 1),
        (BESUCHE, "morgens und abends", "de-DE", 2),
    ],
)
def test_how_often_is_a_number(form: Form, text: str, locale: str, count: int) -> None:
    assert read(form, text, locale, "visits") == {"visits": count}


@pytest.mark.parametrize(
    ("form", "text", "locale"),
    [
        (VISITS, "twice a week", "en-GB"),
        (VISITS, "once or twice a day", "en-GB"),
        (VISITS, "every other day", "en-GB"),
        (VISITS, "for 3 days", "en-GB"),
        (BESUCHE, "einmal die Woche", "de-DE"),
    ],
)
def test_how_often_in_another_time_is_no_number(form: Form, text: str, locale: str) -> None:
    assert read(form, text, locale, "visits") == {}


@pytest.mark.parametrize(
    ("form", "text", "locale", "values"),
    [
        (VISITS, "2 cats", "en-GB", {"pet": "cat"}),
        (VISITS, "our 3 dogs", "en-GB", {"pet": "dog"}),
        (VISITS, "2 cats, three times a day", "en-GB", {"pet": "cat", "visits": 3}),
        (BESUCHE, "zwei Katzen", "de-DE", {"pet": "cat"}),
        (BESUCHE, "drei Hunde, einmal am Tag", "de-DE", {"pet": "dog", "visits": 1}),
        (VISITS, "two dogs and a cat", "en-GB", {}),
    ],
)
def test_a_number_before_an_option_says_not_how_often(
    form: Form, text: str, locale: str, values: dict[str, Any]
) -> None:
    assert read(form, text, locale, "pet") == values
