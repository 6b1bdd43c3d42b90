import pytest

from convengine.engine.rules.actions.contract import ActionValueError
from convengine.engine.rules.actions.get_context import ACTION
from convengine.engine.turn.trail import FOLDED
from tests.builders import make_session, payload
from tests.convengine.engine.rules.actions.run import apply


def test_the_context_goes_to_the_param() -> None:
    session, turn = apply("GET_CONTEXT", "snapshot", make_session(context={"claim": {"id": "CL-7"}}))

    assert session.input_params == {"snapshot": {"claim": {"id": "CL-7"}}}
    event = payload(turn, "GET_CONTEXT")
    assert event["key"] == "snapshot"
    assert event["context"] is FOLDED
    assert event["sessionInputParams"] is FOLDED


def test_without_a_value_the_param_is_named_context() -> None:
    assert "context" in apply("GET_CONTEXT", " ", make_session())[0].input_params


def test_the_param_needs_a_plain_name() -> None:
    with pytest.raises(ActionValueError):
        ACTION.parse("a b")
