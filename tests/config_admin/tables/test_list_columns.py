"""Lists call rows by what people read, and show a pattern beside it."""

from typing import Any

import pytest

from config_admin.tables.list_columns import name_pattern, show_pattern
from tests.builders import make_classifier


@pytest.mark.parametrize(
    ("values", "name", "pattern"),
    [
        ({"pattern": r"\border\b", "rule_type": "REGEX"}, "“order”", r"\border\b"),
        ({"pattern": "order", "rule_type": "REGEX", "description": "about orders"}, "about orders", "order"),
        ({"pattern": "where is it", "rule_type": "PHRASE"}, "where is it", ""),
        ({"pattern": r"\s", "rule_type": "REGEX"}, r"\s", ""),
        ({"pattern": "", "rule_type": "REGEX"}, "-", ""),
    ],
)
def test_a_row_is_called_by_its_description_or_its_texts(values: dict[str, Any], name: str, pattern: str) -> None:
    row = make_classifier("LOAN", values.pop("pattern"), **values)

    assert name_pattern(row) == name
    assert show_pattern(row) == pattern
