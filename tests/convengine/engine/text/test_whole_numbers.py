import pytest

from convengine.engine.text.whole_numbers import BIG_INTEGER, INTEGER, parse_whole_number


@pytest.mark.parametrize(
    ("text", "number"),
    [
        *(("0", 0), ("007", 7), (str(BIG_INTEGER), BIG_INTEGER), (str(BIG_INTEGER + 1), None)),
        *(("", None), ("-1", None), ("1.0", None), ("٣", None), ("²", None), ("9" * 5000, None)),
    ],
)
def test_a_whole_number_is_read_if_a_column_holds_it(text: str, number: int | None) -> None:
    assert parse_whole_number(text) == number


def test_a_smaller_column_holds_smaller_numbers() -> None:
    assert parse_whole_number(str(INTEGER), INTEGER) == INTEGER
    assert parse_whole_number(str(INTEGER + 1), INTEGER) is None
