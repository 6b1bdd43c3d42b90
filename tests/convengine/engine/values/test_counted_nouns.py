"""How many of what a form is about, said beside other values or as a number of people."""

from datetime import UTC, datetime
from typing import Any

import pytest

from convengine.engine.forms.extract import extract
from convengine.engine.forms.form import Form
from convengine.engine.values import ReadingSituation, field_spec, find_values

NOW = datetime(2026, 11, 24, 10, tzinfo=UTC)
DAY = {"type": "string", "format": "date"}
FILMS = {"x-options": [{"value": "dune", "label": "Dune"}, {"value": "wicked", "label": "Wicked"}]}
TREES = {"x-options": [{"value": "apfel", "label": "Apfelbaum"}, {"value": "birne", "label": "Birnbaum"}]}


def read(form: Form, text: str, locale: str, asked: str | None = None) -> dict[str, Any]:
    terms = frozenset({"ticket", "film", "baum", "bestell", "apfelbaum", "birnbaum"})
    situation = ReadingSituation(NOW, "Europe/London", locale, subject_terms=terms)
    extraction = extract(form, text, asked_paths=[asked] if asked else [], situation=situation)
    return {item.field: item.value for item in extraction.extracted} | {
        item.field: item.reason for item in extraction.rejected
    }


def make_form(title: str, question: str, **others: Any) -> Form:
    count = {"type": "integer", "title": title, "minimum": 1, "maximum": 15, "x-ask": question}
    return Form({"type": "object", "properties": {**others, "count": count}})


SEATS = make_form("Seats", "How many seats?", film=FILMS, day=DAY)
ANZAHL = make_form("Anzahl", "Wie viele Stück?", baum=TREES, tag=DAY)
PLAETZE = make_form("Plätze", "Wie viele Plätze?", tag=DAY)


@pytest.mark.parametrize(
    ("form", "text", "locale", "values"),
    [
        (SEATS, "three tickets for Dune on Saturday", "en-GB", {"count": 3, "film": "dune", "day": "2026-11-28"}),
        (SEATS, "a pair of tickets for Wicked please", "en-GB", {"count": 2, "film": "wicked"}),
        (SEATS, "half a dozen tickets for Dune", "en-GB", {"count": 6, "film": "dune"}),
        (SEATS, "Wicked, a dozen, on Friday", "en-GB", {"count": 12, "film": "wicked", "day": "2026-11-27"}),
        (SEATS, "Dune for 4 people", "en-GB", {"count": 4, "film": "dune"}),
        (SEATS, "there are 5 of us wanting to see Dune", "en-GB", {"count": 5, "film": "dune"}),
        (SEATS, "2 adults and 2 kids for Wicked", "en-GB", {"count": 4, "film": "wicked"}),
        (SEATS, "20 tickets please", "en-GB", {"count": "OUT_OF_BOUNDS"}),
        (SEATS, "Dune for 7 December", "en-GB", {"day": "2026-12-07", "film": "dune"}),
        (ANZAHL, "zwei Bäume bestellen", "de-DE", {"count": 2}),
        (ANZAHL, "Apfelbaum, ein halbes Dutzend", "de-DE", {"count": 6, "baum": "apfel"}),
        (ANZAHL, "3 Birnbäume für Freitag", "de-DE", {"count": 3, "baum": "birne", "tag": "2026-11-27"}),
        (PLAETZE, "vier Karten bitte", "de-DE", {"count": 4}),
        (PLAETZE, "2 Erwachsene und 1 Kind am Samstag", "de-DE", {"count": 3, "tag": "2026-11-28"}),
    ],
)
def test_a_number_before_what_the_form_is_about_is_counted(
    form: Form, text: str, locale: str, values: dict[str, Any]
) -> None:
    assert read(form, text, locale) == values


@pytest.mark.parametrize(
    ("form", "text", "locale"),
    [
        (SEATS, "5 stairs", "en-GB"),
        (SEATS, "2 dogs and a cat", "en-GB"),
        (SEATS, "I have 2 tickets already and want more", "en-GB"),
        (SEATS, "3 more tickets", "en-GB"),
        (SEATS, "my 2 kids love it", "en-GB"),
        (SEATS, "2 or 3 tickets", "en-GB"),
        (SEATS, "4 adults, 1 under 5", "en-GB"),
        (SEATS, "2 family tickets for 5 people", "en-GB"),
        (ANZAHL, "2 Hunde", "de-DE"),
        (ANZAHL, "ein paar Bäume", "de-DE"),
        (make_form("Stairs", "How many stairs are there?"), "2 tickets", "en-GB"),
    ],
)
def test_a_number_of_something_else_is_not_counted(form: Form, text: str, locale: str) -> None:
    assert read(form, text, locale) == {}


@pytest.mark.parametrize(
    ("form", "text", "locale", "count"),
    [
        (SEATS, "5 of us, 2 adults and 3 kids", "en-GB", 5),
        (SEATS, "2 adults 2 concessions", "en-GB", 4),
        (SEATS, "me and my husband", "en-GB", 2),
        (SEATS, "single", "en-GB", 1),
        (SEATS, "a couple of seats", "en-GB", 2),
        (SEATS, "just the one", "en-GB", 1),
        (PLAETZE, "beide", "de-DE", 2),
        (PLAETZE, "nur einer", "de-DE", 1),
        (PLAETZE, "wir sind 4 Erwachsene und 2 Kinder", "de-DE", 6),
    ],
)
def test_people_are_counted_where_seats_are_asked_for(form: Form, text: str, locale: str, count: int) -> None:
    assert read(form, text, locale, "count") == {"count": count}


@pytest.mark.parametrize(
    ("text", "locale"),
    [
        ("neue Fenster, 8 Holzfenster, Budget etwa 900 €", "de-DE"),
        ("8 schöne Fenster, Budget 900 €", "de-DE"),
        ("8 windows, budget about 900 euros", "en-GB"),
    ],
)
def test_a_number_is_not_of_a_noun_behind_a_sign(text: str, locale: str) -> None:
    question = "Wie viele Fenster sollen es sein?" if locale == "de-DE" else "How many windows?"
    count = field_spec("count", {"type": "integer", "title": "Count", "x-ask": question})
    budget = field_spec("budget", {"type": "number", "title": "Budget", "x-kind": "money", "x-currency": "EUR"})
    spans = find_values([count, budget], text, ReadingSituation(datetime(2026, 11, 24, tzinfo=UTC), locale=locale))

    assert [{name: item.value for name, item in span.readings.items()} for span in spans] == [
        {"count": 8},
        {"budget": 900},
    ]
