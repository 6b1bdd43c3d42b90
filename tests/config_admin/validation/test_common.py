"""Scope, codes, priority and order among neighbours, seen on rules and responses."""

from dataclasses import replace
from typing import Any

import pytest

from config_admin.validation import relations
from config_admin.validation.draft import Finding, Severity
from convengine.engine.turn import rows
from tests.builders import make_rule, make_snapshot
from tests.config_admin.validation import shop
from tests.config_admin.validation.shop import CANCELLED, RULE, codes, findings, list_messages

NEW = replace(CANCELLED, response_id=None)  # type: ignore[arg-type]


@pytest.mark.parametrize("value", [None, "", "  "])
def test_a_blank_intent_is_no_scope(value: Any) -> None:
    assert list_messages(replace(RULE, intent_code=value)) == [
        ("SCOPE_BLANK", "Enter an intent, or ANY for all intents.")
    ]


@pytest.mark.parametrize("value", [None, "", "  "])
def test_a_blank_state_is_no_scope(value: Any) -> None:
    assert list_messages(replace(RULE, state_code=value)) == [("SCOPE_BLANK", "Enter a state, or ANY for all states.")]


@pytest.mark.parametrize("value", ["1ST", "CANCEL-ORDER", "É", "A" * 121])
@pytest.mark.parametrize("field", ["intent_code", "state_code"])
def test_a_code_has_capital_letters_digits_and_underscores(field: str, value: str) -> None:
    assert (
        "CODE_FORMAT",
        "Use capital letters, digits and underscores, starting with a letter (for example CANCEL_ORDER).",
    ) in list_messages(replace(RULE, **{field: value}))


def test_codes_are_judged_as_they_are_stored_trimmed_and_upper_case() -> None:
    assert list_messages(replace(RULE, intent_code=" cancel_order ", state_code="collect")) == []


def test_an_unknown_intent_is_refused_and_the_nearest_one_is_named() -> None:
    assert list_messages(replace(RULE, intent_code="CANCEL_ORDR")) == [
        (
            "INTENT_UNKNOWN",
            (
                "The intent CANCEL_ORDR does not exist. Did you mean CANCEL_ORDER? Create it first, or choose ANY or "
                "UNKNOWN."
            ),
        )
    ]


def test_nothing_is_guessed_when_no_name_is_near() -> None:
    assert list_messages(replace(RULE, intent_code="ZZZ")) == [
        ("INTENT_UNKNOWN", "The intent ZZZ does not exist. Create it first, or choose ANY or UNKNOWN.")
    ]


def test_any_and_unknown_need_no_intent_row() -> None:
    assert "INTENT_UNKNOWN" not in codes(replace(RULE, intent_code="ANY")) + codes(replace(RULE, intent_code="UNKNOWN"))


def test_a_row_of_a_disabled_intent_is_saved_with_a_warning() -> None:
    assert (
        "INTENT_DISABLED",
        "The intent OLD_THINGS is disabled, so this row is not used until the intent is enabled.",
    ) in list_messages(replace(RULE, intent_code="OLD_THINGS"))


def test_a_state_that_nothing_names_may_be_a_slip() -> None:
    assert (
        "STATE_UNKNOWN",
        "No rule, phrase or state graph edge leads to state COLECT yet. Did you mean COLLECT?",
    ) in list_messages(replace(RULE, state_code="COLECT"))


@pytest.mark.parametrize("state", ["ANY", "UNKNOWN", "IDLE", "INTENT_COLLISION", "CANCELLED"])
def test_known_states_are_not_questioned(state: str) -> None:
    assert "STATE_UNKNOWN" not in codes(replace(RULE, state_code=state))


@pytest.mark.parametrize("value", [-1, 1_000_001, None, "10", True, 1.5])
def test_a_priority_is_a_whole_number_within_bounds(value: Any) -> None:
    assert list_messages(replace(RULE, priority=value)) == [
        ("PRIORITY_RANGE", "Priority must be a whole number from 0 to 1000000. Lower numbers come first.")
    ]


@pytest.mark.parametrize("value", [0, 1_000_000])
def test_the_bounds_of_a_priority_are_allowed(value: int) -> None:
    assert "PRIORITY_RANGE" not in codes(replace(RULE, priority=value))


def test_a_row_that_does_the_same_as_another_is_a_duplicate() -> None:
    twin = replace(RULE, rule_id=2, priority=99, description="again")
    assert list_messages(twin) == [
        (
            "DUPLICATE_ROW",
            "Row 1 has the same scope, condition and effect. Only the first one is used. Delete one of them.",
        )
    ]


def test_a_row_is_compared_only_with_those_that_say_the_same_however_many_there_are() -> None:
    crowd = [make_rule(rule_id=100 + number, match_pattern=f"text {number % 50}") for number in range(500)]
    similar_rows = relations.find_similar_rows(make_snapshot(*crowd), crowd[7])
    assert [row.rule_id for row in similar_rows] == list(range(107, 600, 50))


def test_a_row_that_differs_in_what_it_does_is_no_duplicate() -> None:
    assert "DUPLICATE_ROW" not in codes(replace(RULE, rule_id=2, match_target="DIALOGUE_ACT"))


def test_neither_a_disabled_row_nor_a_disabled_twin_is_a_duplicate() -> None:
    twin = replace(RULE, rule_id=2)
    assert "DUPLICATE_ROW" not in codes(replace(twin, enabled=False))
    assert "DUPLICATE_ROW" not in codes(twin, replace(RULE, enabled=False))


def test_a_row_that_another_always_beats_is_shadowed() -> None:
    assert (
        "SHADOWED_ROW",
        (
            "Row 4 is always used instead of this one (same scope, lower priority number). Change"
            " the priority or the scope."
        ),
    ) in list_messages(replace(NEW, exact_text="Other.", priority=200))


def test_among_equal_priorities_the_lower_id_wins_and_a_new_row_has_the_highest() -> None:
    assert (
        "SHADOWED_ROW",
        (
            "Row 4 is always used instead of this one (same scope, same priority, lower id). "
            "Change the priority or the scope."
        ),
    ) in list_messages(replace(NEW, exact_text="Other."))


@pytest.mark.parametrize("change", [{"priority": 1}, {"state_code": "CONFIRM", "priority": 1}, {"enabled": False}])
def test_a_row_that_comes_first_or_elsewhere_is_not_shadowed(change: dict[str, Any]) -> None:
    assert "SHADOWED_ROW" not in codes(replace(NEW, exact_text="Other.", **change))


def test_a_finding_has_the_shape_that_imports_report() -> None:
    (finding,) = findings(replace(RULE, priority=-1))
    assert finding == Finding(
        "PRIORITY_RANGE",
        Severity.ERROR,
        "ce_rule",
        1,
        "priority",
        "Priority must be a whole number from 0 to 1000000. Lower numbers come first.",
    )
    assert finding.is_error
    assert finding.as_dict() == {
        "table": "ce_rule",
        "row": 1,
        "field": "priority",
        "severity": "ERROR",
        "code": "PRIORITY_RANGE",
        "message": "Priority must be a whole number from 0 to 1000000. Lower numbers come first.",
    }


def test_scoped_tables_all_refuse_a_blank_scope() -> None:
    for row in shop.ROWS:
        if "state_code" in rows.columns(type(row)):
            assert "SCOPE_BLANK" in codes(replace(row, state_code="")), row.table
