"""The days that a date field follows."""

from datetime import UTC, date, datetime

import pytest

from convengine.engine.forms.form import Form
from convengine.engine.forms.message import describe_situation
from convengine.engine.forms.session_form import find_earlier_days
from convengine.engine.forms.single_field import read_value
from convengine.engine.understanding.field import field_spec
from convengine.engine.understanding.span import Situation
from convengine.testing.factories import FrozenClock
from tests.builders import make_config, make_session, make_snapshot, make_turn

FORM = Form(
    {
        "type": "object",
        "properties": {
            "arrival": {"type": "string", "x-kind": "date"},
            "departure": {"type": "string", "x-kind": "date"},
        },
    }
)
TODAY = date(2026, 11, 27)


def test_a_date_field_follows_the_day_of_the_one_before_it() -> None:
    assert find_earlier_days(FORM, {"arrival": "2026-12-05"}, TODAY) == {"departure": date(2026, 12, 5)}


def test_a_held_text_that_is_no_day_is_followed_by_nothing() -> None:
    """A rule or a caller may store any text in a field of kind date."""
    assert find_earlier_days(FORM, {"arrival": "soon"}, TODAY) == {}


def test_a_day_is_past_by_the_calendar_of_the_users() -> None:
    evening = FrozenClock(datetime(2026, 11, 28, 3, tzinfo=UTC))
    turn = make_turn(make_snapshot(make_config("Session/TIME_ZONE", "America/New_York")), clock=evening)

    situation = describe_situation(make_session(context={"arrival": "2026-11-27"}), turn, FORM)

    assert situation.earlier_days == {"departure": TODAY}


@pytest.mark.parametrize(
    ("text", "values"), [("30 November at 6pm", ["2026-11-30T18:00:00-05:00"]), ("30 November at 9pm", [])]
)
def test_a_bound_with_a_time_zone_is_compared_in_that_of_the_users(text: str, values: list[str]) -> None:
    spec = field_spec("start", {"type": "string", "format": "date-time", "x-max": "2026-12-01T00:00:00Z"})
    situation = Situation(datetime(2026, 11, 27, 12, tzinfo=UTC), "America/New_York", "en-GB")

    assert [item.value for item in read_value(text, spec, situation).taken] == values
