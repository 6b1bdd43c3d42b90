"""Two values of one kind in a message: ranges, alternatives, and answers for two fields."""

from datetime import UTC, datetime

import pytest

from convengine.engine.turn.finder_port import FoundSpan
from convengine.engine.understanding.field import field_spec
from convengine.engine.understanding.finders import FoundSpanFinder
from convengine.engine.understanding.grammar import GrammarPhrase
from convengine.engine.understanding.kinds.pairs import PAIR, resolve
from convengine.engine.understanding.span import Situation, Sort, Span
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
        ("3-7 December", "arrival"),
        ("3-7 Dec", "town"),
        ("between the 3rd and the 7th of December", "arrival"),
    ],
)
def test_two_days_are_for_two_fields(text: str, asked_path: str) -> None:
    assert read(text, STAY, asked_path) == {"arrival": "2026-12-03", "departure": "2026-12-07"}


@pytest.mark.parametrize(
    ("text", "departure"),
    [
        ("friday to sunday", "2026-11-29"),
        ("from the 24th May until 9th", "2027-06-09"),
        ("16th to 27th", "2026-12-27"),
        ("from the 28th to 2 December", "2026-12-02"),
        ("from the 28th to 2 December, 1 adult", "2026-12-02"),
    ],
)
def test_the_last_of_two_days_follows_the_first(text: str, departure: str) -> None:
    assert read(text, STAY, "arrival")["departure"] == departure


def test_german_days_with_full_stops_are_a_range() -> None:
    assert read("vom 28. bis 2. Dezember", STAY, "arrival", "de-DE") == {
        "arrival": "2026-11-28",
        "departure": "2026-12-02",
    }
    assert read("27.-29.11.", STAY, "arrival", "de-DE") == {"arrival": "2026-11-27", "departure": "2026-11-29"}


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
        ("2.5 or 3 hours", "stay"),
        ("2-3 weeks", "stay"),
        ("1 or 1.5 hours", "stay"),
        ("tomorrow or later", "day"),
        ("28 for 96", "day"),
        ("25 08 19 57", "day"),
        ("saturday or the week after", "day"),
        ("3 or whenever", "time"),
        ("a week or two", "stay"),
    ],
)
def test_one_of_two_values_is_not_taken_for_one_field(text: str, asked_path: str) -> None:
    assert read(text, ONE, asked_path) == {}


def test_a_value_that_takes_another_back_is_for_the_same_field() -> None:
    taken: dict[str, Json] = read("the 3rd, no, the 7th of December", STAY, "arrival")

    assert taken == {"arrival": "2026-12-07"}


def test_a_pair_of_values_that_a_finder_of_the_deployment_gives_need_be_no_days() -> None:
    situation = Situation(datetime(2026, 11, 27, 10, tzinfo=UTC))
    spec = field_spec("day", {"x-kind": "date"})
    found = [FoundSpan(0, 5, "soon"), FoundSpan(9, 14, "later")]
    finder = FoundSpanFinder(Sort.DAY, {"date": found}, None)
    halves = tuple(Span(Sort.DAY, at, at + 1, GrammarPhrase("date", {"found": item})) for at, item in enumerate(found))
    pair = Span(Sort.DAY, 0, 2, GrammarPhrase(PAIR, {"halves": halves}))
    resolved = resolve(finder, pair, spec, situation, is_meant=True)
    assert resolved is not None
    assert resolved.values == ("soon", "later")
