"""Cells show values as texts, and texts mean what they would mean in the form."""

from typing import Any

import pytest

from config_admin.editing.fields import Unread
from config_admin.grid.cells import text_of, value_of


@pytest.mark.parametrize(
    ("table", "column", "text", "value"),
    [
        ("ce_rule", "priority", "7", 7),
        ("ce_rule", "enabled", "yes", True),
        ("ce_rule", "enabled", "FALSE", False),
        ("ce_rule", "phase", "pre response resolution", "PRE_RESPONSE_RESOLUTION"),
        ("ce_rule", "intent_code", " loan ", "LOAN"),
        ("ce_rule", "description", "one\r\ntwo", "one\ntwo"),
        ("ce_response", "exact_text", "", None),
        ("ce_response", "json_schema", '{"type": "object"}', {"type": "object"}),
        ("ce_prompt_template", "temperature", "0.70", 0.7),
    ],
)
def test_a_text_means_a_value(table: str, column: str, text: str, value: Any) -> None:
    read_value = value_of(table, column, text)

    assert read_value == value
    assert value_of(table, column, text_of(read_value)) == value


@pytest.mark.parametrize(
    ("table", "column", "text"),
    [
        ("ce_rule", "priority", "soon"),
        ("ce_rule", "enabled", "perhaps"),
        ("ce_rule", "description", "a\0b"),
        ("ce_response", "json_schema", "{"),
        ("ce_response", "json_schema", '"text"'),
    ],
)
def test_a_text_that_means_nothing_there_is_kept_as_it_was_typed(table: str, column: str, text: str) -> None:
    value = value_of(table, column, text)

    assert isinstance(value, Unread)
    assert str(value) == text
    assert value.problem.messages
