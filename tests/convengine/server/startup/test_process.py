from pathlib import Path

import pytest
from structlog.testing import capture_logs

from convengine.server import wiring
from convengine.server.executors.http_client import circuits
from convengine.server.model_clients.connections import read_connections
from convengine.server.observability import metrics
from convengine.server.observability.folder import VARIABLE
from convengine.server.observability.sampler import sampler
from convengine.server.resilience import waiting
from convengine.server.startup.process import WaitingSample, sample_circuits, show_zeros, start_metrics
from tests.convengine.server.observability.readings import read


def test_what_this_deployment_may_do_is_shown_with_zero(monkeypatch: pytest.MonkeyPatch) -> None:
    connections = read_connections({"a-service": {"base_url": "http://127.0.0.1:1/v1", "models": ["m"]}})
    monkeypatch.setattr(wiring, "models", lambda: connections)

    show_zeros()

    from prometheus_client import REGISTRY

    labels = {"connection": "a-service", "outcome": "ok"}
    assert REGISTRY.get_sample_value("convengine_model_calls_total", labels) == 0
    assert REGISTRY.get_sample_value("convengine_requests_refused_total", {"code": "SERVER_OVERLOADED"}) is not None
    assert REGISTRY.get_sample_value("convengine_job_seconds_count", {"job": "old_turns", "outcome": "ok"}) is not None


def test_a_process_starts_without_the_folder_of_its_numbers(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(VARIABLE, str(tmp_path / "gone"))
    monkeypatch.setattr(sampler, "start", lambda: None)
    monkeypatch.setattr(sampler, "add", lambda sample: None)

    with capture_logs() as logged:
        start_metrics()

    assert [entry["event"] for entry in logged] == ["metrics of ended processes not added up"]


def test_waiting_slots_are_sampled_with_the_refusals_since_the_last_sample(monkeypatch: pytest.MonkeyPatch) -> None:
    sample = WaitingSample()
    sample()
    before = read(metrics.WAITS_REFUSED, "tools", suffix="_total")
    monkeypatch.setattr(waiting.for_tools, "_refused", waiting.for_tools._refused + 3)

    with waiting.for_tools.hold():
        sample()

    assert read(metrics.WAITING_SLOTS, "tools", "used") == 1
    assert read(metrics.WAITS_REFUSED, "tools", suffix="_total") == before + 3
    assert read(metrics.WAITING_SLOTS, "models", "limit") > 0


def test_an_open_breaker_is_one() -> None:
    circuit = circuits.of("test-breaker")
    with circuit.call(1, 60_000) as attempt:
        attempt.failed = True

    sample_circuits()

    assert read(metrics.BREAKERS_OPEN, "tool", "test-breaker") == 1
    circuits._all.pop("test-breaker")
