import contextvars
import threading

import pytest

from convengine.server.extensions.bounded import call_within


def test_what_comes_in_time_is_handed_on() -> None:
    assert call_within(60_000, lambda: 7) == 7


def test_an_error_of_the_call_is_its_error_also_a_time_out_of_its_own() -> None:
    def fails() -> None:
        raise TimeoutError("upstream")

    with pytest.raises(TimeoutError, match="upstream"):
        call_within(60_000, fails)
    with pytest.raises(ZeroDivisionError):
        call_within(60_000, lambda: 1 / 0)


def test_what_takes_longer_is_not_waited_for() -> None:
    gate = threading.Event()
    try:
        with pytest.raises(TimeoutError, match="longer than 20 ms"):
            call_within(20, gate.wait)
    finally:
        gate.set()


def test_the_thread_knows_the_context_and_cleans_up_behind_itself() -> None:
    variable = contextvars.ContextVar("variable", default="")
    variable.set("known")
    done = threading.Event()

    assert call_within(60_000, variable.get, done.set) == "known"
    assert done.wait(60)


def test_code_that_wants_to_end_the_process_has_failed() -> None:
    def ends() -> None:
        raise SystemExit(3)

    with pytest.raises(RuntimeError, match=r"end the process \(SystemExit: 3\)"):
        call_within(60_000, ends)
