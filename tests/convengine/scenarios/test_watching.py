from convengine.domain.stages import Stage
from convengine.scenarios.watching import saw, watching
from tests.builders import make_session, make_turn


def test_the_input_params_are_those_of_the_last_event() -> None:
    turn = make_turn()

    with watching() as watch:
        saw(turn.audit(make_session(), Stage.USER_INPUT))
        saw(turn.audit(make_session(input_params={"a": (1, 2)}), Stage.ENGINE_RETURN))

    assert watch.input_params() == {"a": [1, 2]}


def test_without_a_turn_there_are_no_input_params() -> None:
    with watching() as watch:
        assert watch.input_params() is None


def test_a_task_that_nobody_registered_is_noted_whoever_wanted_it() -> None:
    turn, session = make_turn(), make_session()

    with watching() as watch:
        saw(turn.audit(session, Stage.RULE_ERROR, errorCode="NOT_REGISTERED", errorMessage="No task x."))
        saw(turn.audit(session, Stage.PENDING_ACTION_FAILED, errorType="NOT_REGISTERED", reasonText="No task y."))

    assert watch.missing_tasks == ["No task x.", "No task y."]


def test_each_turn_is_seen_by_itself() -> None:
    with watching() as watch:
        saw(make_turn().audit(make_session(), Stage.RULE_ERROR, errorCode="NOT_REGISTERED", errorMessage="No task x."))
        watch.begin()

    assert (watch.input_params(), watch.missing_tasks) == (None, [])


def test_nobody_watches_outside() -> None:
    with watching() as watch:
        pass
    saw(make_turn().audit(make_session(), Stage.USER_INPUT))

    assert watch.last is None
