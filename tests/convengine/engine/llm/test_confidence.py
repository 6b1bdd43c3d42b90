from typing import Any

import pytest

from convengine.engine.llm.reply import read_confidence


@pytest.mark.parametrize(
    ("raw", "read"),
    [(0.4, 0.4), (1, 1.0), (1.7, 1.0), (-3, 0.0), ("0.55", 0.55), (" 1 ", 1.0), ("1e400", 1.0)]
    + [(raw, None) for raw in ("high", "", "nan", float("nan"), None, True, [0.4], {"value": 1}, 10**400)],
)
def test_a_confidence_is_a_number_from_0_to_1_or_nothing(raw: Any, read: float | None) -> None:
    assert read_confidence(raw) == read
