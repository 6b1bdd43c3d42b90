import pytest

from convengine.engine.turn.owned_params import ActionParams, ToolParams
from convengine.engine.turn.params import PARAMS
from convengine.engine.turn.session import Session


def test_a_value_that_nobody_gave_is_null_and_not_in_the_params() -> None:
    session = Session("c").with_values(ToolParams(mcp_action="CALL", mcp_tool_code=None))

    assert (session.tools.mcp_tool_code, session.tools.tool_status) == (None, None)
    assert session.input_params == {"mcp_action": "CALL", "mcp_tool_code": None}


def test_values_never_change_and_have_declared_names() -> None:
    with pytest.raises(TypeError, match="ActionParams has no field guardrail_bloked"):
        ActionParams(guardrail_bloked=True)  # type: ignore[call-arg]
    with pytest.raises(AttributeError, match="never changes"):
        ActionParams().guardrail_blocked = True  # type: ignore[misc]


def test_params_go_where_they_belong_and_come_back_under_their_names() -> None:
    values = {"colour": "red", "tool_status": "SUCCESS", "guardrail_blocked": "yes", "previousTurn": {"intent": "A"}}
    session = Session("c").with_params({"size": 1, "tool_result": 2}).with_params(values)

    assert dict(session.params) == {"size": 1, "colour": "red"}
    assert (session.action, session.tools) == (
        ActionParams(guardrail_blocked="yes"),
        ToolParams(tool_result=2, tool_status="SUCCESS"),
    )
    assert session.input_params == {"size": 1, "tool_result": 2, **values}
    assert session.without_params("colour", "tool_result", "none").input_params == {
        "size": 1,
        **{key: value for key, value in values.items() if key != "colour"},
    }
    assert session.with_only_params({"a": 1}).input_params == {"a": 1}


def test_params_are_shown_in_the_order_in_which_they_were_given() -> None:
    values = {"b": 1, "a": 2, "dialogue_act_source": "RULE", "dialogue_act": "ANSWER", "tool_status": "ERROR"}

    assert list(Session("c").with_params(values).input_params) == list(values)


def test_each_declared_value_is_a_known_param() -> None:
    assert PARAMS["guardrail_blocked"].owner == "ER"
    assert PARAMS["pending_action_key"].persists
