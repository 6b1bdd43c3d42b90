"""People who are counted one group after the other."""

from datetime import UTC, datetime
from typing import Any

import pytest

from convengine.engine.forms.extract import extract
from convengine.engine.forms.form import Form
from convengine.engine.values import ReadingSituation, find_values
from convengine.engine.values.headcounts import counts_people, find_headcounts, get_headcount_tables
from convengine.engine.values.language import get_language
from convengine.engine.values.numbers import get_tables, list_field_units

NOW = datetime(2026, 11, 24, 10, tzinfo=UTC)
GUESTS = {"type": "integer", "title": "Number of people", "x-ask": "How many people?", "minimum": 1, "maximum": 20}
PERSONEN = {"type": "integer", "title": "Personenzahl", "x-ask": "Für wie viele Personen?", "minimum": 1, "maximum": 20}
DAY = {"type": "string", "format": "date"}


def make_form(**more: Any) -> Form:
    return Form({"type": "object", "properties": {"day": DAY, **more}})


def read(form: Form, text: str, locale: str, asked: str | None = "guests") -> dict[str, Any]:
    asked_paths = [asked] if asked else []
    extraction = extract(form, text, asked_paths=asked_paths, situation=ReadingSituation(NOW, "Europe/London", locale))
    return {finding.field: finding.value for finding in extraction.extracted}


@pytest.mark.parametrize(
    ("text", "locale", "people"),
    [
        ("3 adults and a baby", "en-GB", 4),
        ("two seniors, two kids", "en-GB", 4),
        ("me, my husband and our 3 girls", "en-GB", 5),
        ("it's my parents and me", "en-GB", 3),
        ("2 grown-ups and a 4 year old please", "en-GB", 3),
        ("myself plus two", "en-GB", 3),
        ("2 grown-ups 3 kids", "en-GB", 5),
        ("zwei Erwachsene 1 Baby", "de-DE", 3),
        ("one adult with three little ones", "en-GB", 4),
        ("4 people, 2 adults and 2 kids", "en-GB", 4),
        ("3 Erwachsene und ein Baby", "de-DE", 4),
        ("ich und meine zwei Töchter", "de-DE", 3),
        ("mein Mann, ich und drei Kinder", "de-DE", 5),
        ("ich mit 2 Freundinnen", "de-DE", 3),
        ("zwei Erwachsene und ein 6-jähriges Kind", "de-DE", 3),
        ("meine Eltern und ich", "de-DE", 3),
    ],
)
def test_the_parts_of_a_group_are_summed(text: str, locale: str, people: int) -> None:
    form = make_form(guests=GUESTS if locale == "en-GB" else PERSONEN)
    assert read(form, text, locale) == {"guests": people}
    if "plus two" not in text:
        day = "on Friday" if locale == "en-GB" else "am Freitag"
        assert read(form, f"{text} {day}", locale, None) == {"guests": people, "day": "2026-11-27"}


@pytest.mark.parametrize(
    ("text", "locale"),
    [
        ("not 2 adults and a child", "en-GB"),
        ("2 adults and 1 child or two", "en-GB"),
        ("me and my cousins", "en-GB"),
        ("2 Erwachsene oder 3", "de-DE"),
    ],
)
def test_what_is_uncertain_is_asked_back(text: str, locale: str) -> None:
    assert read(make_form(guests=GUESTS if locale == "en-GB" else PERSONEN), text, locale) == {}


def test_a_form_that_counts_children_on_their_own_sums_nothing() -> None:
    children = {"type": "integer", "title": "Children", "x-ask": "How many children?"}
    specs = [field.spec for field in make_form(guests=GUESTS, children=children).leaves]
    spans = find_values(specs, "2 adults and 3 kids", ReadingSituation(NOW, "Europe/London", "en-GB"))
    assert all(reading.value != 5 for span in spans for reading in span.readings.values())


def test_a_field_for_adults_counts_only_them() -> None:
    language = get_language("en")
    adults, guests = make_form(adults={"type": "integer", "title": "Adults"}, guests=GUESTS).leaves[1:]
    units = {field.path: list_field_units(field.spec, get_tables(language)) for field in (adults, guests)}
    assert not counts_people(adults.spec, units["adults"], language)
    assert counts_people(guests.spec, units["guests"], language)
    assert get_headcount_tables(language) is get_headcount_tables(language)


def test_a_sum_says_where_it_is() -> None:
    language = get_language("en")
    tokens = language.read_tokens("a table for 2 adults and 2 kids tonight")
    assert [(tokens.text[start:end], count) for start, end, count in find_headcounts(tokens, language)] == [
        ("2 adults and 2 kids ", 4)
    ]


def test_children_are_people() -> None:
    form = make_form(guests=GUESTS)
    situation = ReadingSituation(NOW, "Europe/London", "en-GB")
    extraction = extract(form, "25 kids", asked_paths=["guests"], situation=situation)
    assert [finding.reason for finding in extraction.rejected] == ["OUT_OF_BOUNDS"]
    assert read(form, "12 kids", "en-GB") == {"guests": 12}


@pytest.mark.parametrize(
    ("text", "locale", "people"),
    [
        ("just my niece", "en-GB", 1),
        ("only the wee lad please", "en-GB", 1),
        ("just him", "en-GB", 1),
        ("on my own", "en-GB", 1),
        ("me myself and i", "en-GB", 1),
        ("her and me", "en-GB", 2),
        ("me and the hubby", "en-GB", 2),
        ("me my husband and my mum", "en-GB", 3),
        ("nur meine Tochter", "de-DE", 1),
        ("bloß für ihn", "de-DE", 1),
        ("ganz allein", "de-DE", 1),
        ("er und sein Bruder", "de-DE", 2),
        ("just us", "en-GB", None),
        ("just the kids", "en-GB", None),
        ("nur die Familie", "de-DE", None),
    ],
)
def test_an_answer_counts_by_who_comes(text: str, locale: str, people: int | None) -> None:
    form = make_form(guests=PERSONEN if locale == "de-DE" else GUESTS)

    assert read(form, text, locale).get("guests") == people


def test_who_comes_is_no_number_in_a_sentence() -> None:
    tokens = get_language("en").read_tokens("her and me will sit at the front")

    assert not list(find_headcounts(tokens, get_language("en")))
