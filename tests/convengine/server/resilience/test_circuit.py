import threading
from collections.abc import Sequence

import pytest
import structlog

from convengine.server.resilience.circuit import Circuit, CircuitOpen, Circuits


def call(circuit: Circuit, *outcomes: bool | None) -> None:
    for failed in outcomes:
        with circuit.call(3, 1000) as attempt:
            attempt.failed = failed


def states(outcomes: Sequence[bool | None]) -> str:
    circuit = Circuit(lambda: 0.0)
    call(circuit, *outcomes)
    return circuit.state


def test_failures_in_a_row_open_it() -> None:
    assert states([True, True]) == "CLOSED"
    assert states([True, True, True]) == "OPEN"
    assert states([True, True, False, True]) == "CLOSED"


def test_calls_that_say_nothing_about_the_other_side_do_not_count() -> None:
    assert states([True, True, None, None]) == "CLOSED"
    assert states([True, True, None, True]) == "OPEN"


def test_exactly_one_call_tries_when_its_time_is_over() -> None:
    now = [0.0]
    circuit = Circuit(lambda: now[0])
    call(circuit, True, True, True)
    with pytest.raises(CircuitOpen, match="for 1 s more"):
        call(circuit, False)
    now[0] = 0.75
    with pytest.raises(CircuitOpen, match="for 1 s more"):
        call(circuit, False)
    now[0] = 1.5
    entered, refused = threading.Barrier(9), []

    def attempt() -> None:
        entered.wait()
        try:
            with circuit.call(3, 1000) as outcome:
                entered.wait()
                outcome.failed = False
        except CircuitOpen:
            refused.append(1)
            entered.wait()

    threads = [threading.Thread(target=attempt) for _ in range(9)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()

    assert len(refused) == 8
    assert circuit.state == "CLOSED"


def test_a_probe_that_fails_opens_it_again() -> None:
    now = [0.0]
    circuit = Circuit(lambda: now[0])
    call(circuit, True, True, True)
    now[0] = 1.5
    call(circuit, True)

    assert circuit.state == "OPEN"


def test_an_exception_ends_a_probe_and_decides_nothing() -> None:
    now = [0.0]
    circuit = Circuit(lambda: now[0])
    call(circuit, True, True, True)
    now[0] = 1.5
    with pytest.raises(ValueError, match="ours"), circuit.call(3, 1000):
        raise ValueError("ours")

    assert circuit.state == "HALF_OPEN"
    call(circuit, False)
    assert circuit.state == "CLOSED"


def test_states_are_known_by_name() -> None:
    circuits = Circuits()
    call(circuits.of("desk"), True, True, True)

    assert circuits.states() == {"desk": "OPEN"}


def test_it_logs_once_that_it_opens_and_once_that_it_closes() -> None:
    now = [0.0]
    circuit = Circuit(lambda: now[0], "desk")

    with structlog.testing.capture_logs() as logs:
        call(circuit, True, True, True)
        for failed in (True, False, False):
            now[0] += 2
            call(circuit, failed)

    assert [(line["event"], line["name"], line["log_level"]) for line in logs] == [
        ("circuit opened", "desk", "warning"),
        ("circuit closed", "desk", "warning"),
    ]
