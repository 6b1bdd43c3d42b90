import json
from typing import Any

import pytest

from config_admin.health.checks.dead_rules import find_dead_rules, find_skipped_start_rules
from convengine.engine.turn import rows
from tests.builders import make_classifier, make_intent, make_rule, make_schema
from tests.config_admin.health.run_check import run_check

LOAN = make_intent("LOAN")
_STOP = {"stop_processing": True, "priority": 1, "action": "SET_INPUT_PARAM", "action_value": "a:1"}


def _why(*of: rows.Row, rule: rows.Rule) -> str | None:
    messages = {diagnosis.row: diagnosis.message for diagnosis in run_check(find_dead_rules, LOAN, *of, rule)}
    assert set(messages) <= {rule.rule_id}
    return messages.get(rule.rule_id)


@pytest.mark.parametrize(
    ("before", "values"),
    [
        ({"match_pattern": "ANY"}, {"rule_type": "REGEX", "match_pattern": "order"}),
        ({"rule_type": "REGEX", "match_pattern": "order"}, {"rule_type": "REGEX", "match_pattern": r"\border\b"}),
        ({"rule_type": "REGEX", "match_pattern": "y"}, {"rule_type": "EXACT", "match_pattern": "yes"}),
        ({"rule_type": "JSON_PATH", "match_pattern": "$.a"}, {"rule_type": "JSON_PATH", "match_pattern": "$.a"}),
        (
            {"match_target": "DIALOGUE_ACT", "rule_type": "REGEX", "match_pattern": "E"},
            {"match_target": "DIALOGUE_ACT", "rule_type": "EXACT", "match_pattern": "EDIT"},
        ),
    ],
)
def test_a_rule_behind_one_that_holds_whenever_it_would_and_ends_the_list_never_acts(
    before: dict[str, Any], values: dict[str, Any]
) -> None:
    first, rule = make_rule(**_STOP, **before), make_rule(**values)

    (diagnosis,) = run_check(find_dead_rules, first, rule)

    assert (diagnosis.code, diagnosis.row, diagnosis.rows[1].pk) == ("RULE_NEVER_FIRES", rule.rule_id, first.rule_id)
    assert f"Rule {first.rule_id} is evaluated first" in diagnosis.message


@pytest.mark.parametrize(
    ("before", "values"),
    [
        ({"match_pattern": "ANY", "stop_processing": False}, {}),
        ({"match_pattern": "ANY", "priority": 500}, {}),
        ({"match_pattern": "ANY", "phase": "POST_DIALOGUE_ACT"}, {}),
        ({"match_pattern": "ANY", "action": "SET_TASK", "action_value": "audit"}, {}),
        # Without a text ANY does not hold, and a path may.
        ({"match_pattern": "ANY"}, {"rule_type": "JSON_PATH", "match_pattern": "$.a"}),
        ({"rule_type": "REGEX", "match_pattern": r"\border\b"}, {"rule_type": "REGEX", "match_pattern": "order"}),
        # An exact text is trimmed: a blank before it is none of a yes.
        ({"rule_type": "REGEX", "match_pattern": "^yes"}, {"rule_type": "EXACT", "match_pattern": "yes"}),
        ({"rule_type": "REGEX", "match_pattern": "pass"}, {"rule_type": "EXACT", "match_pattern": "pass"}),
        ({"rule_type": "JSON_PATH", "match_pattern": "$.a"}, {"rule_type": "JSON_PATH", "match_pattern": "$.b"}),
        ({"rule_type": "REGEX", "match_pattern": "("}, {"rule_type": "REGEX", "match_pattern": "order"}),
        ({"match_pattern": "ANY", "intent_code": "LOAN"}, {}),
    ],
)
def test_nothing_is_said_where_it_may_act_after_all(before: dict[str, Any], values: dict[str, Any]) -> None:
    first = make_rule(**{**_STOP, **before})

    assert _why(first, rule=make_rule(**{"rule_type": "EXACT", "match_pattern": "yes", **values})) is None


def test_a_rule_between_them_that_writes_may_make_the_second_one_hold() -> None:
    same: dict[str, Any] = {"rule_type": "JSON_PATH", "match_pattern": "$[?(@.inputParams.b == 1)]"}
    between = make_rule(action="SET_INPUT_PARAM", action_value="b:1", priority=2)

    assert _why(make_rule(**_STOP, **same), between, rule=make_rule(**same)) is None


def with_rows(*rows_of_condition: dict[str, Any], **values: Any) -> rows.Rule:
    document = {"combinator": "and", "rules": list(rows_of_condition)}
    return make_rule(rule_type="CONDITION", match_pattern=json.dumps(document), **values)


