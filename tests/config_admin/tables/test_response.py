"""Save checks of responses."""

from dataclasses import replace
from typing import Any

import pytest

from convengine.engine.turn import rows
from tests.config_admin.validation.shop import CANCELLED, CONFIRMATION, CONFIRMING, FALLBACK, codes, list_messages

AS_JSON = replace(CANCELLED, output_format="JSON")


def test_an_exact_answer_has_a_text() -> None:
    assert list_messages(replace(CANCELLED, exact_text="")) == [
        ("EXACT_TEXT_REQUIRED", "Enter the text of the answer.")
    ]
    assert codes(replace(CONFIRMING, exact_text=None)) == []


@pytest.mark.parametrize("change", [{"output_format": "XML"}, {"response_type": "GUESSED"}])
def test_format_and_type_are_of_the_list(change: dict[str, Any]) -> None:
    assert codes(replace(CANCELLED, **change)) == ["CHOICE_UNKNOWN"]


@pytest.mark.parametrize("text", ["Done.", '{"a": {{orderNumber}}', "[1,]", "[1]\n{% or %}\n[1,]"])
def test_a_json_answer_is_json_once_filled_in(text: str) -> None:
    assert (
        "SHAPE_INVALID",
        "With the format JSON, the text must be valid JSON after its placeholders are filled in.",
    ) in list_messages(replace(AS_JSON, exact_text=text))


@pytest.mark.parametrize(
    "text",
    [
        '{"order": "{{orderNumber}}", "n": {{turnNo}}}',
        "{{context}}",
        "[{% for field in missing_fields %}1{% endfor %}]",
        '{"#": "{{ state }}"}',
        "[1]\n{% or %}\n[{{turnNo}}]",
        '{# the turn #}{"n": {{turnNo}}{# its number #}}',
    ],
)
def test_expressions_stand_for_values_in_a_json_answer(text: str) -> None:
    assert codes(replace(AS_JSON, exact_text=text)) == []


def test_a_json_answer_that_is_no_template_is_told_once() -> None:
    assert codes(replace(AS_JSON, exact_text='{"a": "#{T(java.lang.Runtime)}"}')) == ["TEMPLATE_INVALID"]


def test_older_forms_stand_for_values_as_well() -> None:
    assert codes(replace(AS_JSON, exact_text='{"a": [[${orderNumber}]], "b": "#{state}"}')) == ["TEMPLATE_OLDER_FORM"]


@pytest.mark.parametrize("row", [AS_JSON, CONFIRMING])
def test_a_schema_only_applies_to_json_that_the_model_writes(row: rows.Response) -> None:
    assert (
        "JSON_SCHEMA_FOR_TEXT",
        "A JSON Schema only applies to DERIVED answers in the format JSON. Remove it.",
    ) in list_messages(replace(row, exact_text="{}", json_schema={"type": "object"}))


def test_the_schema_of_an_answer_is_a_json_schema() -> None:
    derived = replace(CONFIRMING, output_format="JSON")
    prompt = replace(CONFIRMATION, template_id=9, response_type="JSON")
    assert codes(replace(derived, json_schema={"type": "nothing"}), prompt) == ["SHAPE_INVALID"]
    assert codes(replace(derived, json_schema={"type": "object"}), prompt) == []


@pytest.mark.parametrize("change", [{"enabled": False}, {"state_code": "IDLE"}, {"intent_code": "FAQ"}])
def test_the_last_answer_to_what_nothing_understands_stays(change: dict[str, Any]) -> None:
    assert list_messages(replace(FALLBACK, **change)) == [
        (
            "LAST_FALLBACK",
            "This is the only answer for messages that are not recognised. Add another one first.",
        )
    ]
    assert "LAST_FALLBACK" not in codes(replace(FALLBACK, **change), replace(FALLBACK, response_id=99))


def test_a_written_answer_needs_a_prompt_template_of_its_format() -> None:
    assert list_messages(CONFIRMING, without=[CONFIRMATION]) == [
        (
            "DERIVED_NO_PROMPT",
            (
                "No enabled TEXT prompt template applies to intent CANCEL_ORDER, state CONFIRM, so "
                "the turn would fail. Add one."
            ),
        )
    ]
    assert codes(replace(CONFIRMING, output_format="JSON")) == ["DERIVED_NO_PROMPT"]


def test_a_hint_helps_the_model() -> None:
    assert list_messages(replace(CONFIRMING, derivation_hint=" ")) == [
        ("DERIVED_NO_HINT", "Without a hint, the model only gets the prompt template.")
    ]


def test_without_a_model_a_written_answer_falls_back_to_its_text_or_fails() -> None:
    assert list_messages(CONFIRMING, model_configured=False) == [
        (
            "DERIVED_WITHOUT_MODEL",
            "No model is configured, so the turn fails. Enter a text as fallback.",
        )
    ]
    assert list_messages(replace(CONFIRMING, exact_text="Really?"), model_configured=False) == []
