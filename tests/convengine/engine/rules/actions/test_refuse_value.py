import pytest

from convengine.engine.rules.actions.contract import ActionValueError
from convengine.engine.rules.actions.refuse_value import parse
from convengine.engine.turn.session import FieldsRead, RefusedValue
from tests.builders import make_session, payload
from tests.convengine.engine.rules.actions.run import apply


def test_it_removes_the_value_and_notes_the_refusal() -> None:
    read = FieldsRead(("lesson.day", "name"), (RefusedValue("phone", "x", "INVALID_PHONE"),), "lesson.day")
    before = make_session(context={"lesson": {"day": "2026-01-05"}}, fields_read=read, user_text="5 January")

    session, turn = apply("REFUSE_VALUE", "lesson.day: Only from March: see our page.", before)

    text = "Only from March: see our page."
    assert session.context == {"lesson": {}}
    assert session.fields_read == FieldsRead(
        ("name",),
        (*read.refused, RefusedValue("lesson.day", "5 January", "NOT_ALLOWED", {"text": text})),
        "lesson.day",
    )
    assert (payload(turn, "REFUSE_VALUE")["field"], payload(turn, "REFUSE_VALUE")["text"]) == ("lesson.day", text)


@pytest.mark.parametrize("value", ["", None, "day", "day:", "memory: no", "day: on {{ day }} we are closed"])
def test_a_field_and_a_plain_text_are_needed(value: str | None) -> None:
    with pytest.raises(ActionValueError):
        parse(value)
