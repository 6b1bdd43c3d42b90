import pytest

from convengine.engine.rules.actions.contract import ActionValueError
from convengine.engine.rules.actions.set_response_hint import parse
from tests.builders import make_session, payload
from tests.convengine.engine.rules.actions.run import apply


def test_the_hint_is_a_param_of_this_turn() -> None:
    session, turn = apply("SET_RESPONSE_HINT", " Be brief. ", make_session())

    assert session.input_params == {"response_hint": "Be brief."}
    assert payload(turn, "SET_RESPONSE_HINT")["responseHint"] == "Be brief."


def test_a_hint_says_something() -> None:
    with pytest.raises(ActionValueError, match="SET_RESPONSE_HINT needs a value"):
        parse(" ")
