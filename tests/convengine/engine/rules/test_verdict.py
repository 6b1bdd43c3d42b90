from collections import Counter

from hypothesis import given, settings
from hypothesis import strategies as st

from convengine.engine.rules.verdict import (
    NOT_MET,
    build_verdict,
    count_excluded_rules,
    count_out_of_scope,
    find_exclusion_reason,
    find_inactive_reason,
    find_scope_reason,
)
from convengine.engine.turn.rows import Rule
from tests.builders import make_intent, make_rule, make_snapshot
from tests.examples import count_examples


def test_a_condition_that_held_needs_no_reason() -> None:
    assert build_verdict(True).reason is None
    assert build_verdict(False).reason == NOT_MET


CODES = st.sampled_from(["ANY", "LOAN", "CLAIM", "OFF", "UNKNOWN", "", "loan"])
STATES = st.sampled_from(["ANY", "IDLE", "DONE", "UNKNOWN"])
PHASES = st.sampled_from(["PRE_RESPONSE_RESOLUTION", "PIPELINE_RULES", "", "POST_AGENT_MCP", "WHENEVER"])
RULES = st.lists(
    st.builds(make_rule, intent_code=CODES, state_code=STATES, phase=PHASES, enabled=st.booleans()), max_size=12
)


@settings(max_examples=count_examples(200))
@given(RULES, CODES, STATES)
def test_the_counts_of_a_turn_are_those_of_the_rows_one_by_one(rules: list[object], intent: str, state: str) -> None:
    snapshot = make_snapshot(make_intent("LOAN"), make_intent("CLAIM"), make_intent("OFF", enabled=False), *rules)
    phase = "PRE_RESPONSE_RESOLUTION"
    expected = Counter(find_exclusion_reason(snapshot, rule, phase, intent, state) for rule in rules)
    in_scope = expected.pop(None, 0)

    assert {
        reason: count for reason, count in count_excluded_rules(snapshot, phase, intent, state).items() if count
    } == expected
    assert in_scope == len(snapshot.rules(phase, intent, state))


@settings(max_examples=count_examples(100))
@given(RULES, CODES, STATES)
def test_the_counts_of_a_scoped_table_are_those_of_its_rows_too(rules: list[Rule], intent: str, state: str) -> None:
    snapshot = make_snapshot(make_intent("LOAN"), make_intent("CLAIM"), make_intent("OFF", enabled=False), *rules)
    expected = Counter(find_inactive_reason(snapshot, rule) or find_scope_reason(rule, intent, state) for rule in rules)
    in_scope = expected.pop(None, 0)

    counts = count_out_of_scope(snapshot, Rule, intent, in_scope)
    assert {reason: count for reason, count in counts.items() if count} == expected
