import pytest

from convengine.engine.rules.actions.contract import ActionValueError
from convengine.engine.rules.actions.set_preference import PREFERENCE_KINDS, parse
from tests.builders import make_session, payload
from tests.convengine.engine.rules.actions.run import apply


@pytest.mark.parametrize("kind", PREFERENCE_KINDS)
def test_a_preference_is_remembered(kind: str) -> None:
    session, turn = apply("SET_PREFERENCE", f"{kind.upper()} : big-1", make_session(preferences={"other": "x"}))

    assert session.preferences == {"other": "x", kind: "big-1"}
    event = payload(turn, "SET_PREFERENCE")
    assert (event["kind"], event["fromId"], event["toId"]) == (kind, None, "big-1")


@pytest.mark.parametrize("value", ["", None, "model", "model:", "shoe:9"])
def test_anything_else_is_refused(value: str | None) -> None:
    with pytest.raises(ActionValueError):
        parse(value)
