"""Save checks of pending actions."""

from dataclasses import replace

import pytest

from tests.builders import make_config
from tests.config_admin.validation.shop import ACTION, codes, list_messages

REFUND = replace(ACTION, pending_action_id=2, action_key="REFUND", description="pay back")


def test_an_action_has_a_name_a_task_and_methods() -> None:
    assert list_messages(replace(ACTION, action_key="", bean_name=" ", method_names=" , ")) == [
        ("ACTION_KEY_BLANK", "Enter a name for the action, for example REFUND_PAYMENT."),
        ("FIELD_REQUIRED", "Choose the task that the action runs."),
        ("FIELD_REQUIRED", "Enter at least one method of the task."),
    ]


def test_the_task_is_registered() -> None:
    assert list_messages(replace(ACTION, bean_name="ordertask")) == [
        (
            "NOT_REGISTERED",
            "There is no registered task ordertask. Registered: audit, orderTask.",
        )
    ]
    assert list_messages(ACTION, tasks={}) == [
        ("NOT_REGISTERED", "There is no registered task orderTask. Registered: none.")
    ]


def test_the_task_has_the_methods() -> None:
    assert list_messages(replace(ACTION, method_names="cancel,refund")) == [
        ("NOT_REGISTERED", "Task orderTask has no method refund. It has: cancel, notifyCustomer.")
    ]


def test_two_actions_of_equal_priority_are_asked_about() -> None:
    assert list_messages(REFUND) == [
        (
            "ACTION_AMBIGUOUS",
            (
                "REFUND and CANCEL_ORDER_NOW have the same priority here, so the user is asked which one is "
                "meant. Change a priority to avoid the question."
            ),
        )
    ]
    assert codes(replace(REFUND, priority=5)) == []
    assert codes(replace(REFUND, state_code="COLLECT")) == []


@pytest.mark.parametrize(
    ("template", "found"),
    [
        pytest.param("Which way: {{ options }}?", [], id="the question lists the actions"),
        pytest.param("Which one?", ["ACTION_AMBIGUOUS"], id="the question does not say what there is to choose"),
    ],
)
def test_a_question_that_somebody_worded_is_wanted_if_it_can_be_answered(template: str, found: list[str]) -> None:
    assert codes(REFUND, make_config("DisambiguationStep/QUESTION_TEMPLATE", template)) == found


def test_an_action_everywhere_is_questioned() -> None:
    assert (
        "ACTION_SCOPE_ANY",
        "With intent ANY and state ANY, a plain 'yes' can run this action anywhere. Choose an intent or a state.",
    ) in list_messages(replace(ACTION, intent_code="ANY", state_code="ANY"))


def test_an_action_without_a_description_is_questioned() -> None:
    assert codes(replace(ACTION, description=None)) == ["ACTION_NO_DESCRIPTION"]


def test_an_action_of_the_same_key_comes_first() -> None:
    assert "SHADOWED_ROW" in codes(replace(REFUND, action_key="cancel_order_now", priority=200))
    assert "SHADOWED_ROW" not in codes(replace(REFUND, priority=200))
