"""A turn for its operators: its metrics, its line in the log, its trace. None has a word of the user."""

import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field

import structlog

from convengine.engine.errors import ConvEngineError, TurnInterrupted
from convengine.engine.pipeline.engine import EngineOutcome
from convengine.engine.turn.session import StepTiming
from convengine.engine.turn.turn import Turn
from convengine.server.observability import metrics
from convengine.server.observability.metric import record_later
from convengine.server.observability.tracing import TurnSpan, tracing

log = structlog.get_logger(__name__)


@dataclass
class TurnObservation:
    """What is known of a turn so far."""

    conversation_id: str
    #: None until the turn has its lease.
    turn: Turn | None = None
    outcome: EngineOutcome | None = None
    #: The call was answered before, so no turn ran.
    is_repeated: bool = False
    #: Null without traces.
    span: TurnSpan | None = None
    _began: float = field(default_factory=time.perf_counter)

    def record(self, error: Exception | None) -> None:
        """Record the end of a turn; `error` is what the caller of `take_turn` gets instead of an answer."""
        fault = error or (self.outcome.error if self.outcome else None)
        kind = self._classify(error)
        seconds = time.perf_counter() - self._began
        code = None
        fields: dict[str, object] = {"outcome": kind, "ms": round(seconds * 1000, 1)}
        if fault:
            fields["error"] = code = fault.code if isinstance(fault, ConvEngineError) else type(fault).__name__
        record_later(record_ended_turn, kind, seconds, code, self.turn.timings if self.turn else ())
        session = self.outcome.session if self.outcome else None
        if self.turn:
            fields |= {
                "turn_no": (session or self.turn).turn_no,
                "intent": session and session.intent,
                "state": session and session.state,
                "release": self.turn.snapshot.config_version,
                "model_calls": len(self.turn.model_calls),
                "model_failures": sum(call.answer.error_code is not None for call in self.turn.model_calls),
                "model_ms": sum(call.answer.latency_ms for call in self.turn.model_calls),
            }
        # A turn that began another session belongs to that one.
        fields["conversation_id"] = session.conversation_id if session else self.conversation_id
        if self.span:
            fields["trace_id"] = self.span.trace_id
            self.span.end(fields, self.turn)
        log.info("turn", **fields)

    def _classify(self, error: Exception | None) -> str:
        if self.is_repeated:
            return "replayed"
        if error:
            return "unstored" if self.turn else "refused"
        outcome = self.outcome
        if outcome and outcome.error:
            return "interrupted" if isinstance(outcome.error, TurnInterrupted) else "failed"
        return "blocked" if outcome and outcome.is_blocked else "ok"


@contextmanager
def observe_turn(conversation_id: str) -> Iterator[TurnObservation]:
    """Around `take_turn`, which notes in the observation what it knows."""
    with tracing.trace_turn() as span:
        observation = TurnObservation(conversation_id, span=span)
        try:
            yield observation
        except Exception as error:
            observation.record(error)
            raise
        observation.record(None)


def record_ended_turn(kind: str, seconds: float, error: str | None, timings: Sequence[StepTiming]) -> None:
    metrics.TURN_SECONDS.observe(seconds, kind)
    if error:
        metrics.TURN_ERRORS.add(error)
    for timing in timings:
        metrics.STEP_SECONDS.add(timing.step, amount=timing.duration_ms / 1000)