def test_rows_that_ask_for_another_state_than_the_scope_never_hold() -> None:
    row = {"field": "state", "operator": "is", "value": "confirm"}
    scope = {"intent_code": "LOAN", "state_code": "COLLECT"}
    there = [make_rule(action_value=state) for state in ("COLLECT", "CONFIRM")]

    assert "requires another intent or state" in str(_why(*there, rule=with_rows(row, **scope)))
    assert _why(*there, rule=with_rows(row, **{**scope, "state_code": "CONFIRM"})) is None
    hours = {"field": "clock.now", "operator": "withinHours", "value": 1}
    either = {"combinator": "or", "rules": [row, hours]}
    assert _why(*there, rule=with_rows(either, **scope)) is None


def test_the_same_rows_behind_a_rule_that_ends_the_list_never_act() -> None:
    row = {"field": "date", "operator": "before", "value": "today"}

    assert "is evaluated first" in str(_why(with_rows(row, **_STOP), rule=with_rows(row)))
    assert _why(with_rows(row, **_STOP), rule=with_rows({**row, "operator": "after"})) is None


def test_a_rule_for_a_state_that_nothing_leads_to_never_acts() -> None:
    rule = make_rule(intent_code="LOAN", state_code="LOST")

    assert "no rule, phrase or state graph edge leads to intent LOAN, state LOST" in str(_why(rule=rule))
    assert _why(make_rule(action_value="LOST"), rule=rule) is None


@pytest.mark.parametrize(
    ("values", "message"),
    [
        ({"rule_type": "REGEX", "match_pattern": r"a\bb"}, "no text matches"),
        ({"rule_type": "REGEX", "match_pattern": "^DENY", "match_target": "DIALOGUE_ACT"}, "no dialogue act"),
        ({"phase": "POST_SEMANTIC_INTERPRET"}, "rules of phase"),
        ({"intent_code": "LOAN", "phase": "POST_CLASSIFIER_INTENT"}, "no phrase leads to LOAN"),
        ({"intent_code": "LOAN", "phase": "POST_SCHEMA_EXTRACTION"}, "LOAN has no form"),
        (
            {"state_code": "IDLE", "rule_type": "JSON_PATH", "match_pattern": "$[?(@.state == 'DONE' && @.a == 1)]"},
            "requires another intent or state",
        ),
    ],
)
def test_a_rule_whose_own_words_exclude_it_never_acts(values: dict[str, Any], message: str) -> None:
    assert message in str(_why(rule=make_rule(**values)))


@pytest.mark.parametrize(
    ("others", "values"),
    [
        ([make_classifier("LOAN", "borrow")], {"intent_code": "LOAN", "phase": "POST_CLASSIFIER_INTENT"}),
        ([make_schema("LOAN", {"a": {}})], {"intent_code": "LOAN", "phase": "POST_SCHEMA_EXTRACTION"}),
        # A rule before it moves the state, and it stands in the list all the same.
        (
            [make_rule(state_code="IDLE", priority=1, action_value="DONE")],
            {"state_code": "IDLE", "rule_type": "JSON_PATH", "match_pattern": "$[?(@.state == 'DONE')]"},
        ),
        ([], {"rule_type": "JSON_PATH", "match_pattern": "$[?(@.state == 'DONE')]"}),
        ([], {"state_code": "IDLE", "rule_type": "JSON_PATH", "match_pattern": "$[?(@.state == 'X' || @.a == 1)]"}),
    ],
)
def test_what_makes_it_act_after_all_silences_the_finding(others: list[rows.Row], values: dict[str, Any]) -> None:
    assert _why(*others, rule=make_rule(**values)) is None


_START = {"phase": "POST_AGENT_INTENT", "intent_code": "LOAN", "action": "SET_STATE", "action_value": "COLLECT"}


@pytest.mark.parametrize("state", ["UNKNOWN", "IDLE", "ANY"])
def test_a_start_rule_that_messages_with_a_phrase_pass_by_is_found(state: str) -> None:
    phrase, rule = (
        make_classifier("LOAN", "loan", state_code="UNKNOWN"),
        make_rule(**_START, state_code=state),
    )

    (diagnosis,) = run_check(find_skipped_start_rules, LOAN, phrase, rule)

    assert (diagnosis.code, diagnosis.row, diagnosis.field) == ("START_RULE_SKIPPED", rule.rule_id, "phase")
    assert "Messages that phrases recognise stay in the state UNKNOWN" in diagnosis.message


@pytest.mark.parametrize(
    "other",
    [
        make_rule(**{**_START, "phase": "POST_CLASSIFIER_INTENT"}, state_code="UNKNOWN"),
        make_rule(**{**_START, "phase": "PRE_RESPONSE_RESOLUTION"}, state_code="ANY"),
        make_classifier("LOAN", "loan", state_code="COLLECT"),
    ],
)
def test_a_flow_that_starts_for_phrases_too_is_no_finding(other: rows.Row) -> None:
    phrase = () if isinstance(other, rows.Classifier) else (make_classifier("LOAN", "loan", state_code="UNKNOWN"),)

    assert list(run_check(find_skipped_start_rules, LOAN, *phrase, make_rule(**_START), other)) == []
