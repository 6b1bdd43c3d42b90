"""An example of each kind is a value that its field takes."""

from datetime import UTC, datetime
from typing import Any

import pytest

from convengine.engine.forms.example import find_example
from convengine.engine.forms.form import Form
from convengine.json_value import Json

#: A Thursday.
NOW = datetime(2026, 11, 26, 10, tzinfo=UTC)


def find(declared: dict[str, Any]) -> Json:
    return find_example(Form({"type": "object", "properties": {"value": declared}}).leaves[0], NOW, "GB")


@pytest.mark.parametrize(
    ("declared", "example"),
    [
        ({"type": "string", "format": "date"}, "2026-12-03"),
        ({"type": "string", "format": "date", "x-max": "today+2d"}, "2026-11-28"),
        ({"type": "string", "format": "date", "x-max": "today"}, "2026-11-19"),
        ({"type": "string", "format": "time"}, "10:30"),
        ({"type": "string", "format": "time", "x-min": "18:00"}, "18:00"),
        ({"type": "string", "format": "date-time"}, "2026-12-03T10:30"),
        ({"type": "integer", "minimum": 5}, 5),
        ({"type": "number", "x-currency": "EUR"}, 50),
        ({"type": "string", "format": "phone"}, "+441212345678"),
        ({"type": "string", "format": "email"}, "name@example.com"),
        ({"type": "string", "pattern": "^[A-Z]-[0-9]+$", "examples": ["B-17"]}, "B-17"),
        ({"type": "string"}, None),
    ],
)
def test_an_example_fits_its_field(declared: dict[str, Any], example: Json) -> None:
    assert find(declared) == example
