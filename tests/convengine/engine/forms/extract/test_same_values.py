"""Values that a message takes from the form that was done before (R113)."""

from datetime import UTC, datetime
from typing import Any

import pytest

from convengine.engine.forms.extract import Extraction, extract
from convengine.engine.forms.form import Form
from convengine.engine.values import ReadingSituation

#: A Tuesday.
NOW = datetime(2026, 5, 12, 8, 0, tzinfo=UTC)
FORM = Form(
    {
        "type": "object",
        "properties": {
            "pickup_address": {"type": "string", "title": "Pick-up address", "x-ask": "Where from?"},
            "drop_address": {"type": "string", "title": "Drop-off address", "x-ask": "Where to?"},
            "day": {"type": "string", "format": "date", "title": "Day", "x-min": "today", "x-labels": ["Tag"]},
            "phone": {"type": "string", "format": "phone", "title": "Phone", "x-country": "GB"},
            "boxes": {"type": "number", "title": "Boxes"},
            "name": {"type": "string", "title": "Name"},
        },
        "required": ["pickup_address", "drop_address", "day", "phone", "boxes", "name"],
    }
)
FORMER = {
    "pickup_address": "3 Pump Court", "drop_address": "40 Abbey St", "day": "2026-05-14", "phone": "+447700900816",
    "boxes": 3, "name": "Ann Bell",
}  # fmt: skip


def read(
    text: str, asked: str | None = None, former: dict[str, Any] = FORMER, held: tuple[str, ...] = ()
) -> Extraction:
    missing = [path for path in FORMER if path not in held]
    situation = ReadingSituation(NOW, "Europe/London", "en-GB", former_values=former)
    return extract(FORM, text, asked_paths=[asked] if asked else [], missing=missing, situation=situation)


def list_values(extraction: Extraction) -> dict[str, Any]:
    return {item.field: item.value for item in extraction.extracted}


@pytest.mark.parametrize(
    ("text", "asked", "values"),
    [
        ("same number", "drop_address", {"phone": "+447700900816"}),
        ("the same phone number please", "name", {"phone": "+447700900816"}),
        ("dieselbe Nummer wie vorhin", "name", {"phone": "+447700900816"}),
        ("wieder auf denselben Namen", "day", {"name": "Ann Bell"}),
        ("same name, same number", "name", {"name": "Ann Bell", "phone": "+447700900816"}),
        ("same address as before", "pickup_address", {"pickup_address": "3 Pump Court"}),
        ("the same place", "drop_address", {"drop_address": "40 Abbey St"}),
        ("phone as before", "boxes", {"phone": "+447700900816"}),
        ("Nummer wie vorhin", "boxes", {"phone": "+447700900816"}),
        ("as before", "name", {"name": "Ann Bell"}),
        ("the same again", "boxes", {"boxes": 3}),
        ("am gleichen Tag", "day", {"day": "2026-05-14"}),
        ("the same day", "day", {"day": "2026-05-14"}),
        ("and another delivery on the same day, same number", None, {"day": "2026-05-14", "phone": "+447700900816"}),
    ],
)
def test_same_means_the_value_of_the_form_that_was_done_before(
    text: str, asked: str | None, values: dict[str, Any]
) -> None:
    assert list_values(read(text, asked)) == values


@pytest.mark.parametrize(
    ("text", "asked"),
    [
        pytest.param("not the same number", "boxes", id="a denial"),
        pytest.param("nicht dieselbe Nummer", "boxes", id="a German denial"),
        pytest.param("is it the same number?", "boxes", id="a question"),
        pytest.param("the same address", "boxes", id="two fields have this name"),
        pytest.param("the same van", "boxes", id="no field has this name"),
    ],
)
def test_what_does_not_say_which_value_takes_none(text: str, asked: str) -> None:
    assert list_values(read(text, asked)) == {}


def test_without_a_form_that_was_done_nothing_is_the_same() -> None:
    assert list_values(read("same name, same number", "name", former={})) == {}


def test_an_address_that_this_form_says_may_be_the_same_so_none_is_taken() -> None:
    assert list_values(read("to the same address", "drop_address", held=("pickup_address",))) == {}
    assert list_values(read("same address as before", "drop_address", held=("pickup_address",))) == {
        "drop_address": "40 Abbey St"
    }


def test_a_former_day_that_is_over_is_refused() -> None:
    extraction = read("the same day", "day", former={"day": "2026-05-01"})

    assert list_values(extraction) == {}
    assert [(item.field, item.reason) for item in extraction.rejected] == [("day", "OUT_OF_BOUNDS")]


@pytest.mark.parametrize(
    ("text", "locale", "start"),
    [
        ("on the same day at 9am", "en-GB", "2026-06-01T09:00:00+01:00"),
        ("same time on the 3rd of June", "en-GB", "2026-06-03T14:00:00+01:00"),
        ("am 3. Juni zur gleichen Uhrzeit", "de-DE", "2026-06-03T14:00:00+01:00"),
    ],
)
def test_of_a_former_day_and_time_either_may_be_the_same(text: str, locale: str, start: str) -> None:
    form = Form(
        {"type": "object", "properties": {"start": {"type": "string", "format": "date-time", "title": "Start"}}}
    )
    situation = ReadingSituation(NOW, "Europe/London", locale, former_values={"start": "2026-06-01T14:00:00+01:00"})

    extraction = extract(form, text, asked_paths=["start"], missing=["start"], situation=situation)

    assert list_values(extraction) == {"start": start}


def test_a_time_behind_the_same_day_is_read_beside_what_says_when() -> None:
    time = {"type": "string", "format": "time", "x-min": "08:00", "x-max": "18:00"}
    properties = {"day": {"type": "string", "format": "date"}, "time": time}
    form = Form({"type": "object", "properties": properties, "required": ["day", "time"]})
    situation = ReadingSituation(NOW, "Europe/London", "en-GB", former_values={"day": "2026-05-14", "time": "10:00"})

    for text in ("same day straight after, 10.45", "the same day, right after, 10:45", "same day, 10.45"):
        extraction = extract(form, text, asked_paths=["day"], missing=["day", "time"], situation=situation)
        assert list_values(extraction) == {"day": "2026-05-14", "time": "10:45"}, text
