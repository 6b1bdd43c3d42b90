import pytest

from convengine.domain.enums import RuleAction
from convengine.rules import vocabulary
from convengine.rules.sentence import EFFECTS, sentence
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
            "When the data for CANCEL_ORDER is complete, go to CONFIRM_CANCEL.",
        ),
        ({"intent_code": "REFUND", "action_value": "COLLECT"}, "Always in REFUND, go to COLLECT."),
        (
            {"match_pattern": " yes ", "intent_code": "REFUND", "state_code": "CONFIRM"},
            "When the message is “yes” in state CONFIRM of REFUND, go to DONE.",
        ),
        (
            {"rule_type": "REGEX", "match_pattern": "loan", "stop_processing": True},
            "When the message matches /loan/, go to DONE. No later rule of the phase is tried then.",
        ),
        (
            {"match_pattern": "AFFIRM", "match_target": "DIALOGUE_ACT", "state_code": "OFFER"},
            "When the user says yes in state OFFER, go to DONE.",
        ),
        (
            {"rule_type": "CONTEXT_JSON_PATH", "match_pattern": "$[?(@.amount > 100)]"},
            "When amount is above 100, go to DONE.",
        ),
        ({"rule_type": "MOON", "match_pattern": "full"}, "When MOON holds for full, go to DONE."),
        (PATH | {"match_pattern": "$[?("}, "When $[?( (which does not parse), go to DONE."),
        ({"action": "SET_STATE", "action_value": ""}, "Always, set state with no value yet."),
        ({"action": "FLY"}, "Always, do FLY, which is not known."),
        ({"action": "SET_INPUT_PARAM", "action_value": '{"a":1,"b":true}'}, "Always, set a to 1, b to true."),
        ({"action": "SET_JSON", "action_value": "sum:$.context.total"}, "Always, copy total to sum."),
        ({"action": "SET_JSON", "action_value": None}, "Always, copy lastLlmOutput to llm_json."),
        ({"action": "GET_CONTEXT", "action_value": None}, "Always, copy the context to context."),
        ({"action": "SET_TASK", "action_value": "bank:pay"}, "Always, run the task bank (pay)."),
        ({"action": "SET_CONTEXT", "action_value": "a.b:high"}, 'Always, remember a.b to "high".'),
        ({"action": "CLEAR_CONTEXT", "action_value": "a, b"}, "Always, forget a, b."),
        ({"action": "SET_PREFERENCE", "action_value": "model:big"}, "Always, use the model big from now on."),
    ],
)
def test_a_rule_is_one_sentence(values: dict[str, object], expected: str) -> None:
    assert sentence(make_rule(**values)) == expected


def test_a_rule_that_is_not_filled_in_yet_is_told_all_the_same() -> None:
    told = sentence(make_rule(rule_type="", match_pattern=None, action="", action_value=None, intent_code=""))

    assert told == "When … (no kind of condition is chosen), do nothing, as no action is chosen."


def test_every_action_can_be_said() -> None:
    assert (
        set(RuleAction) == set(EFFECTS) == {name for name, action in vocabulary.actions().items() if not action.custom}
    )
