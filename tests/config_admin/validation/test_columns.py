"""Values of the wrong kind, as imports may bring them."""

from dataclasses import replace
from typing import Any

import pytest

from convengine.engine.turn.enums import RulePhase
from tests.config_admin.validation.shop import CONTAINER, POLICY, RULE, codes, list_messages


@pytest.mark.parametrize(
    ("column", "value", "word"),
    [
        ("phase", 7, "a text"),
        ("action_value", {"a": 1}, "a text"),
        ("rule_id", "7", "a whole number"),
        ("rule_id", True, "a whole number"),
        ("enabled", "yes", "true or false"),
    ],
)
def test_a_column_holds_its_kind_of_value(column: str, value: Any, word: str) -> None:
    assert list_messages(replace(RULE, **{column: value})) == [("SHAPE_INVALID", f"This must be {word}.")]


def test_null_is_for_the_other_checks_to_judge() -> None:
    assert codes(replace(POLICY, pattern=None)) == ["PATTERN_BLANK"]
    assert codes(replace(CONTAINER, page_id=None)) == ["PROVIDER_UNKNOWN"]


def test_a_word_of_a_vocabulary_is_a_text() -> None:
    assert codes(replace(RULE, phase=RulePhase.POST_SCHEMA_EXTRACTION)) == []
