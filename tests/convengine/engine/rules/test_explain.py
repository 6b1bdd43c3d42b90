from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from convengine.engine.rules.apply import run_phase
from convengine.engine.rules.conditions.rule import evaluate_rule
from convengine.engine.rules.explain import _JUDGES, explain
from convengine.engine.rules.verdict import ROW_INVALID, find_exclusion_reason
from convengine.engine.turn import rows
from convengine.engine.turn.enums import DecisionKind, RulePhase
from convengine.engine.turn.snapshot import Snapshot
from tests.builders import (
    make_classifier,
    make_intent,
    make_policy,
    make_response,
    make_rule,
    make_session,
    make_snapshot,
    make_turn,
    payload,
)
from tests.examples import count_examples

PHASE = RulePhase.PRE_RESPONSE_RESOLUTION
EFFECT = {"action": "SET_INPUT_PARAM", "action_value": "seen"}


def reasons(snapshot: Snapshot, decision: dict[str, Any], text: str | None = None) -> dict[Any, str | None]:
    return {row.row_id: row.reason for row in explain(snapshot, decision, text)}


def test_every_rule_has_its_reason() -> None:
    snapshot = make_snapshot(
        make_intent("LOAN"),
        make_intent("OFF", enabled=False),
        make_rule(rule_id=1, enabled=False),
        make_rule(rule_id=2, intent_code="OFF"),
        make_rule(rule_id=3, phase="POST_AGENT_MCP"),
        make_rule(rule_id=4, intent_code="UNKNOWN"),
        make_rule(rule_id=5, state_code="DONE"),
        make_rule(rule_id=6, rule_type="REGEX", match_pattern="never"),
        make_rule(rule_id=7, rule_type="REGEX", match_pattern="("),
        make_rule(rule_id=8, rule_type="JSON_PATH", match_pattern="$[?(@.turnNo > 5)]"),
        make_rule(rule_id=9, priority=200, stop_processing=True, **EFFECT),
        make_rule(rule_id=10, priority=300),
    )
    turn = make_turn(snapshot)
    run_phase(PHASE, "RulesStep", make_session(intent="LOAN", state="IDLE", user_text="go on"), turn)
    explained = {row.row_id: row for row in explain(snapshot, payload(turn, "RULE_NO_MATCH"))}

    assert {row_id: row.reason for row_id, row in explained.items()} == {
        1: "DISABLED",
        2: "INTENT_DISABLED",
        3: "PHASE",
        4: "SCOPE_INTENT",
        5: "SCOPE_STATE",
        6: "PATTERN",
        7: "CONFIG_ROW_INVALID",
        8: "TYPE_CONDITION_NOT_MET",
        9: None,
        10: "STOPPED",
    }
    assert [row_id for row_id, row in explained.items() if row.matched] == [9]
    assert [row_id for row_id, row in explained.items() if not row.derived] == [8, 9]
    assert explained[8].operands[0]["value"] == 1


CODES = st.sampled_from(["ANY", "LOAN", "OFF", "UNKNOWN"])
STATES = st.sampled_from(["ANY", "IDLE", "DONE"])
CONDITIONS = st.sampled_from(
    [
        ("EXACT", "ANY", "USER_TEXT"),
        ("EXACT", "go", "USER_TEXT"),
        ("EXACT", "GO", "RESOLVED_INPUT"),
        ("REGEX", "g.", "USER_TEXT"),
        ("REGEX", "(", "USER_TEXT"),
        ("REGEX", "", "USER_TEXT"),
        ("REGEX", "x", "DIALOGUE_ACT"),
        ("REGEX", "x", "SHOE_SIZE"),
        ("JSON_PATH", "$[?(@.turnNo == 1)]", "USER_TEXT"),
        ("JSON_PATH", "$.gone", "USER_TEXT"),
        ("JSON_PATH", "$[", "USER_TEXT"),
        ("TELEPATHY", "x", "USER_TEXT"),
    ]
)


@st.composite
def rule_rows(draw: st.DrawFn) -> rows.Rule:
    rule_type, pattern, match_target = draw(CONDITIONS)
    return make_rule(
        rule_type=rule_type,
        match_pattern=pattern,
        match_target=match_target,
        intent_code=draw(CODES),
        state_code=draw(STATES),
        phase=draw(st.sampled_from([PHASE.value, "PIPELINE_RULES", "POST_AGENT_MCP"])),
        priority=draw(st.integers(1, 3)),
        enabled=draw(st.booleans()),
        stop_processing=draw(st.booleans()),
        **EFFECT,
    )


