import threading

import pytest

from convengine.server.extensions.bounded import call_within
from convengine.server.resilience.time_left import clip_seconds, limit_waits


def test_without_a_turn_a_call_has_its_own_limit() -> None:
    assert clip_seconds(20) == 20


def test_a_call_gets_what_the_turn_has_left_but_for_a_second() -> None:
    with limit_waits(11):
        assert 9.9 < clip_seconds(20) <= 10
        assert clip_seconds(3) == 3
    assert clip_seconds(20) == 20


def test_a_turn_whose_time_is_over_waits_for_nothing() -> None:
    with limit_waits(0):
        assert clip_seconds(20) == 0.001


def test_registered_code_ends_with_the_turn() -> None:
    over = threading.Event()
    with limit_waits(0.2), pytest.raises(TimeoutError):
        call_within(20_000, lambda: over.wait(10))

    over.set()
