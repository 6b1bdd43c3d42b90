from convengine.engine.steps.rules.step import RulesStep
from convengine.engine.turn.session import Session
from tests.builders import CONVERSATION, make_rule, make_snapshot, make_turn, stages


def test_the_step_runs_the_last_phase_under_its_own_name() -> None:
    turn = make_turn(
        make_snapshot(make_rule(action_value="DONE"), make_rule(phase="POST_DIALOGUE_ACT", action_value="X"))
    )

    session = RulesStep().execute(Session(CONVERSATION, user_text="hi"), turn).session

    assert session.state == "DONE"
    assert "RULE_APPLIED (RulesStep)" in stages(turn)


def test_a_turn_that_only_resets_runs_no_rules() -> None:
    turn = make_turn(make_snapshot(make_rule()))

    RulesStep().execute(Session(CONVERSATION, user_text="reset", reset_only=True), turn)

    assert stages(turn) == []
