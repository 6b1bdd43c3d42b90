"""Traces over OTLP, if the environment names an endpoint (the extra `otel`).

A turn is a span, which continues the caller's trace. Its steps and calls become spans when it has ended, from times
that are measured in any case: so the engine knows nothing of traces, and a turn without them pays nothing.
"""

import os
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field
from typing import Any

import structlog

from convengine import __version__
from convengine.engine.turn.turn import Turn
from convengine.server.deployment.request_id import current_request_id

log = structlog.get_logger(__name__)
#: The standard variables; the exporter itself reads these and others, such as OTEL_EXPORTER_OTLP_HEADERS.
ENDPOINTS = ("OTEL_EXPORTER_OTLP_ENDPOINT", "OTEL_EXPORTER_OTLP_TRACES_ENDPOINT")
Attributes = Mapping[str, str | int | float | bool]


@dataclass(frozen=True)
class OutsideCall:
    """A call of a turn to a model, a tool or an MCP server, which has ended."""

    name: str
    seconds: float
    attributes: Attributes
    error: str | None = None
    ended_ns: int = field(default_factory=time.time_ns)


_calls: ContextVar[list[OutsideCall] | None] = ContextVar("outside_calls", default=None)


class Tracing:
    """The traces of this process; off until `start` finds an endpoint."""

    def __init__(self) -> None:
        self._tracer: Any = None

    @property
    def is_on(self) -> bool:
        return self._tracer is not None

    def start(self) -> None:
        """Begin to export, after the process has started: the exporter's thread does not survive a fork."""
        if self.is_on or not is_wanted(os.environ):
            return
        try:
            from opentelemetry import trace
            from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter
            from opentelemetry.sdk.resources import Resource
            from opentelemetry.sdk.trace import TracerProvider
            from opentelemetry.sdk.trace.export import BatchSpanProcessor
        except ImportError:
            log.error("no traces: install the extra otel (pip install 'convengine[otel]')")
            return
        name = os.environ.get("OTEL_SERVICE_NAME", "convengine")
        resource = Resource.create({"service.name": name, "service.version": __version__, "process.pid": os.getpid()})
        provider = TracerProvider(resource=resource)
        provider.add_span_processor(BatchSpanProcessor(OTLPSpanExporter()))
        # Spans of extensions and libraries join the trace.
        trace.set_tracer_provider(provider)
        self._tracer = provider.get_tracer("convengine", __version__)

    @contextmanager
    def continue_trace(self, headers: Mapping[str, str]) -> Iterator[None]:
        """While inside, spans belong to the trace that a caller names in `traceparent`."""
        if not self.is_on:
            yield
            return
        from opentelemetry import context
        from opentelemetry.trace.propagation.tracecontext import TraceContextTextMapPropagator

        carrier = {name: value for name in ("traceparent", "tracestate") if (value := headers.get(name))}
        token = context.attach(TraceContextTextMapPropagator().extract(carrier))
        try:
            yield
        finally:
            context.detach(token)

    @contextmanager
    def trace_turn(self) -> "Iterator[TurnSpan | None]":
        """Around a turn; None without traces."""
        if not self.is_on:
            yield None
            return
        from opentelemetry.trace import SpanKind

        token = _calls.set([])
        try:
            # The status is set from the turn's outcome.
            with self._tracer.start_as_current_span(
                "turn", kind=SpanKind.SERVER, record_exception=False, set_status_on_exception=False
            ) as span:
                yield TurnSpan(self._tracer, span)
        finally:
            _calls.reset(token)


class TurnSpan:
    def __init__(self, tracer: Any, span: Any) -> None:
        self._tracer, self._span = tracer, span

    @property
    def trace_id(self) -> str:
        return f"{self._span.get_span_context().trace_id:032x}"

    def end(self, fields: Mapping[str, object], turn: Turn | None) -> None:
        """Add what is known at the end: the fields of the turn's line in the log, and the spans inside."""
        if not self._span.is_recording():
            return
        fields = {**fields, "request_id": current_request_id()}
        self._span.set_attributes({f"convengine.{name}": value for name, value in fields.items() if value is not None})
        if "error" in fields:
            self._span.set_status(_error_status(str(fields["error"])))
        if turn:
            self._add_steps_and_calls(turn, _calls.get() or ())

    def _add_steps_and_calls(self, turn: Turn, calls: Sequence[OutsideCall]) -> None:
        zero = time.time_ns() - int(turn.ports.clock.elapsed_ms() * 1e6)
        steps: list[tuple[int, int, Any]] = []
        for timing in turn.timings:
            started = zero + int(timing.started_ms * 1e6)
            ended = started + int(timing.duration_ms * 1e6)
            error = None if timing.success else "step failed"
            span = self._add(timing.step, started, ended, {"convengine.step": timing.step}, error, self._span)
            steps.append((started, ended, span))
        for call in calls:
            started = call.ended_ns - int(call.seconds * 1e9)
            # The clocks of steps and calls differ by microseconds.
            middle = (started + call.ended_ns) // 2
            step = next((span for began, ended, span in steps if began <= middle <= ended), self._span)
            self._add(call.name, started, call.ended_ns, call.attributes, call.error, step, is_client=True)

    def _add(
        self,
        name: str,
        started: int,
        ended: int,
        attributes: Attributes,
        error: str | None,
        parent: Any,
        *,
        is_client: bool = False,
    ) -> Any:
        from opentelemetry.trace import SpanKind, set_span_in_context

        kind = SpanKind.CLIENT if is_client else SpanKind.INTERNAL
        context = set_span_in_context(parent)
        span = self._tracer.start_span(name, context, kind=kind, attributes=attributes, start_time=started)
        if error:
            span.set_status(_error_status(error))
        span.end(ended)
        return span


def is_wanted(environment: Mapping[str, str]) -> bool:
    """Whether the environment names an endpoint, and does not switch traces off."""
    is_off = environment.get("OTEL_SDK_DISABLED", "").lower() == "true"
    return any(environment.get(name) for name in ENDPOINTS) and not is_off


def note_call(call: OutsideCall) -> None:
    """Note a call of the running turn, if that is traced."""
    calls = _calls.get()
    if calls is not None:
        calls.append(call)


def _error_status(text: str) -> Any:
    from opentelemetry.trace import Status, StatusCode

    return Status(StatusCode.ERROR, text)


tracing = Tracing()
