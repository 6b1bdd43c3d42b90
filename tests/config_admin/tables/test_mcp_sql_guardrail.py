"""Save checks of the SQL guardrail."""

from dataclasses import replace

import pytest

from tests.config_admin.validation.shop import GUARDRAIL, codes, list_messages

ALLOW = replace(GUARDRAIL, guardrail_id=2, rule_type="ALLOW_FUNCTION")


def test_the_type_is_of_the_list() -> None:
    assert codes(replace(GUARDRAIL, rule_type="ALLOW_KEYWORD")) == ["CHOICE_UNKNOWN"]


@pytest.mark.parametrize("value", ["", "pg_sleep()", "a b", "é"])
def test_the_value_is_one_name(value: str) -> None:
    assert list_messages(replace(GUARDRAIL, match_value=value)) == [
        ("MATCH_VALUE", "Enter one name with letters, digits and underscores only.")
    ]


def test_an_entry_stands_once() -> None:
    assert list_messages(replace(GUARDRAIL, guardrail_id=2, match_value="PG_SLEEP")) == [
        ("DUPLICATE", "This entry already exists (row 1).")
    ]


def test_a_function_is_not_both_allowed_and_blocked() -> None:
    assert list_messages(ALLOW) == [
        ("CONFLICT", "pg_sleep is also blocked by row 1. Blocking has priority, so this row has no effect.")
    ]
    assert list_messages(GUARDRAIL, ALLOW) == [
        (
            "CONFLICT",
            "pg_sleep is also allowed by row 2. Blocking has priority, so disable that row first.",
        )
    ]
    assert codes(ALLOW, replace(GUARDRAIL, enabled=False)) == codes(replace(ALLOW, match_value="age")) == []


def test_the_first_allowed_function_needs_no_warning() -> None:
    assert codes(replace(ALLOW, match_value="similarity")) == []


@pytest.mark.parametrize("word", ["select", "WITH", "from"])
def test_a_keyword_that_every_query_has_is_questioned(word: str) -> None:
    assert list_messages(replace(GUARDRAIL, rule_type="BLOCK_KEYWORD", match_value=word)) == [
        ("CONFLICT", "This blocks every query. Choose another keyword.")
    ]
    assert codes(replace(GUARDRAIL, rule_type="BLOCK_KEYWORD", match_value="cross")) == []
