from typing import Any

import pytest

from convengine.engine.steps.tools.plan import ANSWER, CALL_TOOL, Plan, read_plan


@pytest.mark.parametrize(
    ("reply", "action", "tool", "args", "reason"),
    [
        ({"action": "call_tool", "tool_code": " a ", "args": {"x": 1}}, CALL_TOOL, "a", {"x": 1}, None),
        ({"tool_code": "a"}, CALL_TOOL, "a", {}, None),
        ({"answer": "yes"}, ANSWER, None, {}, None),
        ({}, ANSWER, None, {}, None),
        ({"action": "ANSWER", "args": {"x": 1}, "answer": "yes"}, ANSWER, None, {}, None),
        ({"action": "CALL_TOOL", "tool_code": " "}, ANSWER, None, {}, "PLAN_WITHOUT_TOOL"),
        ({"action": "think", "tool_code": "a"}, ANSWER, None, {}, "PLAN_ACTION_UNKNOWN"),
        ({"action": "ANSWER", "operation_tag": 1}, ANSWER, None, {}, "PLAN_UNREADABLE"),
        ("ANSWER", ANSWER, None, {}, "PLAN_UNREADABLE"),
        (None, ANSWER, None, {}, "PLAN_UNREADABLE"),
    ],
)
def test_every_reply_comes_down_to_a_plan(reply: Any, action: str, tool: Any, args: Any, reason: Any) -> None:
    plan = read_plan(reply)

    assert (plan.action, plan.tool_code, dict(plan.args), plan.reason) == (action, tool, args, reason)
    assert (plan.fallback is None) == (reason is None)


@pytest.mark.parametrize(("given", "said"), [("yes", "yes"), (None, ""), (7, "7"), ({"a": 1}, '{"a":1}')])
def test_an_answer_is_a_text(given: Any, said: str) -> None:
    assert read_plan({"action": "ANSWER", "answer": given}).answer == said


def test_two_calls_are_the_same_whatever_the_order_of_their_names() -> None:
    one = Plan(CALL_TOOL, "Order.Status", {"a": {"x": 1, "y": [{"k": 1, "l": 2}]}, "b": 2})
    other = Plan(CALL_TOOL, "order.status", {"b": 2, "a": {"y": [{"l": 2, "k": 1}], "x": 1}})

    assert one.call == other.call
    assert one.call != Plan(CALL_TOOL, "order.status", {"b": 3}).call
