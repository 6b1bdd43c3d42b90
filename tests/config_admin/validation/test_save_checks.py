"""The checks as a whole: a good shop is left in peace, deletions and edits are watched, and a check stays quick."""

from dataclasses import replace
from time import thread_time

import pytest

from config_admin.validation.save_checks import check_delete, check_row, stale_edit
from convengine.engine.turn import rows
from convengine.engine.turn.snapshot import Snapshot, Table
from tests.cases import for_each
from tests.config_admin.validation.shop import (
    CANCEL,
    CLASSIFIER,
    CONFIG,
    DB,
    FALLBACK,
    FAQ,
    ROWS,
    RULE,
    STATUS,
    TOOL,
    VERBOSE,
    WORLD,
    codes,
    list_messages,
    shop,
)


@pytest.mark.parametrize("row", ROWS, ids=lambda row: f"{row.table}-{row.pk}")
def test_nothing_is_said_about_a_good_row(row: rows.Row) -> None:
    assert list_messages(row) == []


@pytest.mark.parametrize("row", ROWS, ids=lambda row: f"{row.table}-{row.pk}")
def test_every_row_can_be_judged_in_an_empty_configuration(row: rows.Row) -> None:
    assert isinstance(check_row(row, Snapshot(0, {}), WORLD), list)


def test_how_a_row_goes_with_others_is_asked_once_it_is_well_formed() -> None:
    twin = replace(RULE, rule_id=2)
    assert codes(twin) == ["DUPLICATE_ROW"]
    assert codes(replace(twin, priority=-1)) == ["PRIORITY_RANGE"]


def test_nothing_is_said_twice() -> None:
    findings = check_row(replace(CLASSIFIER, pattern="("), shop(), WORLD)
    assert len(findings) == len(set(findings)) == 1


def test_an_intent_that_rows_name_cannot_be_deleted() -> None:
    extra = (
        replace(
            RULE, rule_id=2, intent_code="FAQ", state_code="IDLE", action="SET_INTENT", action_value="ORDER_STATUS"
        ),
        replace(
            CONFIG,
            config_id=9,
            config_type="ResetResolvedIntentStep",
            config_key="RESET_INTENT_CODES",
            config_value="FAQ",
        ),
    )
    (finding,) = check_delete(FAQ, shop(*extra))
    assert (finding.code, finding.row, finding.is_error) == ("IN_USE", "FAQ", True)
    assert finding.message == (
        "4 rows refer to FAQ: rule 2, answer 6, data source 1, setting 9. "
        "Disable it instead, or change those rows first."
    )
    (finding,) = check_delete(STATUS, shop(*extra))
    assert "rule 2" in finding.message


def test_a_long_list_of_rows_is_cut() -> None:
    many = [replace(RULE, rule_id=100 + number, match_pattern=f"$.a{number}") for number in range(20)]
    (finding,) = check_delete(CANCEL, shop(*many))
    assert finding.message.startswith("33 rows refer to CANCEL_ORDER: phrase 1, rule 1, rule 100, ")
    assert " …. Disable it instead" in finding.message


def test_a_tool_and_a_rule_that_rows_name_cannot_be_deleted() -> None:
    (finding,) = check_delete(TOOL, shop())
    assert finding.message.startswith("2 rows refer to order.status: direct tool call 1, progress text 1. ")
    (finding,) = check_delete(RULE, shop(replace(VERBOSE, rule_id=1)))
    assert finding.message.startswith("1 row refers to rule 1: progress text 1. ")


def test_what_nothing_names_can_be_deleted() -> None:
    unused = replace(FAQ, intent_code="UNUSED")
    assert [check_delete(row, shop(unused)) for row in (unused, RULE, DB, CLASSIFIER)] == [[], [], [], []]


def test_the_last_fallback_answer_cannot_be_deleted() -> None:
    (finding,) = check_delete(FALLBACK, shop())
    assert (finding.code, finding.message) == (
        "LAST_FALLBACK",
        "This is the only answer for messages that are not recognised. Add another one first.",
    )
    assert check_delete(FALLBACK, shop(replace(FALLBACK, response_id=50))) == []


def test_an_edit_that_somebody_overtook_is_refused() -> None:
    finding = stale_edit(RULE, shop(), who="ann", when="10:15")
    assert (finding.code, finding.is_error, finding.field) == ("STALE_EDIT", True, None)
    assert finding.message == "ann changed this row (10:15) while you were editing. Your text is kept in the form."


@pytest.mark.parametrize("scopes", [100, 1])
def test_checking_one_rule_among_ten_thousand_is_quick(scopes: int) -> None:
    many = [
        replace(RULE, rule_id=number, state_code=f"S{number % scopes}", match_pattern=f"$.a{number}", action_value="X")
        for number in range(10_000)
    ]
    tables = {**shop().tables, "ce_rule": Table("ce_rule", many)}
    check_row(many[5000], Snapshot(1, tables), WORLD)

    def once() -> float:
        started = thread_time()
        check_row(replace(many[5000], priority=5), Snapshot(1, tables), WORLD)
        return thread_time() - started

    assert min(once() for _ in range(5)) < 0.05


@for_each("row", ROWS)
@for_each("value", [None, "", "{", 7, True, [], {"a": 1}, {"a": None}])
def test_no_value_of_any_column_upsets_a_check(row: rows.Row, value: object) -> None:
    for column in rows.columns(type(row)):
        if column != "enabled":
            assert isinstance(check_row(replace(row, **{column: value}), shop(), WORLD), list)
