import pytest

from convengine.engine.rules.actions.contract import ActionValueError
from convengine.engine.turn.trail import FOLDED
from tests.builders import make_session, payload
from tests.convengine.engine.rules.actions.run import apply, parse


@pytest.mark.parametrize(
    ("value", "params"),
    [
        ("amount:350000", {"amount": 350000}),
        ("approved:true", {"approved": True}),
        ("note:null", {"note": None}),
        ("flag", {"flag": True}),
    ],
    ids=["P2_7_6_V11_integer", "P2_7_6_V11_boolean", "P2_7_6_V11_null", "P2_7_6_V11_flag"],
)
def test_a_short_form_writes_one_param(value: str, params: dict[str, object]) -> None:
    session, turn = apply("SET_INPUT_PARAM", value, make_session(input_params={"kept": 1}))

    assert session.input_params == {"kept": 1, **params}
    assert payload(turn, "SET_INPUT_PARAM") == {
        "ruleId": 41,
        "intent": "UNKNOWN",
        "state": "UNKNOWN",
        "inputParams": FOLDED,
        "appliedInputParams": params,
    }


def test_P2_7_6_V12_a_json_list_writes_several() -> None:
    value = '[{"key":"a","value":1},{"key":"b","value":true}]'

    assert apply("SET_INPUT_PARAM", value, make_session())[0].input_params == {"a": 1, "b": True}


@pytest.mark.parametrize("value", ['{"a":1', "", None, "a b:1", '{"a b":1}'])
def test_anything_else_is_refused(value: str | None) -> None:
    with pytest.raises(ActionValueError):
        parse("SET_INPUT_PARAM", value)


def test_it_drops_the_params() -> None:
    session, turn = apply("REMOVE_INPUT_PARAM", "a, gone", make_session(input_params={"a": 1, "b": 2}))

    assert session.input_params == {"b": 2}
    assert payload(turn, "REMOVE_INPUT_PARAM")["removed"] == ["a"]


@pytest.mark.parametrize("value", ["", None, " , ", "a b"])
def test_anything_but_names_is_refused(value: str | None) -> None:
    with pytest.raises(ActionValueError):
        parse("REMOVE_INPUT_PARAM", value)


def test_the_hint_is_a_param_of_this_turn() -> None:
    session, turn = apply("SET_RESPONSE_HINT", " Be brief. ", make_session())

    assert session.input_params == {"response_hint": "Be brief."}
    assert payload(turn, "SET_RESPONSE_HINT")["responseHint"] == "Be brief."


def test_a_hint_says_something() -> None:
    with pytest.raises(ActionValueError, match="SET_RESPONSE_HINT needs a value"):
        parse("SET_RESPONSE_HINT", " ")
