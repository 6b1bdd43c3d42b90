import pytest

from convengine.engine.rules.actions.contract import ActionValueError
from convengine.engine.turn.trail import FOLDED
from tests.builders import make_schema, make_session, payload
from tests.convengine.engine.rules.actions.run import apply, parse


def test_the_context_goes_to_the_param() -> None:
    session, turn = apply("GET_CONTEXT", "snapshot", make_session(context={"claim": {"id": "CL-7"}}))

    assert session.input_params == {"snapshot": {"claim": {"id": "CL-7"}}}
    event = payload(turn, "GET_CONTEXT")
    assert event["key"] == "snapshot"
    assert event["context"] is FOLDED
    assert event["sessionInputParams"] is FOLDED


def test_the_collected_values_go_to_the_param() -> None:
    schema = make_schema("LOAN", {"amount": {"type": "number"}})
    before = make_session(context={"amount": 5, "mcp": {}}, resolved_schema=schema)
    session, turn = apply("GET_SCHEMA_JSON", "slots", before)

    assert session.input_params == {"slots": {"amount": 5}}
    assert payload(turn, "GET_SCHEMA_JSON")["schemaJson"] is FOLDED


def test_the_session_facts_go_to_the_param() -> None:
    session, turn = apply("GET_SESSION", "snapshot", make_session(intent="CLAIM", state="OPEN", context={"a": 1}))

    copied = session.input_params["snapshot"]
    assert (copied["intent"], copied["state"], copied["context"]) == ("CLAIM", "OPEN", {"a": 1})
    assert payload(turn, "GET_SESSION") == {
        "ruleId": 41,
        "key": "snapshot",
        "session": FOLDED,
        "sessionInputParams": FOLDED,
    }


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
        parse("SET_JSON", value)


@pytest.mark.parametrize(
    ("action", "value"), [("GET_CONTEXT", "a b"), ("GET_SCHEMA_JSON", "a:b"), ("GET_SESSION", "a/b")]
)
def test_the_param_needs_a_plain_name(action: str, value: str) -> None:
    with pytest.raises(ActionValueError):
        parse(action, value)


@pytest.mark.parametrize(
    ("action", "name"), [("GET_CONTEXT", "context"), ("GET_SCHEMA_JSON", "schema_json"), ("GET_SESSION", "session")]
)
def test_without_a_value_the_param_has_the_name_of_what_it_gets(action: str, name: str) -> None:
    assert list(apply(action, " ", make_session())[0].input_params) == [name]
