import time

import pytest

from convengine.engine.text.dates import Unclear
from convengine.engine.text.formats import FORMATS, is_evident_phone

UUID = "123e4567-e89b-12d3-a456-426614174000"


@pytest.mark.parametrize(
    ("name", "text", "matched"),
    [
        ("email", "mail anna.b+x@example.co.uk.", "anna.b+x@example.co.uk"),
        ("email", "a@b", None),
        ("email", "@example.org", None),
        ("uri", "see https://example.org/a?b=1).", "https://example.org/a?b=1"),
        ("uri", "example.org", None),
        ("uuid", f"id {UUID}!", UUID),
        ("uuid", f"{UUID}0", None),
        ("date", "on 2026-05-31.", "2026-05-31"),
        ("date", "12026-05-311", None),
        ("date", "inv-2026-05-31", None),
        ("phone", "+49 30 1234567 24 hours", "+49 30 1234567"),
        ("phone", "(555) 010-4477", "(555) 010-4477"),
        ("phone", "order-9988776655", None),
        ("phone", "1234567890123456", None),
        ("date-time", "2026-05-31t09:30z", "2026-05-31t09:30z"),
    ],
)
def test_a_format_is_found_where_nothing_longer_is(name: str, text: str, matched: str | None) -> None:
    match = FORMATS[name].pattern.search(text)

    assert (match and match.group()) == matched


def test_a_value_is_kept_in_one_form() -> None:
    assert FORMATS["phone"].read(" +49 (30) 12-34/567 ") == "+49301234567"
    assert FORMATS["date"].read("31.05.2026") == "2026-05-31"
    with pytest.raises(Unclear):
        FORMATS["phone"].read("12345")
    with pytest.raises(Unclear):
        FORMATS["email"].read("anna")


@pytest.mark.parametrize(
    ("name", "value", "holds"),
    [
        ("email", "a@example.org", True),
        ("email", "a@b", False),
        ("date", "2026-05-31", True),
        ("date", "31.05.2026", False),
        ("phone", "+49301234567", True),
        ("phone", "call me", False),
        ("uri", "https://example.org", True),
        ("uri", "not a uri", False),
        ("date-time", "2026-05-31T09:30:00Z", True),
    ],
)
def test_a_value_has_a_format_or_not(name: str, value: str, holds: bool) -> None:
    assert FORMATS[name].holds(value) is holds


def test_a_phone_number_tells_by_itself_or_not() -> None:
    assert is_evident_phone("+49 301234")
    assert is_evident_phone("9988776655")
    assert not is_evident_phone("1234567")


@pytest.mark.parametrize(
    "text", ["a" * 4000, "1 " * 2000, "a." * 2000 + "@", "1.1." * 1000, "(1)" * 1300, "a@" + "a." * 1900]
)
def test_no_message_takes_long(text: str) -> None:
    started = time.thread_time()
    for known in FORMATS.values():
        list(known.pattern.finditer(text))

    assert time.thread_time() - started < 1
