"""Searching everything: what is found, in which order, with the place of the words, and how long it takes."""

import time
from typing import Any

import pytest

from config_admin.models import CeConfig, CeRule
from config_admin.workplace.finder import SHOWN, Hit, SearchResults, search
from convengine.engine.turn import rows
from convengine.engine.turn.snapshot import Snapshot, Table

SCOPE = {"intent_code": "LOAN", "state_code": "COLLECT"}
TABLES = {row_type.table for row_type in rows.ROW_TYPES}


def rule(pk: int, **values: Any) -> rows.Rule:
    plain = {"rule_type": "EXACT", "match_pattern": "yes", "action": "SET_STATE", "action_value": "DONE"}
    return rows.Rule(rule_id=pk, **(SCOPE | plain | values))


def snapshot_of(*all_rows: rows.Row) -> Snapshot:
    tables = {
        row.table: Table(row.table, [entry for entry in all_rows if entry.table == row.table]) for row in all_rows
    }
    return Snapshot(7, tables)


def search_rows(text: str, *stored: rows.Row, **options: Any) -> SearchResults:
    return search(snapshot_of(*stored), text, options.pop("tables", TABLES - {CeConfig._meta.db_table}), **options)


def names(text: str, *stored: rows.Row, **options: Any) -> list[str]:
    return [hit.name for hit in search_rows(text, *stored, **options).hits]


def test_rows_are_found_by_every_text_of_theirs() -> None:
    schema = rows.OutputSchema(schema_id=2, json_schema={"properties": {"meterNumber": {}}}, **SCOPE)
    stored = (
        rule(1, match_pattern=r"\bmortgage\b"),
        schema,
        rows.Response(response_id=3, exact_text="Hi Zoë", **SCOPE),
    )

    assert names("MORTGAGE", *stored) == ["Rule 1"]
    assert names("meternumber", *stored) == ["Form 2"]
    assert names("zoë", *stored) == ["Answer 3"]


def test_all_words_must_be_there() -> None:
    assert names("mortgage pay", rule(1, match_pattern="mortgage"), rule(2, match_pattern="pay the mortgage")) == [
        "Rule 2"
    ]


def test_what_is_called_so_comes_before_what_says_so() -> None:
    intent = rows.Intent(intent_code="PAY")
    longer = rows.Intent(intent_code="PAY_LATER")
    inside = rows.Intent(intent_code="REPAY")
    text = rows.Response(response_id=1, exact_text="You may pay now", intent_code="ANY", state_code="ANY")

    assert names("pay", inside, text, longer, intent) == [
        *("Intent PAY", "Intent PAY_LATER", "Intent REPAY", "Answer 1"),
    ]


def test_words_together_come_before_words_apart() -> None:
    apart, together = rule(1, match_pattern="pay the bill, late"), rule(2, match_pattern="pay late")

    assert names("pay late", apart, together) == ["Rule 2", "Rule 1"]


def test_a_number_finds_the_row_and_the_release() -> None:
    assert names("7", rule(7), rule(70)) == ["Release 7", "Rule 7", "Rule 70"]
    assert names("release 8", rule(1)) == []


def test_the_place_of_the_words_is_told() -> None:
    hit = search_rows("mortgage", rule(1, match_pattern=f"{'a' * 50} mortgage {'b' * 90}", enabled=False)).hits[0]

    assert (hit.field, hit.match, hit.enabled) == ("condition", "mortgage", False)
    assert hit.before == f"…{'a' * 31} "
    assert hit.after.endswith("…")


def test_tables_that_somebody_may_not_see_are_left_out() -> None:
    assert names("yes", rule(1), tables={"ce_response"}) == []


def test_pages_and_settings_are_found_too() -> None:
    page = Hit("/rules/", "Rules", "When a condition holds.")

    assert names("condition", pages=[page]) == ["Rules"]
    assert "Maximum passes of a phase" in names("max_passes", tables={CeConfig._meta.db_table})


def test_many_hits_are_counted_and_the_best_shown() -> None:
    many = search_rows("yes", *(rule(number) for number in range(1, 100)))

    assert (len(many.hits), many.total) == (SHOWN, 99)


@pytest.mark.parametrize("text", ["", "   "])
def test_nothing_is_found_by_nothing(text: str) -> None:
    assert search_rows(text, rule(1)) == SearchResults((), 0)


def test_an_edit_does_not_make_anew_what_other_tables_say() -> None:
    snapshot = snapshot_of(rule(1), rows.Intent(intent_code="PAY"))
    search(snapshot, "pay", TABLES)
    tables = {**snapshot.tables, CeRule._meta.db_table: Table(CeRule._meta.db_table, [rule(2)])}

    assert "said" in Snapshot(8, tables).table(rows.Intent).memo.values


def test_five_thousand_rules_are_searched_in_a_moment() -> None:
    snapshot = snapshot_of(*(rule(number, match_pattern=f"pattern {number} of many") for number in range(1, 5001)))
    search(snapshot, "pattern", TABLES)

    start = time.thread_time()
    assert search(snapshot, "pattern many", TABLES).total == 5000
    assert time.thread_time() - start < 0.3
