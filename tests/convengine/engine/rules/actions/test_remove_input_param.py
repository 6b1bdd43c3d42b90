import pytest

from convengine.engine.rules.actions.contract import ActionValueError
from convengine.engine.rules.actions.remove_input_param import parse
from tests.builders import make_session, payload
from tests.convengine.engine.rules.actions.run import apply


def test_it_drops_the_params() -> None:
    session, turn = apply("REMOVE_INPUT_PARAM", "a, gone", make_session(input_params={"a": 1, "b": 2}))

    assert session.input_params == {"b": 2}
    assert payload(turn, "REMOVE_INPUT_PARAM")["removed"] == ["a"]


@pytest.mark.parametrize("value", ["", None, " , ", "a b"])
def test_anything_but_names_is_refused(value: str | None) -> None:
    with pytest.raises(ActionValueError):
        parse(value)
