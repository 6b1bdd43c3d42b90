import pytest

from convengine.engine.rules.actions.clear_context import parse
from convengine.engine.rules.actions.contract import ActionValueError
from tests.builders import make_session, payload
from tests.convengine.engine.rules.actions.run import apply


def test_it_removes_the_fields() -> None:
    before = make_session(context={"order": {"id": 7, "note": "x"}, "pendingSlot": "a", "kept": 1})
    session, turn = apply("CLEAR_CONTEXT", "order.note, pendingSlot, gone", before)

    assert session.context == {"order": {"id": 7}, "kept": 1}
    assert payload(turn, "CLEAR_CONTEXT")["paths"] == ["order.note", "pendingSlot", "gone"]


@pytest.mark.parametrize("value", ["", None, ",", "memory", "a, mcp.observations"])
def test_nothing_and_the_engines_branches_are_refused(value: str | None) -> None:
    with pytest.raises(ActionValueError):
        parse(value)
