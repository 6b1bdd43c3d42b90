"""Save checks of policies."""

from dataclasses import replace

import pytest

from convengine.engine.turn import rows
from tests.config_admin.validation.shop import POLICY, codes, list_messages

JUDGED = replace(POLICY, rule_type="LLM", pattern="The user asks for medical advice.")
SWITCHED_ON = rows.Config(
    config_id=7, config_type="PolicyEnforcementStep", config_key="ENABLE_LLM", config_value="true"
)


def test_the_type_is_one_of_five() -> None:
    assert list_messages(replace(POLICY, rule_type="MAYBE")) == [
        (
            "RULE_TYPE",
            "Choose “Regular expression” (REGEX), “Exact text” (EXACT), “Contains” (CONTAINS), “Starts with” "
            "(STARTS_WITH) or “Model” (LLM).",
        )
    ]


def test_pattern_and_answer_are_there() -> None:
    assert list_messages(replace(POLICY, pattern="", response_text=None)) == [
        ("PATTERN_BLANK", "Enter a pattern."),
        ("FIELD_REQUIRED", "Enter the answer for messages that match."),
    ]


def test_the_pattern_compiles() -> None:
    assert codes(replace(POLICY, pattern="([")) == ["REGEX_INVALID"]


@pytest.mark.parametrize("pattern", [".*", ".", "", "x*", "(secret)?"])
def test_nothing_may_block_every_message(pattern: str) -> None:
    messages = list_messages(replace(POLICY, pattern=pattern))
    assert (
        ("POLICY_BLOCKS_EVERYTHING", "This would block every message. Make the pattern more specific.") in messages
    ) == bool(pattern)


def test_a_pattern_that_hits_harmless_messages_is_questioned() -> None:
    assert list_messages(replace(POLICY, rule_type="CONTAINS", pattern="order")) == [
        ("PATTERN_TOO_BROAD", "This also blocks harmless messages such as “Where is my order?”")
    ]


def test_a_row_for_the_model_needs_a_model_that_is_switched_on() -> None:
    assert list_messages(JUDGED, model_configured=False) == [
        (
            "LLM_NOT_CONFIGURED",
            "No model is configured to check this policy. The setting “If no model can check” decides what happens.",
        )
    ]
    assert codes(JUDGED) == ["LLM_NOT_CONFIGURED"]
    assert codes(JUDGED, SWITCHED_ON) == []


def test_a_criterion_in_words_is_no_regular_expression() -> None:
    assert codes(replace(JUDGED, pattern="Is it (really) about [health?"), SWITCHED_ON) == []


@pytest.mark.parametrize("pattern", [r"\\bsecret\\b", "a^b", "secret$s", r"(?i)\\b(pin|iban)\\b"])
def test_a_policy_that_can_stop_nothing_is_an_error(pattern: str) -> None:
    assert "POLICY_NEVER_MATCHES" in codes(replace(POLICY, pattern=pattern))


@pytest.mark.parametrize("pattern", [r"\bsecret\b", "^pin$", r"c:[\\]windows"])
def test_a_pattern_that_some_message_matches_is_none(pattern: str) -> None:
    assert codes(replace(POLICY, pattern=pattern)) == []
