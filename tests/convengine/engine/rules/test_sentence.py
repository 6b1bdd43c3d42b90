import pytest

from convengine.engine.rules.actions import BUILT_IN
from convengine.engine.rules.sentence import describe_rule
from convengine.engine.turn.enums import RuleAction
from tests.builders import make_rule

PATH = {"rule_type": "JSON_PATH"}


@pytest.mark.parametrize(
    ("values", "expected"),
    [
        (
            PATH
            | {
                "intent_code": "CANCEL_ORDER",
                "match_pattern": "$[?(@.schemaComplete == true)]",
                "action_value": "CONFIRM_CANCEL",
            },
            "When the form of CANCEL_ORDER is complete, set state to CONFIRM_CANCEL.",
        ),
        ({"intent_code": "REFUND", "action_value": "COLLECT"}, "Always in intent REFUND, set state to COLLECT."),
        (
            {"match_pattern": " yes ", "intent_code": "REFUND", "state_code": "CONFIRM"},
            "When the message is “yes” in state CONFIRM of intent REFUND, set state to DONE.",
        ),
        (
            {"rule_type": "REGEX", "match_pattern": "loan", "stop_processing": True},
            "When the message matches the pattern of “loan”, set state to DONE. Later rules of this pass are skipped.",
        ),
        (
            {"match_pattern": "AFFIRM", "match_target": "DIALOGUE_ACT", "state_code": "OFFER"},
            "When the user says yes in state OFFER, set state to DONE.",
        ),
        (
            {"rule_type": "CONTEXT_JSON_PATH", "match_pattern": "$[?(@.amount > 100)]"},
            "When amount is more than 100, set state to DONE.",
        ),
        (
            {
                "rule_type": "CONDITION",
                "intent_code": "BOOK",
                "match_pattern": (
                    '{"combinator": "and", "rules": [{"field": "date", "operator": "before", "value": "today+2d"},'
                    ' {"field": "message", "operator": "contains", "value": "urgent"}]}'
                ),
            },
            (
                'When date is before today plus 2 days, and the message contains "urgent" in intent BOOK, '
                "set state to DONE."
            ),
        ),
        ({"rule_type": "CONDITION", "match_pattern": "{"}, "When { (not a valid condition), set state to DONE."),
        ({"rule_type": "MOON", "match_pattern": "full"}, "When MOON holds for full, set state to DONE."),
        (PATH | {"match_pattern": "$[?("}, "When $[?( (not a valid JSON path), set state to DONE."),
        ({"action": "SET_STATE", "action_value": ""}, "Always, set state (no value yet)."),
        ({"action": "FLY"}, "Always, run the unknown action FLY."),
        ({"action": "SET_INPUT_PARAM", "action_value": '{"a":1,"b":true}'}, "Always, set a to 1, b to true."),
        ({"action": "SET_JSON", "action_value": "sum:$.context.total"}, "Always, copy total to sum."),
        ({"action": "SET_JSON", "action_value": None}, "Always, copy lastLlmOutput to llm_json."),
        ({"action": "GET_CONTEXT", "action_value": None}, "Always, copy the context to context."),
        ({"action": "SET_TASK", "action_value": "bank:pay"}, "Always, run the task bank (pay)."),
        ({"action": "SET_CONTEXT", "action_value": "a.b:high"}, 'Always, set a.b to "high".'),
        ({"action": "CLEAR_CONTEXT", "action_value": "a, b"}, "Always, clear a, b."),
        ({"action": "SET_PREFERENCE", "action_value": "model:big"}, "Always, use the model big from now on."),
    ],
)
def test_a_rule_is_one_sentence(values: dict[str, object], expected: str) -> None:
    assert describe_rule(make_rule(**values)) == expected


def test_a_rule_that_is_not_filled_in_yet_is_told_all_the_same() -> None:
    sentence = describe_rule(make_rule(rule_type="", match_pattern=None, action="", action_value=None, intent_code=""))

    assert sentence == "This rule is incomplete: choose a condition and an action."


def test_every_built_in_action_has_its_words() -> None:
    assert set(BUILT_IN) == set(RuleAction)
    assert all(action.describe for action in BUILT_IN.values())
