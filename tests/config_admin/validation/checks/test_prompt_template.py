"""Save checks of prompt templates."""

from dataclasses import replace
from typing import Any

import pytest

from tests.config_admin.validation.shop import CONFIRMATION, CONFIRMING, EXTRACTION, SCHEMA, codes, said


@pytest.mark.parametrize("value", ["DERIVED", "EXACT", "", None])
def test_a_template_is_for_extraction_or_for_an_answer(value: Any) -> None:
    assert said(replace(CONFIRMATION, response_type=value)) == [
        (
            "RESPONSE_TYPE_PROMPT",
            "Choose SCHEMA_JSON (extract fields), TEXT or JSON (write an answer). EXACT and DERIVED belong to the "
            "response row.",
        )
    ]


def test_both_prompts_are_there() -> None:
    assert said(replace(CONFIRMATION, system_prompt=" ", user_prompt="")) == [
        ("FIELD_REQUIRED", "Enter the system prompt."),
        ("FIELD_REQUIRED", "Enter the user prompt."),
    ]


@pytest.mark.parametrize("value", [-0.1, 2.01, None, "warm", True])
def test_the_temperature_is_between_0_and_2(value: Any) -> None:
    assert said(replace(CONFIRMATION, temperature=value)) == [("TEMPERATURE", "Temperature must be between 0 and 2.")]


@pytest.mark.parametrize(
    "contract", [[], "[]", {"allows": "affirm"}, {"allows": ["affirm"], "expects": {}}, {"allows": [1]}]
)
def test_a_contract_is_two_lists_of_words(contract: Any) -> None:
    assert said(replace(CONFIRMATION, interaction_contract=contract)) == [
        (
            "CONTRACT_SHAPE",
            'Use JSON like {"allows":["affirm","edit"],"expects":["structured_input"]}; both are lists of words.',
        )
    ]


def test_extraction_looks_for_a_concrete_intent() -> None:
    assert said(replace(EXTRACTION, intent_code="ANY")) == [
        ("SCHEMA_PROMPT_INTENT_ANY", "Extraction looks for templates of the concrete intent only.")
    ]


def test_a_word_that_the_engine_does_not_know_is_ignored_aloud() -> None:
    contract = {"allows": ["affirm", "edit", "reset", "sing"]}
    assert said(replace(CONFIRMATION, interaction_contract=contract)) == [
        ("CONTRACT_UNKNOWN_WORD", "sing is not a capability the engine knows; it will be ignored.")
    ]


def test_a_contract_that_takes_away_what_the_mode_gives_is_told() -> None:
    assert said(replace(CONFIRMATION, interaction_contract={"allows": ["affirm", "reset"]})) == [
        (
            "CONTRACT_CONTRADICTS_MODE",
            "Mode CONFIRM usually allows edit; the contract does not name it, so it is off.",
        )
    ]


def test_an_unknown_mode_acts_like_normal() -> None:
    assert (
        "CHOICE_UNKNOWN",
        "Mode CONFRIM is not known, so it acts like NORMAL. Did you mean CONFIRM?",
    ) in said(replace(CONFIRMATION, interaction_mode="CONFRIM"))
    assert codes(replace(CONFIRMATION, interaction_mode=None)) == []


def test_of_two_templates_of_one_use_the_newest_is_used() -> None:
    assert said(replace(CONFIRMATION, template_id=9, user_prompt="Other.")) == [
        ("TWO_TEMPLATES", "Row 2 has the same use and scope. The newest enabled one is used.")
    ]
    assert "TWO_TEMPLATES" not in codes(replace(CONFIRMATION, template_id=9, response_type="JSON"))


def test_a_template_that_no_answer_uses_is_told() -> None:
    assert said(CONFIRMATION, without=[CONFIRMING]) == [
        ("PROMPT_WITHOUT_RESPONSE", "No DERIVED response uses this template yet.")
    ]
    assert codes(replace(CONFIRMATION, response_type="JSON")) == ["PROMPT_WITHOUT_RESPONSE"]
    assert codes(EXTRACTION, without=[CONFIRMING]) == []


def test_a_template_that_confirms_needs_a_schema_in_its_state() -> None:
    assert said(CONFIRMATION, without=[SCHEMA])[0] == (
        "CONFIRM_STATE_NO_SCHEMA",
        "The template for CONFIRM lets the user confirm or edit, but no schema applies in that state, so "
        "CorrectionStep can do nothing there. Set a schema's state to ANY or add one for CONFIRM.",
    )
    assert "CONFIRM_STATE_NO_SCHEMA" not in codes(
        replace(CONFIRMATION, interaction_contract={"allows": ["reset"]}), without=[SCHEMA]
    )
