"""Names of fields come from their titles."""

import re
from typing import Any

import pytest

from config_admin.editing.countries import list_countries
from config_admin.flows.forms import FieldForms, list_initial, make_name, name_apart, read_document
from convengine.engine.understanding.language import get_countries


def test_fields_in_any_letters_keep_names_of_their_own() -> None:
    titles = ("Größe", "имя", "адрес", "size", "size", "clock")
    fields = [{"name": "", "title": title} for title in titles]
    assert [field["name"] for field in name_apart(fields)] == ["grosse", "value", "value2", "size", "size2", "clock2"]


def test_existing_names_stay_and_new_ones_avoid_them() -> None:
    fields = [{"name": "", "title": "Day"}, {"name": "day", "title": "Another title"}]
    assert [field["name"] for field in name_apart(fields)] == ["day2", "day"]
    assert make_name("number of guests") == "numberOfGuests"


class _Flow:
    cleaned_data: dict[str, Any] = {
        "code": "HIRE", "title": "Hire", "description": "", "kind": "collect", "phrases": "hire a boat",
        "answer": "Booked.", "locale": "en-GB",
        "ask_mode": "", "on_no": "", "on_leave": "", "max_misses": None, "hand_over": "",
        "confirmation": "", "task": "", "task_failed": "",
    }  # fmt: skip


def make_fields(*fields: dict[str, str]) -> Any:
    rows = [
        {"title": "Day", "type": "date", "required": "yes", "ORDER": str(n + 1), **field}
        for n, field in enumerate(fields)
    ]
    data = {f"field-{number}-{key}": value for number, row in enumerate(rows) for key, value in row.items()}
    counts = {"field-TOTAL_FORMS": str(len(rows)), "field-INITIAL_FORMS": "0"}
    return FieldForms({**data, **counts}, prefix="field")


class _Empty:
    forms: list[Any] = []
    deleted_forms: list[Any] = []


def test_a_date_comes_after_an_earlier_one_by_its_title() -> None:
    fields = make_fields({"title": "Pick-up day"}, {"title": "Return", "after": "the pick-up day"})
    assert fields.is_valid(), fields.errors

    flow = read_document(_Flow(), fields, _Empty(), _Empty(), {})  # type: ignore[arg-type]

    assert [field.get("after") for field in flow["fields"]] == [None, "pickUpDay"]
    assert list_initial(flow)[1][1]["after"] == "Pick-up day"


@pytest.mark.parametrize(
    "fields",
    [
        [{"title": "Return", "after": "Pick-up"}, {"title": "Pick-up"}],
        [{"title": "Pick-up", "type": "text"}, {"title": "Return", "after": "Pick-up"}],
        [{"title": "Return", "after": "Return"}],
    ],
)
def test_a_later_field_and_one_without_a_date_is_no_earlier_date(fields: list[dict[str, str]]) -> None:
    forms = make_fields(*fields)

    assert not forms.is_valid()
    assert any("is not an earlier field with a date" in str(errors) for errors in forms.errors)


def test_only_a_date_comes_after_another_field() -> None:
    forms = make_fields({"title": "Pick-up"}, {"title": "Name", "type": "text", "after": "nonsense"})

    assert forms.is_valid()


@pytest.mark.parametrize(
    ("typed", "stored", "shown"),
    [
        ("Germany", "DE", "Germany"),
        (" united  kingdom ", "GB", "United Kingdom"),
        ("Georgia", "GE", "Georgia"),
        ("gb", "GB", "United Kingdom"),
        ("CURAÇAO", "CW", "Curaçao"),
    ],
)
@pytest.mark.parametrize("kind", ["phone", "postcode"])
def test_a_country_is_typed_by_name_and_stored_by_code(kind: str, typed: str, stored: str, shown: str) -> None:
    fields = make_fields({"title": "Contact", "type": kind, "country": typed})
    assert fields.is_valid(), fields.errors

    flow = read_document(_Flow(), fields, _Empty(), _Empty(), {})  # type: ignore[arg-type]

    assert flow["fields"][0]["country"] == stored
    assert list_initial(flow)[1][0]["country"] == shown


@pytest.mark.parametrize("typed", ["Germony", "Ger", "XX", "the moon"])
def test_a_text_that_names_no_country_is_refused_and_never_cut(typed: str) -> None:
    fields = make_fields({"title": "Phone", "type": "phone", "country": typed})

    assert fields.errors[0]["country"] == [f"No country is called “{typed}”. Choose one from the list."]


def test_each_country_has_a_code_and_a_name_of_its_own() -> None:
    countries = list_countries()

    assert all(re.fullmatch("[A-Z]{2}", code) for code in countries)
    assert len({name.casefold() for name in countries.values()}) == len(countries)
    assert set(get_countries()) <= set(countries)
