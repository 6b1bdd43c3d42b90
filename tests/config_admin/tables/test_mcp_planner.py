"""Save checks of planner prompts."""

from dataclasses import replace

from tests.config_admin.validation.shop import PLANNER, codes, list_messages


def test_both_prompts_are_there_and_parse() -> None:
    assert list_messages(replace(PLANNER, system_prompt="", user_prompt="{{ tools")) == [
        ("FIELD_REQUIRED", "Enter the system prompt."),
        *list_messages(replace(PLANNER, user_prompt="{{ tools")),
    ]
    assert codes(replace(PLANNER, user_prompt="{{ tools")) == ["TEMPLATE_INVALID"]


def test_a_planner_that_is_not_shown_the_tools_is_told() -> None:
    assert list_messages(replace(PLANNER, user_prompt="{{user_input}}")) == [
        (
            "PLANNER_NO_TOOLS_VAR",
            "The prompt does not contain {{mcp_tools}}, so the planner does not know the tools. Add it.",
        )
    ]
    assert codes(replace(PLANNER, user_prompt="{{ available_tools }}")) == []


def test_a_tool_that_the_planner_may_not_call_is_told() -> None:
    assert list_messages(replace(PLANNER, system_prompt="Use `order.state` or `mcp.search.find`.")) == [
        (
            "PLANNER_TOOL_UNKNOWN",
            "order.state is not a tool for intent ORDER_STATUS, state ANY. Did you mean order.status?",
        )
    ]
    assert codes(replace(PLANNER, intent_code="FAQ")) == ["PLANNER_TOOL_UNKNOWN"]


def test_of_two_planners_the_newer_is_used() -> None:
    assert list_messages(replace(PLANNER, planner_id=2)) == [
        ("TWO_PLANNERS", "Row 1 has the same scope. The newer one is used.")
    ]
    assert codes(replace(PLANNER, planner_id=2, enabled=False)) == []
