"""A day that has passed since it was given is confirmed no more."""

from datetime import UTC, datetime

import pytest

from convengine.engine.forms.form import get_form
from convengine.engine.forms.outdated import list_outdated
from convengine.json_value import Json
from convengine.testing.factories import FrozenClock
from tests.builders import make_intent, make_schema, make_session, make_snapshot, make_turn


@pytest.mark.parametrize(
    ("declared", "value", "is_outdated"),
    [
        ({"format": "date", "x-min": "today"}, "2026-11-26", True),
        ({"format": "date", "x-min": "today"}, "2026-11-27", False),
        ({"format": "date", "x-min": "today+1d"}, "2026-11-27", True),
        ({"format": "date-time", "x-min": "now"}, "2026-11-26T10:00:00Z", True),
        ({"format": "date", "x-min": "2030-01-01"}, "2026-11-26", False),
        ({"format": "date"}, "2026-11-26", False),
    ],
)
def test_a_day_before_what_its_field_allows_now_is_outdated(
    declared: dict[str, Json], value: str, is_outdated: bool
) -> None:
    schema = make_schema("VISIT", {"day": {"type": "string", **declared}}, state_code="COLLECT", schema_id=5)
    snapshot = make_snapshot(make_intent("VISIT"), schema)
    turn = make_turn(snapshot, text="yes", clock=FrozenClock(datetime(2026, 11, 27, 9, tzinfo=UTC)))
    session = make_session(user_text="yes", intent="VISIT", state="COLLECT", context={"day": value})

    assert bool(list_outdated(session, turn, get_form(snapshot, schema))) is is_outdated
