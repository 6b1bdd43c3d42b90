import pytest

from convengine.engine.rules.actions.contract import ActionValueError
from convengine.engine.rules.actions.set_json import parse
from convengine.engine.turn.trail import FOLDED
from tests.builders import make_schema, make_session, payload
from tests.convengine.engine.rules.actions.run import apply


def test_P2_7_6_V14_the_first_hit_goes_to_the_param() -> None:
    schema = make_schema("LOAN", {"code": {"type": "string"}})
    before = make_session(context={"code": "E1"}, resolved_schema=schema)
    session, turn = apply("SET_JSON", "err:$.schemaJson.code", before)

    assert session.input_params["err"] == "E1"
    assert payload(turn, "SET_JSON") == {
        "ruleId": 41,
        "key": "err",
        "path": "$.schemaJson.code",
        "intent": "UNKNOWN",
        "state": "UNKNOWN",
        "value": "E1",
        "sessionInputParams": FOLDED,
    }


def test_a_plain_name_is_key_and_path() -> None:
    assert apply("SET_JSON", "code", make_session(context={"code": 7}))[0].input_params == {"code": 7}


def test_no_hit_changes_and_tells_nothing() -> None:
    before = make_session()
    session, turn = apply("SET_JSON", "err:$.gone", before)

    assert session is before
    assert turn.trail.events == []


def test_without_a_value_the_models_last_json_is_copied() -> None:
    session, _ = apply("SET_JSON", None, make_session(last_llm_output={"a": 1}))

    assert session.input_params["llm_json"] == {"a": 1}


@pytest.mark.parametrize("value", ["$.context.code", "err:", "err:$[", "a b", "err:$.a == 1", "not-ok.1"])
def test_a_bare_path_and_a_broken_one_are_refused(value: str) -> None:
    with pytest.raises(ActionValueError):
        parse(value)
