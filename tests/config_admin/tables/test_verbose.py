"""Save checks of progress messages."""

from dataclasses import replace

import pytest

from tests.config_admin.validation.shop import TOOL, VERBOSE, codes, list_messages


def test_there_is_something_to_say() -> None:
    assert list_messages(replace(VERBOSE, message=" ", error_message=None)) == [
        ("VERBOSE_NO_TEXT", "Enter a message or an error message.")
    ]
    assert codes(replace(VERBOSE, message=None, error_message="Failed.")) == []


def test_both_texts_are_templates() -> None:
    assert codes(replace(VERBOSE, message="{{", error_message="{{ colour }}")) == [
        "TEMPLATE_INVALID",
        "TEMPLATE_VAR_UNKNOWN",
    ]


@pytest.mark.parametrize("value", ["LIKE", "", None])
def test_how_the_step_is_read_is_of_the_list(value: str) -> None:
    ((code, message),) = list_messages(replace(VERBOSE, step_match=value))

    assert code == "CHOICE_UNKNOWN"
    assert message.startswith("Choose “Step name, or ANY”")


def test_step_and_event_are_named() -> None:
    assert codes(replace(VERBOSE, step_value="", determinant=" ")) == ["FIELD_REQUIRED"] * 2


def test_patterns_and_paths_can_be_read() -> None:
    assert codes(replace(VERBOSE, step_match="REGEX", step_value="(")) == ["REGEX_INVALID"]
    assert codes(replace(VERBOSE, step_match="JSON_PATH", step_value="$[")) == ["JSONPATH_INVALID"]
    assert codes(replace(VERBOSE, step_match="REGEX", step_value=".*Step$")) == []


def test_the_rule_exists() -> None:
    assert list_messages(replace(VERBOSE, rule_id=77)) == [("RULE_GONE", "Rule 77 does not exist.")]
    assert codes(replace(VERBOSE, rule_id=1)) == []


def test_the_tool_exists_or_is_discovered() -> None:
    assert list_messages(replace(VERBOSE, tool_code="order.state")) == [
        ("TOOL_UNKNOWN", "There is no tool order.state. Did you mean order.status?")
    ]
    assert codes(replace(VERBOSE, tool_code="mcp.search.find")) == []
    assert codes(VERBOSE, replace(TOOL, enabled=False)) == []


def test_a_step_that_the_engine_does_not_have_is_told() -> None:
    assert list_messages(replace(VERBOSE, step_value="McpStep")) == [
        ("CHOICE_UNKNOWN", "Unknown step McpStep. Did you mean McpToolStep?")
    ]
    assert codes(replace(VERBOSE, step_value="ANY")) == codes(replace(VERBOSE, step_value="mcptoolstep")) == []
    assert codes(replace(VERBOSE, step_value="AuditStep"), steps=frozenset({"AuditStep"})) == []


def test_an_event_that_the_engine_does_not_have_is_told() -> None:
    assert list_messages(replace(VERBOSE, determinant="MCP_TOOL_CAL")) == [
        ("CHOICE_UNKNOWN", "Unknown event MCP_TOOL_CAL. Did you mean MCP_TOOL_CALL?")
    ]
    assert codes(replace(VERBOSE, determinant="ANY")) == []


def test_a_row_behind_another_for_the_same_event_is_shadowed() -> None:
    assert "SHADOWED_ROW" in codes(replace(VERBOSE, verbose_id=2, message="Other."))
    assert "SHADOWED_ROW" not in codes(replace(VERBOSE, verbose_id=2, message="Other.", determinant="STEP_ENTER"))
