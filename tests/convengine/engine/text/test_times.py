from datetime import UTC, datetime

import pytest

from convengine.engine.text.times import parse_moment


def test_a_time_without_a_zone_is_in_utc() -> None:
    assert parse_moment("2026-01-31T12:00") == datetime(2026, 1, 31, 12, tzinfo=UTC)


@pytest.mark.parametrize("text", ["0001-01-01T00:00:00+14:00", "9999-12-31", "1899-12-31T23:59:59Z"])
def test_the_ends_of_time_are_refused_with_the_years_that_are_known(text: str) -> None:
    with pytest.raises(ValueError, match="Use a time in the years 1900 to 9998"):
        parse_moment(text)


def test_another_text_is_refused_with_an_example() -> None:
    with pytest.raises(ValueError, match="2026-01-31T12:00:00Z"):
        parse_moment("tomorrow")
