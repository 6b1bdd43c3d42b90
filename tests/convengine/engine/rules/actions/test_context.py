import pytest

from convengine.engine.rules.actions.contract import ActionFailed, ActionValueError
from tests.builders import make_session, payload
from tests.convengine.engine.rules.actions.run import apply, parse

DEEP = "[" * 100_000


@pytest.mark.parametrize(
    ("value", "context"),
    [
        ("order.priority:high", {"order": {"id": 7, "priority": "high"}}),
        ("order.total:12.50", {"order": {"id": 7, "total": 12.5}}),
        ('address:{"city": "Bern"}', {"order": {"id": 7}, "address": {"city": "Bern"}}),
        ("note:[draft", {"order": {"id": 7}, "note": "[draft"}),
        ('{"order.id": 8, "seen": true}', {"order": {"id": 8}, "seen": True}),
        ("pending_slot:amount", {"order": {"id": 7}, "pending_slot": "amount"}),
        ("note:[NaN]", {"order": {"id": 7}, "note": "[NaN]"}),
        pytest.param(f"note:{DEEP}", {"order": {"id": 7}, "note": DEEP}, id="deep"),
    ],
)
def test_it_writes_the_fields(value: str, context: object) -> None:
    assert apply("SET_CONTEXT", value, make_session(context={"order": {"id": 7}}))[0].context == context


def test_it_tells_the_values() -> None:
    _, turn = apply("SET_CONTEXT", "a.b:1", make_session(intent="LOAN", state="IDLE"))

    event = payload(turn, "SET_CONTEXT")
    assert event["values"] == {"a.b": 1}
    assert event["ruleId"] == 41


def test_a_path_through_something_that_is_no_object_fails() -> None:
    with pytest.raises(ActionFailed, match="order is not an object"):
        apply("SET_CONTEXT", "order.id:1", make_session(context={"order": "A-7"}))


@pytest.mark.parametrize(
    "value", ["", "order", "mcp.finalAnswer:x", '{"intent_lock": null}', "a b:1", '{"a": NaN}', DEEP]
)
def test_anything_else_is_refused(value: str) -> None:
    with pytest.raises(ActionValueError):
        parse("SET_CONTEXT", value)


def test_it_removes_the_fields() -> None:
    before = make_session(context={"order": {"id": 7, "note": "x"}, "pendingSlot": "a", "kept": 1})
    session, turn = apply("CLEAR_CONTEXT", "order.note, pendingSlot, gone", before)

    assert session.context == {"order": {"id": 7}, "kept": 1}
    assert payload(turn, "CLEAR_CONTEXT")["paths"] == ["order.note", "pendingSlot", "gone"]


@pytest.mark.parametrize("value", ["", None, ",", "memory", "a, mcp.observations"])
def test_nothing_and_the_engines_branches_are_refused(value: str | None) -> None:
    with pytest.raises(ActionValueError):
        parse("CLEAR_CONTEXT", value)
