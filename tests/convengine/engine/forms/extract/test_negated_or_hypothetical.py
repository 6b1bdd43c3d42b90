from datetime import UTC, datetime
from typing import Any

import pytest

from convengine.engine.forms.extract import extract
from convengine.engine.forms.extract.negated_or_hypothetical import (
    begins_with_negation,
    is_bounded,
    is_negated_or_hypothetical,
    is_of_other_subject,
)
from convengine.engine.forms.extract.reading import Reading
from convengine.engine.forms.form import Field, Form
from convengine.engine.values import ReadingSituation

FORM = Form(
    {
        "type": "object",
        "properties": {
            "address": {"type": "string"},
            "oldAddress": {"type": "string"},
            "newAddress": {"type": "string"},
            "city": {"type": "string", "enum": ["Dallas"]},
            "fromCity": {"type": "string", "enum": ["Dallas"]},
            "day": {"type": "string", "format": "date"},
            "months": {"type": "integer"},
            "seats": {"type": "integer"},
            "orderNumber": {"type": "string"},
            "reason": {"type": "string"},
        },
    }
)


def field(name: str) -> Field:
    form_field = FORM.field(name)
    assert form_field is not None
    return form_field


def judge_value(judge: Any, message: str, name: str) -> bool:
    """`[…]` stands around the value."""
    start, end = message.index("["), message.index("]") - 1
    reading = Reading(message.replace("[", "").replace("]", ""))
    return bool(judge(reading, field(name), start, end))


@pytest.mark.parametrize(
    ("message", "name", "expected"),
    [
        ("my old address is [5 oak street]", "address", True),
        ("my old address is [5 oak street]", "newAddress", True),
        ("my old address is [5 oak street]", "oldAddress", False),
        ("my current address is [5 oak street]", "address", False),
        ("my current address is [5 oak street]", "newAddress", True),
        ("my new address is [5 oak street]", "newAddress", False),
        ("my new address is [5 oak street]", "oldAddress", True),
        ("[5 oak street] is our former home", "newAddress", True),
        ("out of the old flat to [5 oak street]", "newAddress", False),
        ("my address was [5 oak street]", "address", True),
        ("my order number was [48392]", "orderNumber", False),
        ("cancel my old order [48392]", "orderNumber", False),
        ("my old order number is [48392]", "orderNumber", True),
        ("i used to live in [dallas]", "city", True),
        ("i used to live there and now in [dallas]", "city", False),
        ("i have lived in [dallas]", "city", False),
        ("moving from [dallas]", "city", True),
        ("moving from [dallas]", "fromCity", False),
        ("any town but [dallas]", "city", True),
        ("nothing but [dallas]", "city", False),
        ("[dallas] is too far", "city", True),
        ("skip [dallas]", "city", True),
        ("not [dallas]", "city", True),
        ("not order [48392]", "orderNumber", True),
        ("don't use [48392]", "orderNumber", True),
        ("anything but [48392]", "orderNumber", True),
        ("[48392] is wrong", "orderNumber", True),
        ("[48392], no", "orderNumber", True),
        ("i never got order [48392]", "orderNumber", False),
        ("[48392] hasn't arrived", "orderNumber", False),
        ("[48392] is too late", "orderNumber", False),
        ("till now [dallas]", "city", True),
    ],
)
def test_what_is_said_without_being_meant(message: str, name: str, expected: bool) -> None:
    assert judge_value(is_negated_or_hypothetical, message, name) is expected


@pytest.mark.parametrize(
    ("message", "name", "expected"),
    [
        ("by [2027-03-09]", "day", True),
        ("by [dallas]", "city", False),
        ("the day after [2027-03-09]", "day", True),
        ("after work on [2027-03-09]", "day", False),
        ("[2027-03-09] or later", "day", True),
        ("[2027-03-09] or 2027-03-12", "day", False),
        ("at the latest on [2027-03-09]", "day", True),
        ("between 5 and [10]", "seats", True),
        ("over [10]", "seats", True),
        ("5000 over [10]", "months", False),
        ("over [10]", "months", True),
        ("at least [10]", "seats", True),
        ("[10] or more", "seats", True),
        ("[10]+", "seats", True),
    ],
)
def test_what_bounds_instead_of_giving(message: str, name: str, expected: bool) -> None:
    assert judge_value(is_bounded, message, name) is expected


