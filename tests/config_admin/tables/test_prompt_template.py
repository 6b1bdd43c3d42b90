"""Save checks of prompt templates."""

from dataclasses import replace
from typing import Any

import pytest

from tests.config_admin.validation.shop import CONFIRMATION, CONFIRMING, EXTRACTION, SCHEMA, codes, list_messages


@pytest.mark.parametrize("value", ["DERIVED", "EXACT", "", None])
def test_a_template_is_for_extraction_or_for_an_answer(value: Any) -> None:
    ((code, message),) = list_messages(replace(CONFIRMATION, response_type=value))

    assert code == "RESPONSE_TYPE_PROMPT"
    assert message.startswith("Choose “Extract fields”")
    assert ("(SCHEMA_JSON)" in message) is bool(value)


def test_both_prompts_are_there() -> None:
    assert list_messages(replace(CONFIRMATION, system_prompt=" ", user_prompt="")) == [
        ("FIELD_REQUIRED", "Enter the system prompt."),
        ("FIELD_REQUIRED", "Enter the user prompt."),
    ]


@pytest.mark.parametrize("value", [-0.1, 2.01, None, "warm", True])
def test_the_temperature_is_between_0_and_2(value: Any) -> None:
    assert list_messages(replace(CONFIRMATION, temperature=value)) == [
        ("TEMPERATURE", "Temperature must be between 0 and 2.")
    ]


@pytest.mark.parametrize(
    "contract", [[], "[]", {"allows": "affirm"}, {"allows": ["affirm"], "expects": {}}, {"allows": [1]}]
)
def test_a_contract_is_two_lists_of_words(contract: Any) -> None:
    assert list_messages(replace(CONFIRMATION, interaction_contract=contract)) == [
        (
            "CONTRACT_SHAPE",
            'Use JSON like {"allows":["affirm","edit"],"expects":["structured_input"]}; both must be lists of words.',
        )
    ]


def test_another_part_of_a_contract_is_allowed_and_has_no_effect() -> None:
    contract = {**CONFIRMATION.interaction_contract, "stage": "recovery"}

    assert list_messages(replace(CONFIRMATION, interaction_contract=contract)) == [
        ("CONTRACT_SHAPE", "stage has no effect. A contract has the lists allows and expects.")
    ]


def test_extraction_looks_for_a_concrete_intent() -> None:
    assert list_messages(replace(EXTRACTION, intent_code="ANY")) == [
        ("SCHEMA_PROMPT_INTENT_ANY", "A template that extracts fields must belong to one intent. Choose the intent.")
    ]


def test_a_word_that_the_engine_does_not_know_is_ignored_aloud() -> None:
    contract = {"allows": ["affirm", "edit", "reset", "sing"]}
    assert list_messages(replace(CONFIRMATION, interaction_contract=contract)) == [
        ("CONTRACT_UNKNOWN_WORD", "sing is an unknown capability and is ignored.")
    ]


def test_a_contract_that_takes_away_what_the_mode_gives_is_told() -> None:
    assert list_messages(replace(CONFIRMATION, interaction_contract={"allows": ["affirm", "reset"]})) == [
        (
            "CONTRACT_CONTRADICTS_MODE",
            "Mode CONFIRM usually allows edit, but the contract does not list it, so it is not allowed.",
        )
    ]


def test_an_unknown_mode_acts_like_normal() -> None:
    assert (
        "CHOICE_UNKNOWN",
        "The mode CONFRIM is unknown and is treated like NORMAL. Did you mean CONFIRM?",
    ) in list_messages(replace(CONFIRMATION, interaction_mode="CONFRIM"))
    assert codes(replace(CONFIRMATION, interaction_mode=None)) == []


def test_of_two_templates_of_one_use_the_newest_is_used() -> None:
    assert list_messages(replace(CONFIRMATION, template_id=9, user_prompt="Other.")) == [
        ("TWO_TEMPLATES", "Row 2 has the same use and scope. Only the newest enabled one is used.")
    ]
    assert "TWO_TEMPLATES" not in codes(replace(CONFIRMATION, template_id=9, response_type="JSON"))


def test_a_template_that_no_answer_uses_is_told() -> None:
    assert list_messages(CONFIRMATION, without=[CONFIRMING]) == [
        ("PROMPT_WITHOUT_RESPONSE", "No answer of type DERIVED uses this template yet.")
    ]
    assert codes(replace(CONFIRMATION, response_type="JSON")) == ["PROMPT_WITHOUT_RESPONSE"]
    assert codes(EXTRACTION, without=[CONFIRMING]) == []


def test_a_template_that_confirms_needs_a_schema_in_its_state() -> None:
    assert list_messages(CONFIRMATION, without=[SCHEMA])[0] == (
        "CONFIRM_STATE_NO_SCHEMA",
        (
            "The prompt template for state CONFIRM lets the user confirm or edit, but no form applies in that state. "
            "Set the state of a form to ANY, or add a form for CONFIRM."
        ),
    )
    assert "CONFIRM_STATE_NO_SCHEMA" not in codes(
        replace(CONFIRMATION, interaction_contract={"allows": ["reset"]}), without=[SCHEMA]
    )
