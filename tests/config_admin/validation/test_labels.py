"""Rows are called by what they do."""

import pytest

from config_admin.validation.labels import describe_row
from convengine.engine.turn import rows
from convengine.engine.turn.rows import Row
from tests.builders import (
    make_action,
    make_classifier,
    make_edge,
    make_response,
    make_rule,
    make_schema,
)


@pytest.mark.parametrize(
    ("row", "expected"),
    [
        (make_rule(action_value="DONE"), ("Always, set state to DONE.", "")),
        (make_classifier("REFUND", "money back"), ("money back", "Contains")),
        (make_classifier("REFUND", "money back", description="money back"), ("money back", "Contains")),
        (make_schema("REFUND", {"order": {}, "why": {}}, required=["order"]), ("order*, why", "")),
        (make_schema("REFUND", {"a": {"x-order": 2}, "b": {"x-order": 1}}), ("b*, a*", "")),
        (make_response(None, derivation_hint="Be kind."), ("Be kind.", "written by a model")),
        (make_edge("A", "B"), ("A → B", "")),
        (make_action("PAY"), ("PAY: billing (refund)", "")),
        (
            rows.OutputSchema(schema_id=1, intent_code="REFUND", state_code="ANY", json_schema=["nonsense"]),
            ("", ""),
        ),
    ],
    ids=lambda value: type(value).__name__,
)
def test_a_row_is_told_by_what_it_does(row: Row, expected: tuple[str, str]) -> None:
    assert describe_row(row) == expected
