"""Bounds are typed or chosen."""

from typing import Any

import pytest

from config_admin.flows.bounds import OFFERED, BoundInvalid, is_in_order, read_bound


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
    ],
)
def test_bounds_are_read(field_type: str, text: str, bound: Any) -> None:
    assert read_bound(field_type, text) == bound


@pytest.mark.parametrize(
    ("field_type", "text"), [("date", "soon"), ("time", "noonish"), ("number", "x"), ("duration", "long")]
)
def test_other_texts_are_refused(field_type: str, text: str) -> None:
    with pytest.raises(BoundInvalid, match="is no bound"):
        read_bound(field_type, text)


def test_all_offered_bounds_are_bounds() -> None:
    for field_type, offered in OFFERED.items():
        for value, _ in offered:
            assert read_bound(field_type, value) == value


def test_the_first_bound_comes_first() -> None:
    assert is_in_order("date", "today", "today+1d")
    assert not is_in_order("date", "today+1d", "today")
    assert not is_in_order("number", 5, 1)
    assert is_in_order("number", "", 1)
