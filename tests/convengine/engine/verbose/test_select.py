from typing import Any

import pytest

from convengine.engine.turn import rows
from convengine.engine.verbose.select import Signal, choose_best, list_candidates, score_row
from tests.builders import make_intent, make_snapshot, make_verbose

LOAN = make_intent("LOAN")
ENTER = Signal("RulesStep", "STEP_ENTER")


def choose(*all_rows: rows.Verbose, signal: Signal = ENTER, intent: str | None = "LOAN", **metadata: Any) -> int | None:
    """The id of the row that speaks at LOAN/IDLE."""
    candidates = list_candidates(make_snapshot(LOAN, *all_rows), signal, intent, "IDLE")
    row = choose_best(candidates, signal, lambda: metadata)
    return row.verbose_id if row else None


def test_P2_14_4_V1_the_more_specific_row_wins() -> None:
    wide = make_verbose(verbose_id=1, step_match="REGEX", step_value=".*Step$", priority=100)
    narrow = make_verbose(verbose_id=2, intent_code="LOAN", priority=10)

    assert (score_row(wide), score_row(narrow)) == (400, 875)
    assert choose(wide, narrow) == 2


def test_P2_14_4_V4_a_row_of_another_tool_is_no_candidate() -> None:
    row = make_verbose(tool_code="a")

    assert choose(row, signal=Signal("RulesStep", "STEP_ENTER", tool_code="b")) is None
    assert choose(row) is None


def test_P2_14_4_V5_a_row_of_the_tool_beats_one_of_any() -> None:
    tool = make_verbose(verbose_id=1, step_value="McpToolStep", determinant="MCP_TOOL_CALL", tool_code="A", priority=10)
    any_tool = make_verbose(verbose_id=2, step_value="McpToolStep", determinant="MCP_TOOL_CALL", priority=5)

    assert (score_row(tool), score_row(any_tool)) == (625, 475)
    assert choose(tool, any_tool, signal=Signal("McpToolStep", "MCP_TOOL_CALL", tool_code="a")) == 1


@pytest.mark.parametrize(
    ("value", "matches"), [("SUCCESS", True), (True, True), (5, True), (False, False), ("false", False), ("", False)]
)
def test_P2_14_4_V7_a_path_looks_at_the_metadata(value: Any, matches: bool) -> None:
    row = make_verbose(verbose_id=1, step_match="JSON_PATH", step_value="$.stepInfo.status")

    assert (choose(row, stepInfo={"status": value}) == 1) is matches
    assert choose(row) is None


def test_a_large_priority_never_outweighs_a_point() -> None:
    assert (
        choose(make_verbose(verbose_id=1, priority=1), make_verbose(verbose_id=2, state_code="IDLE", priority=9999))
        == 2
    )


def test_equals_are_told_apart_by_priority_then_id() -> None:
    assert (
        choose(*(make_verbose(verbose_id=number, priority=priority) for number, priority in [(1, 9), (3, 5), (2, 5)]))
        == 2
    )


@pytest.mark.parametrize(
    ("fields", "signal", "matches"),
    [
        ({"step_value": "rulesstep", "determinant": "step_enter"}, ENTER, True),
        ({"step_value": "ANY", "determinant": "ANY"}, ENTER, True),
        ({"determinant": ""}, ENTER, True),
        ({"step_value": "OtherStep"}, ENTER, False),
        ({"determinant": "STEP_EXIT"}, ENTER, False),
        ({"step_match": "REGEX", "step_value": "^rules"}, ENTER, True),
        ({"step_match": "REGEX", "step_value": "(["}, ENTER, False),
        ({"step_match": "JSON_PATH", "step_value": "$["}, ENTER, False),
        ({"step_match": "LATER"}, ENTER, True),
        ({"rule_id": 5}, Signal("RulesStep", "STEP_ENTER", rule_id="5"), True),
        ({"rule_id": 5}, ENTER, False),
        ({"intent_code": "FAQ"}, ENTER, False),
        ({"state_code": "DONE"}, ENTER, False),
        ({"enabled": False}, ENTER, False),
    ],
)
def test_a_row_matches_by_what_it_names(fields: dict[str, Any], signal: Signal, matches: bool) -> None:
    assert (choose(make_verbose(verbose_id=1, **fields), signal=signal) == 1) is matches


def test_blank_names_match_nothing() -> None:
    everything = make_verbose(step_value="ANY", determinant="ANY")

    assert choose(everything, intent=" ") is None
    assert choose(everything, signal=Signal("", "STEP_ENTER")) is None
    assert choose(everything, signal=Signal("RulesStep", "")) is None


def test_the_step_counts_only_when_the_row_names_it() -> None:
    assert score_row(make_verbose(step_value="ANY")) == 250
    assert score_row(make_verbose(step_match="JSON_PATH", rule_id=1)) == 250 + 100 + 200
