from typing import Any

import pytest

from convengine.engine.forms.extract.labels import find_mentions, read_by_label
from convengine.engine.forms.extract.reading import Reading
from convengine.engine.forms.form import Form

TEXT = {"type": "string"}
FIELDS = Form(
    {
        "type": "object",
        "properties": {
            "customerId": TEXT,
            "customerName": TEXT,
            "date": {"type": "string", "format": "date"},
            "dueDate": {"type": "string", "format": "date"},
            "amount": {"type": "integer"},
            "heightCm": {"type": "integer"},
            "size": {"type": "string", "enum": ["S", "M", "L"]},
            "express": {"type": "boolean"},
        },
    }
).leaves
ALL = [field.path for field in FIELDS]


def values(message: str, missing: list[str] = ALL) -> dict[str, Any]:
    return {
        candidate.field.path: candidate.problem or candidate.value
        for candidate in read_by_label(Reading(message), FIELDS, missing)
    }


@pytest.mark.parametrize(
    ("message", "expected"),
    [
        ("customer id: AB-7", {"customerId": "AB-7"}),
        ("customerId=AB-7", {"customerId": "AB-7"}),
        ("customer_name - Anna", {"customerName": "Anna"}),
        ("customer 9912", {"customerId": "9912"}),
        ("customer #9912 wants a refund", {"customerId": "9912"}),
        ("customer 100 apples", {}),
        ("customer Smith", {}),
        ("customer name Anna de Vries came", {"customerName": "Anna de Vries"}),
        ('customer name "the boss"', {"customerName": "the boss"}),
        ("customer name: Anna, amount: 5", {"customerName": "Anna", "amount": 5}),
        ("customer name: Anna, I need help", {"customerName": "Anna"}),
        ("customer name: Smith, Anna", {"customerName": "Smith, Anna"}),
        ("customer name: the wrong amount", {"customerName": "the wrong amount"}),
        ("the amount I need is 5", {"amount": 5}),
        ("amount: a lot", {"amount": "VALUE_INVALID"}),
        ("height 180", {"heightCm": 180}),
        ("size M", {"size": "M"}),
        ("size: XXL", {"size": "VALUE_VIOLATES_SCHEMA"}),
        ("change the size to XXL", {"size": "VALUE_VIOLATES_SCHEMA"}),
        ("set the amount to 5 and the size to XXL", {"amount": 5, "size": "VALUE_VIOLATES_SCHEMA"}),
        ("I come to the size to ask something", {}),
        ("change the customer name to another one", {}),
        ("express yes", {"express": True}),
        ("due date 2026-05-01", {"dueDate": "2026-05-01"}),
        ("date: 2026-05-01", {"date": "2026-05-01"}),
        ("the date of the customer", {}),
        ("amounts", {}),
    ],
)
def test_values_next_to_names(message: str, expected: dict[str, Any]) -> None:
    assert values(message) == expected


def test_a_name_inside_a_longer_one_is_none() -> None:
    assert [name.field.path for name in find_mentions(Reading("due date"), FIELDS)] == ["dueDate"]


def test_plain_words_count_only_where_something_is_missing() -> None:
    assert values("my customer name is anna") == {"customerName": "anna"}
    assert values("my customer name is anna", []) == {}
    assert values("my customer name is broken") == {}
    assert values("my customer name is being changed") == {}
