"""Two values of one kind in a message: ranges, alternatives, and answers for two fields."""

import pytest

from convengine.json_value import Json
from tests.convengine.engine.understanding.test_persons import read

STAY = {"arrival": {"format": "date"}, "departure": {"format": "date"}, "town": {}}
ONE = {"day": {"format": "date"}, "time": {"format": "time"}, "stay": {"format": "duration"}}


@pytest.mark.parametrize(
    ("text", "asked_path"),
    [
        ("from the 3rd to the 7th of December", "arrival"),
        ("from the 3rd to the 7th of December", "departure"),
        ("3 - 7 December", "town"),
        ("I arrive on 3 December and leave on the 7th of December", "departure"),
        ("on 3 December, until the 7th of December", "departure"),
    ],
)
def test_two_days_are_for_two_fields(text: str, asked_path: str) -> None:
    assert read(text, STAY, asked_path) == {"arrival": "2026-12-03", "departure": "2026-12-07"}


def test_the_end_of_a_range_is_for_the_last_field() -> None:
    assert read("until the 7th of December", STAY, "town") == {"departure": "2026-12-07"}


@pytest.mark.parametrize(
    ("text", "asked_path"),
    [
        ("the 3rd to the 7th of December", "day"),
        ("tomorrow or the day after", "day"),
        ("1 - 3 December", "day"),
        ("3 or 4pm", "time"),
        ("2 or 3 hours", "stay"),
        ("a week or two", "stay"),
    ],
)
def test_one_of_two_values_is_not_taken_for_one_field(text: str, asked_path: str) -> None:
    assert read(text, ONE, asked_path) == {}


def test_a_value_that_takes_another_back_is_for_the_same_field() -> None:
    taken: dict[str, Json] = read("the 3rd, no, the 7th of December", STAY, "arrival")

    assert taken == {"arrival": "2026-12-07"}
