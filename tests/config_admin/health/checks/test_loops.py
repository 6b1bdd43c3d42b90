from config_admin.health.checks.loops import find_loops
from config_admin.health.impact import Impact
from config_admin.health.player import TurnPlayer
from config_admin.validation.world import World
from tests.builders import make_classifier, make_intent, make_rule, make_snapshot
from tests.config_admin.health.run_check import run_check

LOAN = make_intent("LOAN")


def test_two_rules_that_send_a_conversation_back_and_forth_are_shown_by_a_message_that_does_it() -> None:
    onward = make_rule(state_code="IDLE", rule_type="REGEX", match_pattern=r"\bback\b", action_value="OTHER")
    back = make_rule(state_code="OTHER", rule_type="REGEX", match_pattern=r"\bforth\b", action_value="IDLE")

    (diagnosis,) = run_check(find_loops, LOAN, onward, back)

    assert diagnosis.code == "RULE_LOOP"
    assert {key.pk for key in diagnosis.rows} == {onward.rule_id, back.rule_id}
    assert diagnosis.witness is not None
    assert TurnPlayer(make_snapshot(LOAN, onward, back), World()).play(diagnosis.witness).capped


def test_circles_of_three_and_of_intents_are_found() -> None:
    states = [make_rule(state_code=start, action_value=two) for start, two in (("A", "B"), ("B", "C"), ("C", "A"))]
    intents = [
        make_rule(intent_code=start, action="SET_INTENT", action_value=two, phase="POST_DIALOGUE_ACT")
        for start, two in (("LOAN", "CARD"), ("CARD", "LOAN"))
    ]

    diagnoses = run_check(find_loops, LOAN, make_intent("CARD"), *states, *intents)

    assert [len(diagnosis.rows) for diagnosis in diagnoses] == [3, 2]


def test_a_circle_whose_conditions_exclude_each_other_is_none() -> None:
    onward = make_rule(state_code="IDLE", rule_type="EXACT", match_pattern="back", action_value="OTHER")
    back = make_rule(state_code="OTHER", rule_type="EXACT", match_pattern="forth", action_value="IDLE")

    assert not run_check(find_loops, LOAN, onward, back)


def test_a_circle_that_a_rule_breaks_open_is_none() -> None:
    onward = make_rule(state_code="IDLE", action_value="OTHER")
    back = make_rule(
        state_code="OTHER",
        rule_type="JSON_PATH",
        match_pattern="$[?(@.inputParams.a != 1)]",
        action_value="IDLE",
        priority=2,
    )
    breaks = make_rule(state_code="OTHER", action="SET_INPUT_PARAM", action_value="a:1", priority=1)

    assert not run_check(find_loops, LOAN, onward, back, breaks)


def test_of_a_touched_rule_its_circles_are_told_and_no_others() -> None:
    untouched = [make_rule(state_code=a, action_value=b) for a, b in (("A", "B"), ("B", "A"))]
    two = [make_rule(state_code=a, action_value=b) for a, b in (("C", "D"), ("D", "C"))]

    (diagnosis,) = run_check(find_loops, LOAN, *untouched, *two, touched=two[1])

    assert {key.pk for key in diagnosis.rows} == {rule.rule_id for rule in two}


def test_a_circle_is_told_by_the_rules_that_go_round_and_not_by_one_that_never_acts() -> None:
    rule = make_rule(rule_type="REGEX", match_pattern="hi", action_value="A", priority=1)
    other = make_rule(action_value="Z", priority=2, stop_processing=True)
    never = make_rule(rule_type="REGEX", match_pattern="hi", action_value="B", priority=3)

    [diagnosis] = run_check(find_loops, LOAN, rule, other, never)

    assert {key.pk for key in diagnosis.rows} == {rule.rule_id, other.rule_id}


def test_a_circle_of_conditions_on_the_state_is_told_whole() -> None:
    circle = [
        make_rule(rule_type="JSON_PATH", match_pattern=f"$[?(@.state == '{start}')]", action_value=two)
        for start, two in (("A", "B"), ("B", "C"), ("C", "A"))
    ]

    [diagnosis] = run_check(find_loops, LOAN, make_classifier("LOAN", "x", state_code="A"), *circle)

    assert {key.pk for key in diagnosis.rows} == {rule.rule_id for rule in circle}


def test_a_circle_that_a_model_decides_is_a_hint_if_there_is_a_model() -> None:
    onward = make_rule(phase="POST_AGENT_INTENT", state_code="IDLE", action_value="OTHER")
    back = make_rule(phase="POST_AGENT_INTENT", state_code="OTHER", action_value="IDLE")

    (hint,) = run_check(find_loops, LOAN, onward, back, model_configured=True)

    assert hint.impact == Impact.HINT
    assert "depends on a model" in hint.message
    assert not run_check(find_loops, LOAN, onward, back)
