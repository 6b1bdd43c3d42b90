"""What the fields of a form held when a form was done in the conversation (R113)."""

from typing import Any

from convengine.engine.forms.form import get_form
from convengine.engine.forms.former_values import find_former_values
from convengine.engine.forms.life import ClearCause, clear_form
from convengine.engine.turn.rows import OutputSchema
from tests.builders import make_schema, make_session, make_snapshot, make_turn

CLEAR = {"x-clear": ["DONE", "CANCEL", "RESTART"]}
LOCK_FIELDS = {
    "when": {"type": "string", "format": "date-time", "title": "When"},
    "customer": {"type": "string", "title": "Name"},
    "phone": {"type": "string", "format": "phone", "title": "Phone"},
    "address": {"type": "string", "title": "Address"},
}
LOCK = make_schema("LOCK", LOCK_FIELDS, schema_id=1)
LOCK.json_schema.update(CLEAR)
KEYS = make_schema(
    "KEYS",
    {
        "pickup": {"type": "string", "format": "date", "title": "Pick-up"},
        "at": {"type": "string", "x-kind": "time", "title": "At"},
        "name": {"type": "string", "title": "Your name"},
        "copies": {"type": "number", "title": "Copies"},
        "number": {"type": "string", "format": "phone", "title": "Number"},
        "label": {"type": "string", "title": "Label"},
    },
    schema_id=2,
)
VALUES = {
    "when": "2026-10-20T09:45:00-05:00", "customer": "Nadia Fox", "phone": "+13125550188", "address": "5 Oak Court",
}  # fmt: skip


def find_after(cause: ClearCause, schema: OutputSchema) -> dict[str, Any]:
    turn = make_turn(make_snapshot(LOCK, KEYS))
    session = clear_form(make_session(intent="LOCK", context=VALUES), turn, LOCK, cause)
    assert "phone" not in session.context
    return find_former_values(session, turn, get_form(turn.snapshot, schema))


def test_the_same_form_knows_its_values_after_it_was_done() -> None:
    assert find_after(ClearCause.DONE, LOCK) == VALUES


def test_another_form_knows_what_is_alike() -> None:
    assert find_after(ClearCause.DONE, KEYS) == {
        "pickup": "2026-10-20",
        "at": "09:45",
        "name": "Nadia Fox",
        "number": "+13125550188",
    }


def test_a_form_that_was_cancelled_leaves_nothing() -> None:
    assert find_after(ClearCause.CANCEL, LOCK) == {}
