import pytest

from convengine.engine.text.dates import Unclear, is_date_time, read_date, read_date_time


@pytest.mark.parametrize(
    "text",
    [
        "2026-05-31", "2026/5/31", "2026.05.31", "31.05.2026", "31. 5. 2026", "31/05/2026", "05/31/2026", "31-05-2026",
        "31 May 2026", "31st of May, 2026", "May 31, 2026", "MAY 31ST 2026", "31-May-2026",
    ],
)  # fmt: skip
def test_one_day_in_many_spellings(text: str) -> None:
    assert read_date(text) == "2026-05-31"


@pytest.mark.parametrize(
    ("text", "code"),
    [
        ("03/04/2026", "DATE_AMBIGUOUS"),
        ("2026-02-30", "VALUE_INVALID"),
        ("32.01.2026", "VALUE_INVALID"),
        ("tomorrow", "VALUE_INVALID"),
        ("31 May", "VALUE_INVALID"),
        ("31.05.26", "VALUE_INVALID"),
    ],
)
def test_what_is_no_day_or_could_be_two(text: str, code: str) -> None:
    with pytest.raises(Unclear, match=code):
        read_date(text)


def test_equal_numbers_are_no_doubt() -> None:
    assert read_date("04/04/2026") == "2026-04-04"


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("2026-05-31t09:30:00z", "2026-05-31T09:30:00Z"),
        ("2026-05-31 09:30 +0200", "2026-05-31T09:30:00+02:00"),
        ("31 May 2026 at 9:30 pm utc", "2026-05-31T21:30:00Z"),
        ("31.05.2026 12:15 am gmt", "2026-05-31T00:15:00Z"),
    ],
)
def test_a_moment_with_its_zone(text: str, expected: str) -> None:
    assert read_date_time(text) == expected
    assert is_date_time(expected)


@pytest.mark.parametrize(
    ("text", "code"),
    [
        ("2026-05-31 09:30", "ZONE_MISSING"),
        ("2026-05-31 25:00 utc", "VALUE_INVALID"),
        ("2026-05-31 13:00 pm utc", "VALUE_INVALID"),
        ("2026-05-31", "VALUE_INVALID"),
    ],
)
def test_what_is_no_moment(text: str, code: str) -> None:
    with pytest.raises(Unclear, match=code):
        read_date_time(text)


@pytest.mark.parametrize("text", ["2026-05-31", "2026-13-31T09:30:00Z", "2026-05-31T09:30:00", ""])
def test_what_is_no_date_time_as_the_schema_means_it(text: str) -> None:
    assert not is_date_time(text)
