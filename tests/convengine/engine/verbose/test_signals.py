from typing import Any

import pytest

from config_admin.validation.world import DETERMINANTS, STEPS
from convengine.engine.clarification.stages import (
    RESOLVE_RESPONSE_LLM_ERROR,
    RESOLVE_RESPONSE_LLM_INPUT,
    RESOLVE_RESPONSE_LLM_OUTPUT,
)
from convengine.engine.pipeline.stages import STEP_ENTER, STEP_ERROR, STEP_EXIT
from convengine.engine.rules.stages import RULE_APPLIED, RULE_MATCH, RULE_NO_MATCH
from convengine.engine.stages import STAGES
from convengine.engine.steps.conversation.stages import USER_INPUT
from convengine.engine.steps.intents.stages import INTENT_AGENT_LLM_INPUT
from convengine.engine.steps.responses.stages import RESOLVE_RESPONSE
from convengine.engine.steps.tools.stages import (
    MCP_FINAL_ANSWER,
    MCP_TOOL_ERROR,
    TOOL_ORCHESTRATION_ERROR,
    TOOL_ORCHESTRATION_RESULT,
)
from convengine.engine.turn import rows
from convengine.engine.turn.session import Session
from convengine.engine.turn.snapshot import Snapshot
from convengine.engine.turn.stage import Stage
from convengine.engine.turn.stages import DECISION
from convengine.engine.turn.trail import Trail
from convengine.engine.verbose import signals as module
from convengine.engine.verbose.signals import Signal, choose_best, list_candidates, list_signals, score_row
from tests.builders import make_intent, make_response, make_session, make_snapshot, make_verbose


def list_heard_signals(
    stage: Stage, source: str | None = None, session: Session | None = None, **payload: Any
) -> list[Signal]:
    return heard_in(make_snapshot(), stage, source, session, **payload)


def heard_in(
    snapshot: Snapshot, stage: Stage, source: str | None = None, session: Session | None = None, **payload: Any
) -> list[Signal]:
    event = Trail(lambda: 0.0).add(session or make_session(), stage, payload, source)
    return list(list_signals(event, snapshot))


def names(signals: list[Signal]) -> list[tuple[str, str, bool]]:
    return [(signal.step, signal.determinant, signal.error) for signal in signals]


@pytest.mark.parametrize("stage", [STEP_ENTER, STEP_EXIT, STEP_ERROR])
def test_every_step_tells_under_its_own_name(stage: Stage) -> None:
    session = make_session(input_params={"rule_id": 3, "tool_code": "b", "mcp_tool_code": "a"})

    (signal,) = list_heard_signals(stage, session=session, step="OwnStep")

    assert names([signal]) == [("OwnStep", stage, stage == STEP_ERROR)]
    assert (signal.rule_id, signal.tool_code) == (3, "a")


def test_a_rule_that_matched_tells_its_action_too() -> None:
    assert names(list_heard_signals(RULE_MATCH, "McpToolStep PreMcp", ruleId=7, action="SET_STATE")) == [
        ("RulesStep", "RULE_MATCH", False),
        ("RuleActionResolverFactory", "RULE_ACTION_RESOLVER_SELECTED", False),
    ]
    assert names(list_heard_signals(RULE_MATCH, "RulesStep", ruleId=7, action="SET_STAT"))[1] == (
        "RuleActionResolverFactory",
        "RULE_ACTION_RESOLVER_NOT_FOUND",
        True,
    )
    assert list_heard_signals(RULE_APPLIED, "RulesStep", ruleId=7)[0].rule_id == 7


@pytest.mark.parametrize(
    ("payload", "expected"),
    [
        ({"candidates": [], "cut": {"SCOPE_INTENT": 5, "PHASE": 2}}, True),
        ({"candidates": []}, True),
        ({"candidates": [{"id": 1}], "cut": {}}, False),
        ({"candidates": [], "cut": {"PATTERN": 1}}, False),
        ({"ruleId": 3, "reason": "TYPE_CONDITION_NOT_MET"}, False),
    ],
)
def test_that_no_rule_matched_is_told_only_where_none_was_eligible(payload: dict[str, Any], expected: bool) -> None:
    assert bool(list_heard_signals(RULE_NO_MATCH, "RulesStep", **payload)) is expected


