import os
import subprocess
import sys
from collections.abc import Iterator
from typing import Any

import pytest
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.export import SimpleSpanProcessor
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter

from convengine.engine.errors import TurnInProgress
from convengine.server.observability.tracing import OutsideCall, Tracing, is_wanted, note_call, tracing
from convengine.server.observability.turns import observe_turn
from tests.api import Caller
from tests.fakes.otlp_receiver import attributes_of, receive_spans
from tests.worlds import create_help_desk

TRACE, PARENT = "0af7651916cd43dd8448eb211c80319c", "b7ad6b7169203331"
PROGRAM = """
from convengine.server.observability.tracing import tracing
tracing.start()
tracing.start()
with tracing.continue_trace({"traceparent": "00-%s-%s-01"}), tracing.trace_turn() as span:
    span.end({"outcome": "ok", "turn_no": 3}, None)
"""


@pytest.fixture
def spans(monkeypatch: pytest.MonkeyPatch) -> Iterator[InMemorySpanExporter]:
    exporter = InMemorySpanExporter()
    provider = TracerProvider()
    provider.add_span_processor(SimpleSpanProcessor(exporter))
    monkeypatch.setattr(tracing, "_tracer", provider.get_tracer("test"))
    yield exporter
    provider.shutdown()


@pytest.mark.parametrize(
    ("environment", "expected"),
    [
        ({}, False),
        ({"OTEL_EXPORTER_OTLP_ENDPOINT": "http://x"}, True),
        ({"OTEL_EXPORTER_OTLP_TRACES_ENDPOINT": "http://x"}, True),
        ({"OTEL_EXPORTER_OTLP_ENDPOINT": "http://x", "OTEL_SDK_DISABLED": "true"}, False),
    ],
)
def test_an_endpoint_switches_traces_on(environment: dict[str, str], expected: bool) -> None:
    assert is_wanted(environment) is expected


def test_without_an_endpoint_nothing_is_imported() -> None:
    program = (
        "import sys\nfrom convengine.server.observability.tracing import tracing\ntracing.start()\n"
        "with tracing.continue_trace({}), tracing.trace_turn() as span:\n    assert span is None\n"
        "print([name for name in sys.modules if name.startswith('opentelemetry')])"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)

    assert done.stdout.strip() == "[]"


@pytest.mark.django_db
def test_a_turn_continues_the_trace_of_its_caller_and_has_its_steps(spans: InMemorySpanExporter) -> None:
    create_help_desk()
    caller = Caller()
    caller.say("hours", {"traceparent": f"00-{TRACE}-{PARENT}-01", "X-Request-ID": "shop-17"})

    finished: Any = spans.get_finished_spans()
    (turn,) = [span for span in finished if span.name == "turn"]
    steps = [span for span in finished if "convengine.step" in span.attributes]
    assert (f"{turn.context.trace_id:032x}", f"{turn.parent.span_id:016x}") == (TRACE, PARENT)
    assert turn.attributes["convengine.outcome"] == "ok"
    assert turn.attributes["convengine.request_id"] == "shop-17"
    assert turn.attributes["convengine.conversation_id"] == caller.conversation_id
    assert {"RulesStep", "ResponseResolutionStep"} <= {step.name for step in steps}
    assert {step.parent.span_id for step in steps} == {turn.context.span_id}
    assert all(turn.start_time <= step.start_time <= step.end_time <= turn.end_time for step in steps)
    assert "hours" not in str([dict(span.attributes) for span in finished])


@pytest.mark.django_db
def test_a_call_belongs_to_the_step_that_made_it(spans: InMemorySpanExporter, monkeypatch: pytest.MonkeyPatch) -> None:
    from convengine.engine.steps.memory.step import MemoryStep

    usual = MemoryStep.execute

    def execute(self: Any, session: Any, turn: Any) -> Any:
        import time

        time.sleep(0.02)
        note_call(OutsideCall("model call", 0.01, {"gen_ai.request.model": "m"}, "LLM_TIMEOUT"))
        return usual(self, session, turn)

    monkeypatch.setattr(MemoryStep, "execute", execute)
    create_help_desk()
    Caller().say("hours")

    finished: Any = spans.get_finished_spans()
    (call,) = [span for span in finished if span.name == "model call"]
    (step,) = [span for span in finished if span.name == "MemoryStep"]
    assert call.parent.span_id == step.context.span_id
    assert (call.status.status_code.name, call.status.description) == ("ERROR", "LLM_TIMEOUT")


def test_a_refused_turn_is_an_error(spans: InMemorySpanExporter) -> None:
    with pytest.raises(TurnInProgress), observe_turn("c"):
        raise TurnInProgress()

    (turn,) = spans.get_finished_spans()
    assert (turn.status.status_code.name, turn.status.description) == ("ERROR", "TURN_IN_PROGRESS")


def test_a_call_outside_of_turns_is_not_kept() -> None:
    note_call(OutsideCall("model call", 0.01, {}))

    assert not Tracing().is_on


def test_spans_arrive_at_a_collector_when_the_process_ends() -> None:
    with receive_spans() as collector:
        subprocess.run(
            [sys.executable, "-c", PROGRAM % (TRACE, PARENT)],
            env={**os.environ, "OTEL_EXPORTER_OTLP_ENDPOINT": collector.url, "OTEL_SERVICE_NAME": "desk"},
            check=True,
            timeout=60,
        )
        span = collector.wait_for("turn")

    assert (span.trace_id.hex(), span.parent_span_id.hex()) == (TRACE, PARENT)
    assert attributes_of(span)["convengine.turn_no"] == 3
    assert collector.resources[0]["service.name"] == "desk"
