"""How sure a model says it is."""

from typing import Any


def confidence_of(value: Any) -> float | None:
    """A number from 0 to 1, also out of a text; what is beyond is cut to the bound. Null for anything else."""
    if isinstance(value, bool) or not isinstance(value, (int, float, str)):
        return None
    try:
        number = float(value)
    except (ValueError, OverflowError):
        return None
    return None if number != number else min(max(number, 0.0), 1.0)
