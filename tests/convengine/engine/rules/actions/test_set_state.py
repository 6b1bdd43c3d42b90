import pytest

from convengine.engine.rules.actions.contract import ActionValueError
from convengine.engine.rules.actions.set_state import ACTION
from convengine.engine.turn.session import Transition
from convengine.engine.turn.trail import FOLDED
from tests.builders import make_session, payload
from tests.convengine.engine.rules.actions.run import apply


def test_it_moves_to_the_state_and_records_the_hop() -> None:
    session, turn = apply("SET_STATE", "confirm", make_session(intent="LOAN", state="IDLE"))

    assert session.state == "CONFIRM"
    hop = Transition("LOAN", "IDLE", "LOAN", "CONFIRM", "RULE", 41, "PRE_RESPONSE_RESOLUTION")
    assert session.transitions == (hop,)
    assert payload(turn, "SET_STATE") == {
        "ruleId": 41,
        "fromState": "IDLE",
        "toState": "CONFIRM",
        "intent": "LOAN",
        "context": FOLDED,
    }


def test_any_is_no_state() -> None:
    with pytest.raises(ActionValueError, match="A conversation cannot be in state ANY"):
        ACTION.parse("ANY")
    with pytest.raises(ActionValueError, match="SET_STATE needs a value"):
        ACTION.parse(None)