def evaluate_all(snapshot: Snapshot, session: Any) -> dict[int, tuple[bool, str | None]]:
    """What looking at every row of the table says, one by one."""
    results = {
        rule.rule_id: (False, find_exclusion_reason(snapshot, rule, PHASE, session.intent, session.state))
        for rule in snapshot.rows(rows.Rule)
    }
    stopped = False
    for rule in snapshot.rules(PHASE, session.intent, session.state):
        verdict = evaluate_rule(rule, session)
        results[rule.rule_id] = (False, "STOPPED") if stopped else (verdict.matched, verdict.reason)
        stopped = stopped or (verdict.matched and rule.stop_processing)
    return results


@settings(max_examples=count_examples(300))
@given(st.lists(rule_rows(), min_size=1, max_size=10), CODES, STATES, st.sampled_from(["go", " GO ", "stop", "", None]))
def test_derived_reasons_are_what_evaluating_every_row_says(
    rules: list[rows.Rule], intent: str, state: str, text: str | None
) -> None:
    snapshot = make_snapshot(make_intent("LOAN"), make_intent("OFF", enabled=False), *rules)
    session = make_session(intent=intent, state=state, user_text=text)
    turn = make_turn(snapshot)
    run_phase(PHASE, "RulesStep", session, turn)
    payloads = [event.payload for event in turn.trail.events if event.stage.startswith("RULE_NO_MATCH")]
    if not payloads:
        return
    explained = {row.row_id: row for row in explain(snapshot, payloads[0])}
    expected = evaluate_all(snapshot, session)

    for row_id, (matched, reason) in expected.items():
        explained_row = explained[row_id]
        assert explained_row.matched is matched
        # A text that does not hit is cut by the bank before its type is asked; both say that the text did not fit.
        assert (explained_row.reason if explained_row.reason != "PATTERN" else "TYPE_CONDITION_NOT_MET") == reason
        assert explained_row.reason != ROW_INVALID or explained_row.derived
    derived = [row for row in explained.values() if row.derived]
    assert sum(payloads[0]["cut"].values()) == len(derived)
    for reason, count in payloads[0]["cut"].items():
        assert count == sum(row.reason == reason for row in derived)


POLICIES = make_snapshot(
    make_policy("CONTAINS", "bomb", policy_id=1),
    make_policy("CONTAINS", "bomb", policy_id=2, enabled=False),
    make_policy("REGEX", "(", policy_id=3),
    make_policy("EXACT", "quit", policy_id=4),
    make_policy("LLM", "is rude", policy_id=5),
    make_policy("REGEX", "bomb", policy_id=6),
)


def test_policies_are_tested_on_the_text_as_the_turn_tested_them() -> None:
    decision = {"kind": "POLICY", "key": {}, "candidates": [{"id": 1, "matched": True}]}

    assert reasons(POLICIES, decision, "ｂomb") == {
        1: None,
        2: "DISABLED",
        3: "CONFIG_ROW_INVALID",
        4: "PATTERN",
        5: "NOT_ASKED",
        6: "OUTRANKED",
    }


def test_classifiers_of_no_intent_take_no_part() -> None:
    snapshot = make_snapshot(
        make_intent("LOAN"),
        make_classifier("LOAN", "loan", classifier_id=1),
        make_classifier("LOAN", "claim", classifier_id=2),
        make_classifier("ANY", "loan", classifier_id=3),
        make_classifier("GONE", "loan", classifier_id=4),
    )
    decision = {
        "kind": "CLASSIFIER",
        "key": {"userText": "a loan"},
        "candidates": [{"id": 1, "matched": False, "reason": "INTENT_COLLISION"}],
    }

    assert reasons(snapshot, decision) == {
        1: "INTENT_COLLISION",
        2: "PATTERN",
        3: "INTENT_DISABLED",
        4: "INTENT_DISABLED",
    }


def test_scoped_rows_are_out_of_scope_or_outranked() -> None:
    snapshot = make_snapshot(
        make_intent("LOAN"),
        make_response(response_id=1, intent_code="LOAN", state_code="IDLE"),
        make_response(response_id=2, intent_code="LOAN", state_code="DONE"),
        make_response(response_id=3, intent_code="UNKNOWN"),
        make_response(response_id=4),
        make_response(response_id=5, enabled=False),
    )
    decision = {
        "kind": "RESPONSE",
        "key": {"intent": "LOAN", "state": "IDLE"},
        "winner": 1,
        "candidates": [{"id": 1, "matched": True}],
    }

    assert reasons(snapshot, decision) == {
        1: None,
        2: "SCOPE_STATE",
        3: "SCOPE_INTENT",
        4: "OUTRANKED",
        5: "DISABLED",
    }


def test_a_rule_decision_is_not_a_decision_event() -> None:
    assert set(_JUDGES) == set(DecisionKind) - {DecisionKind.RULE}
    with pytest.raises(ValueError, match="RULE"):
        explain(POLICIES, {"kind": "RULE"})
