"""The days that a date field follows."""

from datetime import date

from convengine.engine.forms.form import Form
from convengine.engine.forms.message import find_earlier_days

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