def test_a_tool_of_another_place_is_told_as_an_error() -> None:
    assert names(list_heard_signals(TOOL_ORCHESTRATION_RESULT, status="SUCCESS", tool_code="a")) == [
        ("ToolOrchestrationStep", "TOOL_ORCHESTRATION_RESULT", False)
    ]
    assert names(list_heard_signals(TOOL_ORCHESTRATION_RESULT, status="SKIPPED_SCOPE_MISMATCH")) == [
        ("ToolOrchestrationStep", "TOOL_ORCHESTRATION_ERROR", True)
    ]
    assert names(list_heard_signals(TOOL_ORCHESTRATION_ERROR, tool_code="a")) == [
        ("ToolOrchestrationStep", "TOOL_ORCHESTRATION_ERROR", True)
    ]


def test_a_planned_call_that_failed_is_told_by_its_call_as_well() -> None:
    signals = list_heard_signals(MCP_TOOL_ERROR, tool_code="a")

    assert names(signals) == [("McpToolStep", "MCP_TOOL_CALL", True), ("McpToolStep", "MCP_TOOL_ERROR", True)]
    assert [signal.generic for signal in signals] == [False, True]


def test_a_fallback_is_a_final_answer_with_the_error_mark() -> None:
    assert names(list_heard_signals(MCP_FINAL_ANSWER, answer="x")) == [("McpToolStep", "MCP_FINAL_ANSWER", False)]
    assert names(list_heard_signals(MCP_FINAL_ANSWER, answer="x", reason="LOOPS"))[0][2] is True


def test_a_chosen_response_tells_who_makes_it() -> None:
    fine = make_response(response_id=1)
    odd = make_response(response_id=2, response_type="LATER", output_format="XML")

    assert names(heard_in(make_snapshot(fine), RESOLVE_RESPONSE, responseId=1)) == [
        ("ResponseResolutionStep", "RESOLVE_RESPONSE", False),
        ("ResponseTypeResolverFactory", "RESPONSE_TYPE_RESOLVER_SELECTED", False),
        ("OutputFormatResolverFactory", "OUTPUT_FORMAT_RESOLVER_SELECTED", False),
    ]
    assert [name for _, name, _ in names(heard_in(make_snapshot(odd), RESOLVE_RESPONSE, responseId=2))][1:] == [
        "RESPONSE_TYPE_RESOLVER_NOT_FOUND",
        "OUTPUT_FORMAT_RESOLVER_NOT_FOUND",
    ]


def test_a_written_answer_is_told_by_its_format() -> None:
    assert names(list_heard_signals(RESOLVE_RESPONSE_LLM_INPUT, schema={}))[0][0] == "JsonOutputFormatResolver"
    assert (
        names(list_heard_signals(RESOLVE_RESPONSE_LLM_OUTPUT, outputFormat="JSON"))[0][0] == "JsonOutputFormatResolver"
    )
    assert names(list_heard_signals(RESOLVE_RESPONSE_LLM_ERROR)) == [
        ("TextOutputFormatResolver", "RESOLVE_RESPONSE_LLM_ERROR", True)
    ]


def test_the_agent_starts_with_its_first_call() -> None:
    assert [name for _, name, _ in names(list_heard_signals(INTENT_AGENT_LLM_INPUT))] == [
        "AGENT_INTENT_START",
        "INTENT_AGENT_LLM_INPUT",
    ]


def test_most_events_are_nothing_to_tell() -> None:
    assert list_heard_signals(DECISION) == list_heard_signals(USER_INPUT) == []


def test_rows_are_offered_exactly_the_names_that_are_told() -> None:
    """What the form knows, and what the engine says: one list."""
    pairs = {(signal.step, signal.determinant) for stage in STAGES.values() for signal in _any(stage)}

    assert {determinant for _, determinant in pairs} == DETERMINANTS
    assert {step for step, _ in pairs} - {"AnyStep"} <= STEPS


def _any(stage: Stage) -> list[Signal]:
    """What a stage tells, whatever its payload says."""
    rows = (make_response(response_id=1), make_response(response_id=2, response_type="LATER", output_format="XML"))
    snapshot = make_snapshot(*rows)
    signals: list[Signal] = []
    for payload in ({"step": "AnyStep", "responseId": 1, "action": "SET_STATE"}, {"step": "AnyStep", "responseId": 2}):
        signals += heard_in(snapshot, stage, **payload)
    return signals


def test_no_stage_is_told_twice_in_the_tables() -> None:
    assert not module._PLAIN.keys() & module._SPECIAL.keys()


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
