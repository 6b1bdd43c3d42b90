import threading
import time

import pytest

from convengine.server.probes import bounded
from convengine.server.probes.bounded import BoundedCheck


@pytest.fixture(autouse=True)
def keep_results_fresh(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(bounded, "_FRESH", 60.0)


def test_while_one_run_hangs_no_second_one_starts() -> None:
    go_on, started = threading.Event(), list[int]()

    def hang() -> str:
        started.append(1)
        go_on.wait(60)
        return "done"

    check = BoundedCheck("hangs", hang)
    for _ in range(3):
        with pytest.raises(TimeoutError):
            check.start().result(0.01)
    go_on.set()

    assert check.start().result(60) == "done"
    assert started == [1]


def test_a_fresh_result_is_given_again_and_an_old_one_is_not(monkeypatch: pytest.MonkeyPatch) -> None:
    runs = list[int]()
    check = BoundedCheck("counts", lambda: runs.append(1))
    check.start().result(60)
    check.start().result(60)
    assert len(runs) == 1

    monkeypatch.setattr(bounded, "_FRESH", 0.0)
    time.sleep(0.01)
    check.start().result(60)
    assert len(runs) == 2


def test_a_failure_is_the_result() -> None:
    check = BoundedCheck("fails", lambda: 1 / 0)

    with pytest.raises(ZeroDivisionError):
        check.start().result(60)
