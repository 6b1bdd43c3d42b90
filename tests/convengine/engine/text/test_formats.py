import time

import pytest

from convengine.engine.text.formats import FORMATS


@pytest.mark.parametrize(
    ("name", "value", "holds"),
    [
        ("email", "anna.b+x@example.co.uk", True),
        ("email", "a@b", False),
        ("phone", "+49301234567", True),
        ("phone", "call me", False),
        ("phone", "12345", False),
        ("uri", "https://example.org/a?b=1", True),
        ("uri", "not a uri", False),
        ("date-time", "2026-05-31T09:30:00Z", True),
        ("date-time", "2026-05-31t09:30:00.5+02:00", True),
        ("date-time", "2026-05-31", False),
        ("date-time", "2026-13-31T09:30:00Z", False),
        ("date-time", "2026-05-31T09:30:00", False),
        ("date-time", "", False),
    ],
)
def test_a_value_has_a_format_or_not(name: str, value: str, holds: bool) -> None:
    assert FORMATS[name](value) is holds


@pytest.mark.parametrize("text", ["a" * 4000, "a." * 2000 + "@", "1.1." * 1000, "(1)" * 1300, "a@" + "a." * 1900])
def test_no_text_takes_long(text: str) -> None:
    started = time.thread_time()
    for holds in FORMATS.values():
        holds(text)

    assert time.thread_time() - started < 1
