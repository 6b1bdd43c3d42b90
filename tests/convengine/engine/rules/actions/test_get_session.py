import pytest

from convengine.engine.rules.actions.contract import ActionValueError
from convengine.engine.rules.actions.get_session import ACTION
from convengine.engine.turn.trail import FOLDED
from tests.builders import make_session, payload
from tests.convengine.engine.rules.actions.run import apply


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


def test_without_a_value_the_param_is_named_session() -> None:
    assert ACTION.parse("") == "session"


def test_the_param_needs_a_plain_name() -> None:
    with pytest.raises(ActionValueError):
        ACTION.parse("a/b")
