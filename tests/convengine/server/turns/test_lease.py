import threading
import time

import pytest

from convengine.server.turns import lease
from convengine.server.turns.lease import LeaseRenewer


@pytest.fixture
def renewed(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    calls: list[str] = []
    monkeypatch.setattr(lease, "lease_seconds", lambda: 0.15)
    monkeypatch.setattr(lease, "renew_lease", lambda token: calls.append(token) or True)
    return calls


def wait_for(condition: object, limit: float = 3.0) -> None:
    deadline = time.monotonic() + limit
    while not condition() and time.monotonic() < deadline:  # type: ignore[operator]
        time.sleep(0.01)


def test_a_turn_that_lasts_has_its_lease_renewed_again_and_again(renewed: list[str]) -> None:
    with LeaseRenewer().renewing("t"):
        wait_for(lambda: len(renewed) >= 2)

    assert renewed[:2] == ["t", "t"]


def test_a_turn_that_is_over_is_left_alone(renewed: list[str]) -> None:
    renewer = LeaseRenewer()
    with renewer.renewing("t"):
        pass
    time.sleep(0.2)

    assert renewed == []


def test_one_thread_serves_all_turns_of_the_process(renewed: list[str]) -> None:
    renewer = LeaseRenewer()
    before = threading.active_count()

    with renewer.renewing("a"), renewer.renewing("b"):
        wait_for(lambda: {"a", "b"} <= set(renewed))
        assert threading.active_count() == before + 1

    assert {"a", "b"} <= set(renewed)
