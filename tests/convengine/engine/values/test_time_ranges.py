"""Two times in one phrase, where a form asks for a time and how long it takes."""

from datetime import UTC, datetime
from typing import Any

import pytest

from convengine.engine.forms.extract import extract
from convengine.engine.forms.form import Form
from convengine.engine.values import ReadingSituation
from convengine.engine.values.language import get_language
from convengine.engine.values.time_ranges import find_time_range

NOW = datetime(2026, 11, 24, 10, tzinfo=UTC)
START = {"type": "string", "format": "time", "title": "Start", "x-min": "08:00", "x-max": "22:00"}
HOURS = {"type": "integer", "title": "Hours", "x-ask": "For how many hours?"}
STUNDEN = {"type": "integer", "title": "Stunden", "x-ask": "Für wie viele Stunden?"}
BEGINN = {"type": "string", "format": "date-time", "title": "Beginn"}


def read(properties: dict[str, Any], text: str, locale: str) -> dict[str, Any]:
    form = Form({"type": "object", "properties": properties})
    extraction = extract(form, text, situation=ReadingSituation(NOW, "Europe/Berlin", locale))
    return {finding.field: finding.value for finding in extraction.extracted}


@pytest.mark.parametrize(
    ("text", "values"),
    [
        ("from 3 to 6pm please", {"start": "15:00", "hours": 3}),
        ("10am-1pm", {"start": "10:00", "hours": 3}),
        ("from 11 till 1pm", {"start": "11:00", "hours": 2}),
        ("from 2 to 3.30pm", {"start": "14:00"}),
        ("2 to 4 people", {}),
        ("between 11am and 1pm", {}),
    ],
)
def test_a_range_gives_the_time_and_the_hours(text: str, values: dict[str, Any]) -> None:
    assert read({"start": START, "hours": HOURS}, text, "en-GB") == values


@pytest.mark.parametrize("text", ["am 9. Januar von 17 bis 19 Uhr", "9.1. 17-19 Uhr"])
def test_a_range_beside_a_day_gives_the_moment(text: str) -> None:
    values = read({"beginn": BEGINN, "stunden": STUNDEN}, text, "de-DE")
    assert values == {"beginn": "2027-01-09T17:00:00+01:00", "stunden": 2}


def test_a_form_that_asks_for_no_length_reads_no_range() -> None:
    assert read({"start": START}, "from 3 to 6pm", "en-GB") == {}
    specs = [field.spec for field in Form({"type": "object", "properties": {"start": START}}).leaves]
    assert find_time_range(specs, "from 3 to 6pm", get_language("en")) is None


@pytest.mark.parametrize(
    ("text", "locale", "value"),
    [
        ("between 2 and 4", "en-GB", "14:00"),
        ("between 2 and 4pm", "en-GB", "14:00"),
        ("from 11 to 1pm", "en-GB", "11:00"),
        ("9:30 - 11am", "en-GB", "09:30"),
        ("zwischen 14 und 16 Uhr", "de-DE", "14:00"),
        ("von 9 bis 11 Uhr", "de-DE", "09:00"),
        ("between 2 and 4 people", "en-GB", None),
        ("2 or 4", "en-GB", None),
        ("20 to 4", "en-GB", None),
        ("10 to 4pm", "en-GB", None),
    ],
)
def test_a_range_answers_the_question_for_a_time_with_its_first_time(text: str, locale: str, value: str | None) -> None:
    form = Form({"type": "object", "properties": {"start": START}})
    extraction = extract(form, text, asked_paths=["start"], situation=ReadingSituation(NOW, "Europe/London", locale))

    assert [finding.value for finding in extraction.extracted] == ([value] if value else [])