@pytest.mark.parametrize(
    ("answer", "name", "expected"),
    [
        ("used to be c 77", "address", True),
        ("before noon", "address", True),
        ("not c 77", "address", True),
        ("the old one: c 77", "address", True),
        ("old town", "address", False),
        ("c 77", "address", False),
        ("before noon nobody came", "reason", False),
    ],
)
def test_an_answer_may_begin_with_what_it_is_not(answer: str, name: str, expected: bool) -> None:
    assert begins_with_negation(answer, field(name)) is expected


SUBJECT_FORM = Form(
    {
        "type": "object",
        "properties": {
            "day": {"type": "string", "format": "date"},
            "contractEnd": {"type": "string", "format": "date"},
            "email": {"type": "string", "format": "email"},
            "plan": {"type": "string", "enum": ["Solo"]},
            "currentPlan": {"type": "string", "enum": ["Solo"]},
            "newAddress": {"type": "string"},
            "address": {"type": "string"},
            "orderNumber": {"type": "string"},
            "zipCode": {"type": "string"},
        },
    }
)


@pytest.mark.parametrize(
    ("message", "name", "expected"),
    [
        ("it ends on [2027-03-01]", "day", True),
        ("it ends on [2027-03-01]", "contractEnd", False),
        ("born [1980-03-01]", "day", True),
        ("the invoice of [2027-03-01]", "day", True),
        ("on [2027-03-01]", "day", False),
        ("your colleague [a@example.org]", "email", True),
        ("your reply to [a@example.org]", "email", False),
        ("[a@example.org] said so", "email", True),
        ("i am currently on [solo]", "plan", True),
        ("i am currently on [solo]", "currentPlan", False),
        ("i have [solo] at the moment", "plan", True),
        ("i would like to have [solo]", "plan", False),
        ("i live at [5 oak street]", "newAddress", True),
        ("i live at [5 oak street]", "address", False),
        ("i will live at [5 oak street]", "newAddress", False),
        ("to my old flat, [5 oak street]", "newAddress", True),
        ("not my old flat, [5 oak street] is it", "newAddress", False),
        ("my zip code is [90210]", "orderNumber", True),
        ("my zip code is [90210]", "zipCode", False),
        ("[12900] euros", "orderNumber", True),
        ("it cost [12900]", "orderNumber", True),
        ("cancel [12900]", "orderNumber", False),
    ],
)
def test_what_the_words_give_to_something_else(message: str, name: str, expected: bool) -> None:
    start, end = message.index("["), message.index("]") - 1
    field = SUBJECT_FORM.field(name)
    assert field is not None

    assert is_of_other_subject(Reading(message.replace("[", "").replace("]", "")), field, start, end) is expected


@pytest.mark.parametrize(
    ("text", "values"),
    [
        ("my dress is too tight", ["D"]),
        ("my sister's dress is too tight", ["D"]),
        ("our sons shirt is too wide", ["S"]),
        ("her dress is too long", ["D"]),
        ("the dress is too tight", []),
        ("my answer: the dress is too tight", []),
    ],
)
def test_what_is_wrong_with_an_own_thing_does_not_exclude_it(text: str, values: list[str]) -> None:
    options = [{"value": "D", "label": "dress"}, {"value": "S", "label": "shirt"}]
    form = Form({"type": "object", "properties": {"garment": {"type": "string", "x-options": options}}})
    situation = ReadingSituation(datetime(2026, 2, 24, 10, tzinfo=UTC), "Europe/Berlin", "en-GB")

    assert [item.value for item in extract(form, text, situation=situation).extracted] == values
