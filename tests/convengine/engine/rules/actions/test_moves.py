import pytest

from convengine.engine.rules.actions.contract import ActionValueError
from convengine.engine.turn.session import Transition
from convengine.engine.turn.trail import FOLDED
from tests.builders import make_session, payload
from tests.convengine.engine.rules.actions.run import apply, parse


def test_it_moves_to_the_intent_and_records_the_hop() -> None:
    session, turn = apply("SET_INTENT", " legal_case ", make_session(intent="COMPLAINT", state="IDLE"))

    assert (session.intent, session.state) == ("LEGAL_CASE", "IDLE")
    hop = Transition("COMPLAINT", "IDLE", "LEGAL_CASE", "IDLE", "RULE", 41, "PRE_RESPONSE_RESOLUTION")
    assert session.transitions == (hop,)
    assert payload(turn, "SET_INTENT") == {
        "ruleId": 41,
        "fromIntent": "COMPLAINT",
        "toIntent": "LEGAL_CASE",
        "state": "IDLE",
        "context": FOLDED,
    }


def test_the_same_intent_is_no_hop() -> None:
    assert apply("SET_INTENT", "loan", make_session(intent="LOAN"))[0].transitions == ()


def test_any_is_no_intent() -> None:
    with pytest.raises(ActionValueError, match="A conversation cannot have the intent ANY"):
        parse("SET_INTENT", "any")
    with pytest.raises(ActionValueError, match="SET_INTENT needs a value"):
        parse("SET_INTENT", " ")


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
        parse("SET_STATE", "ANY")
    with pytest.raises(ActionValueError, match="SET_STATE needs a value"):
        parse("SET_STATE", None)
