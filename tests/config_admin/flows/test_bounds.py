"""Bounds are typed or chosen."""

from typing import Any

import pytest

from config_admin.flows.bounds import OFFERED, BoundInvalid, format_bound, is_in_order, read_bound


@pytest.mark.parametrize(
    ("field_type", "text", "bound"),
    [
        ("date", "Today + 90d", "today+90d"),
        ("date", "2026-12-31", "2026-12-31"),
        ("datetime", "now+2h", "now+2h"),
        ("time", "08:30", "08:30"),
        ("time", "9", "09:00"),
        ("date", "Tomorrow", "today+1d"),
        ("duration", "PT30M", "PT30M"),
        ("number", "8", 8),
        ("money", "0,5", 0.5),
        ("date", " ", ""),
        ("date", "3 months", "today+3m"),
        ("date", "in 3 months", "today+3m"),
        ("date", "2 weeks", "today+2w"),
        ("date", "90 days", "today+90d"),
        ("date", "a month from now", "today+1m"),
        ("date", "in two weeks", "today+2w"),
        ("date", "3 weeks ago", "today-3w"),
        ("date", "yesterday", "today-1d"),
        ("datetime", "in 30 minutes", "now+30min"),
        ("datetime", "6 weeks", "today+6w"),
        ("duration", "45 min", "PT45M"),
        ("duration", "1 day and 12 hours", "P1DT12H"),
    ],
)
def test_bounds_are_read(field_type: str, text: str, bound: Any) -> None:
    assert read_bound(field_type, text) == bound


@pytest.mark.parametrize(
    ("field_type", "text"),
    [("date", "soon"), ("time", "noonish"), ("number", "x"), ("duration", "long"), ("date", "3 months or so")],
)
def test_other_texts_are_refused(field_type: str, text: str) -> None:
    with pytest.raises(BoundInvalid, match=r"is not understood\. Use"):
        read_bound(field_type, text)


def test_all_offered_bounds_are_bounds() -> None:
    for field_type, offered in OFFERED.items():
        for value, _ in offered:
            assert read_bound(field_type, value) == value
            assert read_bound(field_type, format_bound(field_type, value)) == value


@pytest.mark.parametrize(
    ("field_type", "bound", "words"),
    [
        ("date", "today+1d", "tomorrow"),
        ("date", "today+3m", "in 3 months"),
        ("date", "today+1w", "in 1 week"),
        ("date", "today-30d", "30 days ago"),
        ("date", "2026-12-31", "2026-12-31"),
        ("datetime", "now+2h", "in two hours"),
        ("datetime", "now+30min", "in 30 minutes"),
        ("datetime", "today+3h", "today+3h"),
        ("duration", "P1DT12H", "1 day 12 hours"),
        ("duration", "PT30S", "PT30S"),
        ("time", "09:00", "09:00"),
        ("number", 8, 8),
    ],
)
def test_a_stored_bound_comes_back_in_words(field_type: str, bound: Any, words: Any) -> None:
    assert format_bound(field_type, bound) == words
    assert read_bound(field_type, str(words)) == bound


def test_the_first_bound_comes_first() -> None:
    assert is_in_order("date", "today", "today+1d")
    assert not is_in_order("date", "today+1d", "today")
    assert not is_in_order("number", 5, 1)
    assert is_in_order("number", "", 1)
