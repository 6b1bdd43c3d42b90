"""Save checks of rules that move a conversation."""

from dataclasses import replace
from typing import Any

import pytest

from convengine.engine.turn import rows
from tests.config_admin.validation.shop import CANCELLED, COLLECTING, CONFIRMING, EDGES, RULE, codes, list_messages

BACK = replace(
    RULE, rule_id=2, state_code="CONFIRM", action_value="COLLECT", match_pattern="$[?(@.inputParams.redo == true)]"
)
RETURN = rows.StateEdge(edge_id=9, intent_code="CANCEL_ORDER", from_state="CONFIRM", to_state="COLLECT")


def test_two_rules_that_move_there_and_back_are_told() -> None:
    assert list_messages(BACK, RETURN) == [
        (
            "RULE_FLIP_FLOP",
            (
                "This rule and rule 1 can undo each other. The engine stops after 5 passes. Give one of them a "
                "narrower condition."
            ),
        )
    ]
    assert codes(RULE, BACK, RETURN) == codes(replace(RULE, action="set_state"), BACK, RETURN) == ["RULE_FLIP_FLOP"]


def test_rules_of_any_state_that_always_hold_go_back_and_forth() -> None:
    one = rows.Rule(
        rule_id=30,
        intent_code="ANY",
        state_code="ANY",
        rule_type="EXACT",
        match_pattern="ANY",
        action="SET_STATE",
        action_value="COLLECT",
    )
    assert "RULE_FLIP_FLOP" in codes(one, replace(one, rule_id=31, action_value="CONFIRM"))


def test_rules_that_change_the_intent_to_and_fro_are_told() -> None:
    there = replace(RULE, rule_id=30, action="SET_INTENT", action_value="FAQ", state_code="ANY")
    back = replace(there, rule_id=31, intent_code="FAQ", action_value="CANCEL_ORDER")
    assert "RULE_FLIP_FLOP" in codes(back, there)


@pytest.mark.parametrize(
    "change",
    [
        {"phase": "PRE_RESPONSE_RESOLUTION"},
        {"action_value": "CANCELLED"},
        {"intent_code": "ORDER_STATUS"},
        {"match_pattern": "$[?(@.schemaComplete == false)]"},
        {"match_pattern": "$[?(@.state == 'CANCELLED' && @.inputParams.redo)]"},
        {"enabled": False},
        {"action": "SET_CONTEXT", "action_value": "a:1"},
    ],
)
def test_rules_that_cannot_meet_do_not_go_back_and_forth(change: dict[str, Any]) -> None:
    assert "RULE_FLIP_FLOP" not in codes(replace(BACK, **change), RETURN)


@pytest.mark.parametrize(("one", "other", "meet"), [("yes", "no", False), ("yes", " YES ", True), ("ANY", "no", True)])
def test_two_different_texts_cannot_hold_together(one: str, other: str, meet: bool) -> None:
    first = replace(RULE, rule_type="EXACT", match_pattern=one)
    second = replace(BACK, rule_type="EXACT", match_pattern=other)
    assert ("RULE_FLIP_FLOP" in codes(second, first, RETURN)) == meet


def test_a_condition_on_the_state_counts_like_a_scope() -> None:
    anywhere = replace(BACK, state_code="ANY", match_pattern="$[?(@.state == 'CONFIRM')]")
    assert "RULE_FLIP_FLOP" in codes(anywhere)
    assert "RULE_FLIP_FLOP" not in codes(replace(anywhere, match_pattern="$[?(@.state == 'IDLE')]"))


@pytest.mark.parametrize(("kind", "pattern"), [("EXACT", "ANY"), ("REGEX", ".*"), ("REGEX", "(yes)?")])
def test_a_move_without_condition_everywhere_is_told(kind: str, pattern: str) -> None:
    everywhere = replace(RULE, intent_code="ANY", state_code="ANY", rule_type=kind, match_pattern=pattern)
    told = (
        "RULE_ALWAYS_TRUE",
        "This rule applies to every turn of every conversation. Add a condition or a scope unless this is intended.",
    )
    assert told in list_messages(everywhere)
    assert told not in list_messages(replace(everywhere, intent_code="CANCEL_ORDER"))
    assert told not in list_messages(replace(everywhere, action="SET_CONTEXT", action_value="a:1"))
    assert told not in list_messages(replace(everywhere, rule_type="REGEX", match_pattern="yes"))


def test_a_move_that_the_graph_does_not_allow_is_told() -> None:
    assert list_messages(replace(RULE, action_value="CANCELLED")) == [
        (
            "STATE_GRAPH_MISSING_EDGE",
            "The state graph does not allow the move from COLLECT to CANCELLED, so the turn gets a warning.",
        )
    ]


def test_an_intent_without_a_graph_may_move_anywhere() -> None:
    assert codes(replace(RULE, action_value="CANCELLED"), without=EDGES) == []
    assert codes(replace(RULE, state_code="ANY")) == codes(replace(RULE, action_value="COLLECT")) == []


def test_a_state_that_nothing_answers_is_told() -> None:
    assert list_messages(RULE, without=[CONFIRMING]) == [
        ("STATE_WITHOUT_RESPONSE", "Intent CANCEL_ORDER has no answer in state CONFIRM. Add one.")
    ]
    anywhere = replace(CANCELLED, intent_code="ANY", state_code="CONFIRM")
    assert codes(RULE, anywhere, without=[CONFIRMING]) == []
    assert codes(replace(RULE, enabled=False), without=[CONFIRMING]) == []


def test_a_collision_is_answered_without_a_response() -> None:
    found = codes(replace(RULE, action_value="INTENT_COLLISION"), without=[*EDGES, COLLECTING])
    assert "STATE_WITHOUT_RESPONSE" not in found
