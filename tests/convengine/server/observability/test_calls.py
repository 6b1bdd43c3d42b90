import pytest
import structlog

from convengine.engine.turn.ports import ContainerRequest, LlmAnswer, ToolAnswer
from convengine.engine.turn.recording import Recording
from convengine.server.extensions.ports import Containers
from convengine.server.extensions.registry import Registry, TaskEntry
from convengine.server.extensions.tasks import Tasks
from convengine.server.observability import calls, metrics
from convengine.server.observability.calls import record_model_attempt, record_tool_call
from convengine.server.observability.tracing import OutsideCall, tracing
from tests.builders import make_session
from tests.convengine.server.observability.readings import read


def test_an_attempt_of_a_model_call_is_counted_with_tokens_and_cost() -> None:
    record_model_attempt(LlmAnswer("hi", "test-service", "m", 100, 20, 250, 0.5))
    record_model_attempt(LlmAnswer(provider="test-service", error_code="LLM_TIMEOUT", latency_ms=1000))

    assert read(metrics.MODEL_CALLS, "test-service", "ok", suffix="_total") == 1
    assert read(metrics.MODEL_CALLS, "test-service", "LLM_TIMEOUT", suffix="_total") == 1
    assert read(metrics.MODEL_CALL_SECONDS, "test-service", suffix="_sum") == pytest.approx(1.25)
    assert read(metrics.MODEL_TOKENS, "test-service", "in", suffix="_total") == 100
    assert read(metrics.MODEL_COST, "test-service", suffix="_total") == 0.5


@pytest.mark.parametrize(
    ("group", "error", "label", "outcome"),
    [
        ("FILES", None, "FILES", "ok"),
        ("FILES", "TOOL_TIMEOUT", "FILES", "timeout"),
        ("FILES", "CIRCUIT_OPEN", "FILES", "circuit_open"),
        ("WHATEVER A ROW SAYS", "NO_EXECUTOR", "OTHER", "failed"),
    ],
)
def test_a_tool_call_is_counted_by_group_and_outcome(group: str, error: str | None, label: str, outcome: str) -> None:
    before = read(metrics.TOOL_CALL_SECONDS, label, outcome, suffix="_count")

    record_tool_call("t", group, ToolAnswer(error_type=error), 0.1)

    assert read(metrics.TOOL_CALL_SECONDS, label, outcome, suffix="_count") == before + 1


def test_tasks_and_containers_have_spans(monkeypatch: pytest.MonkeyPatch) -> None:
    noted: list[OutsideCall] = []
    monkeypatch.setattr(tracing, "_tracer", object())
    monkeypatch.setattr(calls, "note_call", noted.append)
    registry = Registry(providers={(None, None, None): lambda request, session: 1 / 0})
    registry.add_task("billing", TaskEntry({"refund": lambda call: 1}))

    Tasks(registry, Recording()).run("billing", "refund", make_session())
    Containers(registry, Recording()).fetch(ContainerRequest(1, 2, 3, {}), make_session())

    assert [(call.name, call.attributes, call.error) for call in noted] == [
        ("task", {"convengine.task": "billing:refund"}, None),
        ("container", {"convengine.container": "1/2/3"}, "ZeroDivisionError"),
    ]


def test_a_failing_model_is_one_warning_for_each_kind_and_minute(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(calls, "_warned", {})
    now = [1000.0]
    monkeypatch.setattr(calls.time, "monotonic", lambda: now[0])

    def log_failures(*codes: str | None) -> list[str]:
        with structlog.testing.capture_logs() as logs:
            for code in codes:
                record_model_attempt(LlmAnswer(provider="desk", error_code=code, error_message="late"))
        return [f"{line['log_level']} {line['connection']} {line['error']}" for line in logs]

    assert log_failures("LLM_TIMEOUT", "LLM_TIMEOUT", None, "LLM_CIRCUIT_OPEN") == ["warning desk LLM_TIMEOUT"]
    assert log_failures("LLM_CALL_FAILED", "LLM_TIMEOUT") == ["warning desk LLM_CALL_FAILED"]
    now[0] += 60
    assert log_failures("LLM_TIMEOUT", "LLM_TIMEOUT") == ["warning desk LLM_TIMEOUT"]
