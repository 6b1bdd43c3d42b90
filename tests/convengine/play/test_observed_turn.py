from convengine.engine.rules.stages import RULE_ERROR
from convengine.engine.steps.actions.stages import PENDING_ACTION_FAILED
from convengine.engine.steps.conversation.stages import USER_INPUT
from convengine.engine.turn.stages import ENGINE_RETURN
from convengine.play.observed_turn import observing, record_event
from tests.builders import make_session, make_turn


def test_the_input_params_are_those_of_the_last_event() -> None:
    turn = make_turn()

    with observing() as observer:
        record_event(turn.audit(make_session(), USER_INPUT))
        record_event(turn.audit(make_session(input_params={"a": (1, 2)}), ENGINE_RETURN))

    assert observer.input_params() == {"a": [1, 2]}


def test_without_a_turn_there_are_no_input_params() -> None:
    with observing() as observer:
        assert observer.input_params() is None


def test_a_task_that_nobody_registered_is_noted_whoever_wanted_it() -> None:
    turn, session = make_turn(), make_session()

    with observing() as observer:
        record_event(turn.audit(session, RULE_ERROR, errorCode="NOT_REGISTERED", errorMessage="No task x."))
        record_event(turn.audit(session, PENDING_ACTION_FAILED, errorType="NOT_REGISTERED", reasonText="No task y."))

    assert observer.missing_tasks == ["No task x.", "No task y."]


def test_each_turn_is_seen_by_itself() -> None:
    with observing() as observer:
        record_event(
            make_turn().audit(make_session(), RULE_ERROR, errorCode="NOT_REGISTERED", errorMessage="No task x.")
        )
        observer.begin()

    assert (observer.input_params(), observer.missing_tasks) == (None, [])


def test_nobody_observeres_outside() -> None:
    with observing() as observer:
        pass
    record_event(make_turn().audit(make_session(), USER_INPUT))

    assert observer.last is None
