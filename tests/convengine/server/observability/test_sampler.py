from typing import Any

import pytest
import structlog

from convengine.server.observability import metrics, sampler
from convengine.server.observability.sampler import PoolSample, Sampler, sample_memory
from tests.convengine.server.observability.readings import read


def test_a_process_knows_its_memory() -> None:
    sample_memory()

    from prometheus_client import REGISTRY

    assert (REGISTRY.get_sample_value("convengine_process_memory_bytes") or 0) > 1_000_000


def test_the_pool_shows_its_state_and_what_was_waited_since_the_last_sample(monkeypatch: pytest.MonkeyPatch) -> None:
    stats = {"pool_size": 2, "requests_waiting": 3, "requests_wait_ms": 500, "requests_errors": 1}

    class Pool:
        def get_stats(self) -> dict[str, int]:
            return stats

    class Connection:
        pool = Pool()

    monkeypatch.setattr(sampler, "connections", {"default": Connection()})
    waited = read(metrics.POOL_WAIT_SECONDS, suffix="_total")
    sample = PoolSample()
    sample()
    stats["requests_wait_ms"] = 700
    sample()

    assert (read(metrics.POOL_CONNECTIONS), read(metrics.POOL_WAITING)) == (2, 3)
    assert read(metrics.POOL_WAIT_SECONDS, suffix="_total") - waited == pytest.approx(0.7)


def test_a_sample_that_fails_does_not_stop_the_others() -> None:
    taken: list[Any] = []
    samples = Sampler()
    samples.add(lambda: 1 / 0)  # type: ignore[arg-type,return-value]
    samples.add(lambda: taken.append(1))

    with structlog.testing.capture_logs() as logs:
        samples.take_samples()

    assert taken == [1]
    assert "sample not taken" in [line["event"] for line in logs]
