from typing import Any

import pytest

from convengine.engine.forms.extract.reading import Reading
from convengine.engine.forms.extract.typed_values import (
    counts_other_unit,
    find_numbers,
    identifies,
    list_units,
    read_number_at,
    singularize,
    takes_bare_numbers,
    takes_money,
)
from convengine.engine.forms.form import Field, Form


def field(name: str, **declared: Any) -> Field:
    return Form({"type": "object", "properties": {name: {"type": "integer", **declared}}}).fields[0]


@pytest.mark.parametrize(
    ("message", "numbers"),
    [
        ("35,000 over 24 months", [("35,000", None), ("24", "month")]),
        ("two tickets and 75kg", [("two", "ticket"), ("75", "kg")]),
        ("10% or 5 percent", [("10", "percent"), ("5", "percent")]),
        ("INV-2024-0042, AB12, 12AB, #5, v2.5.1, 5-10, a@5.org", []),
        ("at 10:30 on 2026-05-01, 5 pm", []),
        ("call +49 171 555 01 02", []),
        ("$5 and 6 usd", [("5", None), ("6", None)]),
        ("someone, anyone", []),
    ],
)
def test_the_numbers_that_stand_by_themselves(message: str, numbers: list[tuple[str, str | None]]) -> None:
    assert [(number.number.digits, number.unit) for number in find_numbers(Reading(message))] == numbers


def test_behind_a_name_anything_may_stand_before_the_number() -> None:
    reading = Reading("amount:5")

    assert read_number_at(reading, 7) is None
    assert read_number_at(reading, 7, named=True)


@pytest.mark.parametrize(
    ("counting_field", "units"),
    [
        (field("tenureMonths"), {"month"}),
        (field("ticketCount"), {"ticket"}),
        (field("numberOfGuests"), {"guest"}),
        (field("partySize", description="number of people"), {"party", "people"}),
        (field("weight", description="in kg"), {"weight", "kg"}),
        (field("orderNumber"), set()),
        (field("amount"), set()),
    ],
)
def test_what_a_field_counts(counting_field: Field, units: set[str]) -> None:
    assert list_units(counting_field) == units


def test_other_units_of_the_same_kind_are_not_meant() -> None:
    assert counts_other_unit(field("tenureMonths"), "year")
    assert not counts_other_unit(field("tenureMonths"), "month")
    assert not counts_other_unit(field("amount"), "year")
    assert not counts_other_unit(field("tenureMonths"), "banana")


def test_amounts_and_counts_take_bare_numbers_and_ids_do_not() -> None:
    assert takes_bare_numbers(field("loanAmount"))
    assert takes_bare_numbers(field("guests", description="how many people come"))
    assert not takes_bare_numbers(field("tenureMonths"))
    assert not takes_bare_numbers(field("age"))
    assert not takes_bare_numbers(field("orderNumber"))
    assert identifies(field("orderNumber"))
    assert not identifies(field("numberOfGuests"))
    assert takes_money(field("budget"))
    assert not takes_money(field("guests"))


@pytest.mark.parametrize(("word", "singular"), [("months", "month"), ("glass", "glass"), ("gas", "gas"), ("kg", "kg")])
def test_one_of_many(word: str, singular: str) -> None:
    assert singularize(word) == singular
