"""What the form of a condition offers."""

from types import SimpleNamespace
from typing import Any, cast

import pytest

from config_admin.editing.condition_fields import describe_operators, find_kind, list_condition_fields
from config_admin.editing.context import EditorContext
from convengine.engine.rules.conditions.operators import OPERATORS
from tests.builders import make_rule, make_schema, make_snapshot


def list_offered(*of: Any) -> dict[str, Any]:
    editor = cast(EditorContext, SimpleNamespace(snapshot=make_snapshot(*of)))
    return {field["name"]: field for field in reversed(list_condition_fields(editor))}


def test_every_operator_is_offered_for_its_kinds() -> None:
    offered = describe_operators()

    assert [one["name"] for one in offered] == list(OPERATORS)
    assert {"name": "on", "label": "is on", "needs": "TIME", "kinds": ["date or time"], "values": []} in offered


def test_fields_of_forms_come_first_with_their_kind_and_values() -> None:
    schema = make_schema(
        "BOOK",
        {
            "reason": {"type": "string", "title": "Reason", "enum": ["pain", "cleaning"]},
            "date": {"type": "string", "format": "date"},
            "message": {"type": "string"},
        },
    )

    offered = list_offered(schema)
    assert offered["reason"] == {
        "name": "reason",
        "intent": "BOOK",
        "kind": "choice",
        "label": "Reason",
        "values": ["pain", "cleaning"],
    }
    assert offered["date"]["kind"] == "date or time"
    assert offered["context.message"]["intent"] == "BOOK"
    assert "intent" not in offered["message"]


def test_facts_the_clock_and_params_that_rules_write_are_offered() -> None:
    offered = list_offered(make_rule(action="SET_INPUT_PARAM", action_value='{"vip": true}'))

    assert {"message", "act", "intent", "state", "memory", "clock.today", "clock.hour", "params.vip"} <= offered.keys()
    assert offered["clock.weekday"]["values"][0] == "Monday"


@pytest.mark.parametrize(
    ("declared", "kind"),
    [
        ({"type": "string"}, "text"),
        ({"type": ["integer", "null"]}, "number"),
        ({"type": "array"}, "list"),
        ({"type": "boolean"}, "yes or no"),
        ({"type": "string", "x-kind": "date"}, "date or time"),
        ({"type": "string", "x-options": [{"value": "a"}]}, "choice"),
        ({}, "text"),
    ],
)
def test_the_schema_of_a_field_says_its_kind(declared: dict[str, Any], kind: str) -> None:
    assert find_kind(declared) == kind
