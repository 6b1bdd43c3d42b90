import pytest

from convengine.engine.text.numbers import number_at, read_number, to_json_number


@pytest.mark.parametrize(
    ("text", "integer", "number"),
    [
        ("350000", 350000, 350000),
        ("350,000", 350000, 350000),
        ("1,200.50", None, 1200.5),
        ("35 000", 35000, 35000),
        ("1'000", 1000, 1000),
        ("1.234.567", 1234567, 1234567),
        ("1.234,50", None, 1234.5),
        ("3.5", None, 3.5),
        ("3.0", 3, 3),
        ("0.125", None, 0.125),
        ("1.125", None, 1.125),
        ("35.000", None, None),
        ("350k", 350000, 350000),
        ("1.5 million", 1500000, 1500000),
        ("2 lakh", 200000, 200000),
        ("$5", 5, 5),
        ("5 EUR", 5, 5),
        ("rs. 500", 500, 500),
        ("-5", -5, -5),
        ("−5", -5, -5),
        ("$-5", -5, -5),
    ],
)
def test_a_number_as_people_write_it(text: str, integer: int | None, number: float | None) -> None:
    parsed = read_number(text)

    assert parsed is not None
    assert (to_json_number(parsed, "integer"), to_json_number(parsed, "number")) == (integer, number)


@pytest.mark.parametrize("text", ["", "x", "1,00", "1,2345", "1,200,50", "5x", "5 bananas", "1e5", "9" * 16, "--5"])
def test_what_is_no_number(text: str) -> None:
    assert read_number(text) is None


def test_a_number_inside_a_text_has_its_place_with_and_without_currency() -> None:
    parsed = number_at("pay $1,200 usd now", 4)

    assert parsed is not None
    assert (parsed.start, parsed.end, parsed.core, parsed.money) == (4, 14, (5, 10), True)
