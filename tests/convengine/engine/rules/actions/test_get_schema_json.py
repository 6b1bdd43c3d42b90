import pytest

from convengine.engine.rules.actions.contract import ActionValueError
from convengine.engine.rules.actions.get_schema_json import ACTION
from convengine.engine.turn.trail import FOLDED
from tests.builders import make_schema, make_session, payload
from tests.convengine.engine.rules.actions.run import apply


def test_the_collected_values_go_to_the_param() -> None:
    schema = make_schema("LOAN", {"amount": {"type": "number"}})
    before = make_session(context={"amount": 5, "mcp": {}}, resolved_schema=schema)
    session, turn = apply("GET_SCHEMA_JSON", "slots", before)

    assert session.input_params == {"slots": {"amount": 5}}
    assert payload(turn, "GET_SCHEMA_JSON")["schemaJson"] is FOLDED


def test_without_a_value_the_param_is_named_schema_json() -> None:
    assert ACTION.parse(None) == "schema_json"


def test_the_param_needs_a_plain_name() -> None:
    with pytest.raises(ActionValueError):
        ACTION.parse("a:b")
