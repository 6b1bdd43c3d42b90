from convengine.engine.llm.scripted import NO_ANSWER
from convengine.engine.rules.stages import RULE_ERROR
from convengine.engine.steps.actions.stages import PENDING_ACTION_FAILED
from convengine.engine.steps.conversation.stages import USER_INPUT
from convengine.engine.turn.stages import ENGINE_RETURN
from convengine.play.seen_turn import PortCall, SeenTurn
from tests.builders import make_session, make_turn


def test_the_input_params_are_those_of_the_last_event() -> None:
    turn = make_turn()
    turn.audit(make_session(), USER_INPUT)
    turn.audit(make_session(input_params={"a": (1, 2)}), ENGINE_RETURN)

    assert SeenTurn(trail=turn.trail.events).input_params == {"a": [1, 2]}


def test_without_a_turn_there_are_no_input_params() -> None:
    assert SeenTurn().input_params is None


def test_a_task_that_nobody_registered_is_noted_whoever_wanted_it() -> None:
    turn, session = make_turn(), make_session()
    turn.audit(session, RULE_ERROR, errorCode="NOT_REGISTERED", errorMessage="No task x.")
    turn.audit(session, PENDING_ACTION_FAILED, errorType="NOT_REGISTERED", reasonText="No task y.")

    assert SeenTurn(trail=turn.trail.events).unanswered == ["No task x.", "No task y."]


def test_a_call_without_a_stub_is_unanswered_and_no_call_that_was_made() -> None:
    asked = {"purpose": "MCP_PLAN", "system": "Plan", "user": "the tools"}
    planned = PortCall("model", asked, {"error_message": NO_ANSWER})
    found = PortCall("tool", {"tool": "stock", "group": "", "args": {"q": 1}}, {"error_message": NO_ANSWER})
    turn = SeenTurn(calls=[planned, found])

    assert turn.tool_calls == []
    assert turn.unanswered == [
        "the model for “Planner”, whose prompt is: Plan the tools",
        "the tool stock with {'q': 1}",
    ]
