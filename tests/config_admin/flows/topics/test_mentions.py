"""An intent is replaced where a row names it, and nowhere else."""

from typing import Any

import pytest

from config_admin.flows.topics.mentions import mentions_intent, replace_intent

RULE = {"intent_code": "ANY", "action": "SET_STATE", "action_value": "DONE", "match_pattern": "", "description": ""}


def find_changes(table: str = "ce_rule", **values: Any) -> dict[str, Any]:
    row = {**(RULE if table == "ce_rule" else {}), **values}
    after = replace_intent(table, row, "LOAN", "CREDIT")
    return {name: value for name, value in after.items() if value != row[name]}


def test_the_scope_names_the_intent() -> None:
    assert find_changes(intent_code="loan") == {"intent_code": "CREDIT"}


def test_a_rule_that_changes_to_the_intent_names_it() -> None:
    assert find_changes(action="SET_INTENT", action_value="LOAN") == {"action_value": "CREDIT"}
    assert find_changes(action="SET_STATE", action_value="LOAN") == {}


def test_the_setting_of_intents_that_reset_names_it() -> None:
    row = {"config_type": "ResetResolvedIntentStep", "config_key": "RESET_INTENT_CODES", "config_value": "A, loan,B"}
    assert find_changes("ce_config", **row) == {"config_value": "A, CREDIT,B"}
    assert find_changes("ce_config", **{**row, "config_key": "OTHER"}) == {}


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("$[?(@.intent == 'LOAN')]", "$[?(@.intent == 'CREDIT')]"),
        ('$[?(@.previousTurn.intent != "LOAN")]', '$[?(@.previousTurn.intent != "CREDIT")]'),
        ("$[?(@.intent == 'LOAN' && @.userText == 'LOAN')]", "$[?(@.intent == 'CREDIT' && @.userText == 'LOAN')]"),
        (
            '{"combinator": "and", "rules": [{"field": "intent", "operator": "=", "value": "LOAN"}]}',
            '{"combinator": "and", "rules": [{"field": "intent", "operator": "=", "value": "CREDIT"}]}',
        ),
        (
            '{"field": "intent", "operator": "in", "value": ["HELP", "LOAN"]}',
            '{"field": "intent", "operator": "in", "value": ["HELP", "CREDIT"]}',
        ),
    ],
)
def test_conditions_that_compare_an_intent_name_it(before: str, after: str) -> None:
    assert find_changes(match_pattern=before) == {"match_pattern": after}


@pytest.mark.parametrize(
    "text",
    [
        "$[?(@.userText == 'LOAN')]",
        "^LOAN$",
        '{"field": "userText", "operator": "=", "value": "LOAN"}',
        "{LOAN",
        "LOANS",
    ],
)
def test_conditions_about_something_else_do_not(text: str) -> None:
    assert find_changes(match_pattern=text) == {}


def test_templates_name_it_in_their_code_only() -> None:
    text = 'LOAN: {% if intent == "LOAN" %}yes{% elif session.intent in ["A", \'LOAN\'] %}{{ amount }}{% endif %}'
    after = 'LOAN: {% if intent == "CREDIT" %}yes{% elif session.intent in ["A", \'CREDIT\'] %}{{ amount }}{% endif %}'
    assert find_changes("ce_response", intent_code="ANY", exact_text=text) == {"exact_text": after}


def test_values_inside_of_json_columns_are_templates_too() -> None:
    row = {"intent_code": "ANY", "args_template": {"kind": ["{{ 'a' if intent == 'LOAN' else 'b' }}"], "n": 1}}
    after = {"args_template": {"kind": ["{{ 'a' if intent == 'CREDIT' else 'b' }}"], "n": 1}}
    assert find_changes("ce_tool", **row) == after


def test_the_description_and_phrases_stay() -> None:
    row = {"intent_code": "ANY", "description": "{{ intent == 'LOAN' }}", "pattern": "{{ intent == 'LOAN' }}"}
    assert find_changes("ce_intent_classifier", **row) == {}


@pytest.mark.parametrize(
    ("values", "mentions"),
    [
        ({"match_pattern": "^LOAN now$"}, True),
        ({"match_pattern": "loan"}, False),
        ({"match_pattern": "HOME_LOAN"}, False),
        ({"match_pattern": "$[?(@.intent == 'LOAN')]"}, False),
        ({"action_value": "LOAN"}, False),
        ({"description": "LOAN"}, False),
    ],
)
def test_other_texts_with_the_word_may_mean_the_intent(values: dict[str, str], mentions: bool) -> None:
    assert mentions_intent("ce_rule", {**RULE, **values}, "LOAN") is mentions
