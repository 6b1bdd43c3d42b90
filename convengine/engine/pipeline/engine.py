"""Run the steps in order until one stops, one raises, or the list ends."""

import uuid
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from operator import attrgetter, itemgetter
from typing import Any

from convengine.engine.errors import (
    ConvEngineError,
    PipelineNoFinalResult,
    PipelineStepFailed,
    TurnInterrupted,
    TurnTimeout,
)
from convengine.engine.pipeline.hooks import Hooks
from convengine.engine.pipeline.stages import (
    ENGINE_KNOWN_FAILURE,
    ENGINE_UNKNOWN_FAILURE,
    PIPELINE_TIMING,
    STEP_ENTER,
    STEP_ERROR,
    STEP_EXIT,
)
from convengine.engine.pipeline.step import Continue, Outcome, Step, Stop
from convengine.engine.text.compare import compose
from convengine.engine.turn.enums import ConversationStatus
from convengine.engine.turn.local_time import get_local_time
from convengine.engine.turn.session import FIELDS, FinalResult, Right, Session, StepTiming
from convengine.engine.turn.turn import Turn

_USUAL = Continue.__name__
_KINDS = frozenset({_USUAL, Stop.__name__})


@dataclass(frozen=True)
class EngineOutcome:
    """How a turn ended: with a result, or with an error and the last session."""

    session: Session
    result: FinalResult | None = None
    #: True when a step stopped the turn.
    stopped: bool = False
    error: ConvEngineError | None = None

    @classmethod
    def of_failure(cls, session: Session, turn: Turn, error: ConvEngineError) -> "EngineOutcome":
        """A turn that failed belongs to the session in which it began: one that it created is discarded."""
        began = session.evolve(conversation_id=turn.request.conversation_id, turn_no=turn.turn_no)
        return cls(began, error=error)

    @property
    def is_blocked(self) -> bool:
        """True when the turn stopped and left the conversation blocked."""
        return self.stopped and self.session.status == ConversationStatus.BLOCKED


class InternalError(ConvEngineError):
    """An unexpected error occurred. The server log has the details under the incident ID."""

    code = "INTERNAL_ERROR"


class _StepPayloads:
    """The name of a step, and the constant payloads of its start and normal end."""

    def __init__(self, step: Step) -> None:
        self.step = step.name
        self.entered = {"step": step.name, "stepClass": f"{type(step).__module__}.{step.name}"}
        self.left = {**self.entered, "outcome": _USUAL, "durationMs": 0}


class _Untouched:
    """The fields that a step may not change after it used some of its rights."""

    def __init__(self, step: Step, used: Sequence[Right]) -> None:
        allowed = step.writes.union(*(right.fields for right in used))
        self._names = sorted(name for name in FIELDS if name not in allowed)
        self._read: Callable[[Mapping[str, Any]], Any] = itemgetter(*self._names) if self._names else lambda values: ()

    def list_changed(self, old: Mapping[str, Any], new: Mapping[str, Any]) -> list[str]:
        if self._read(old) == self._read(new):
            return []
        return [name for name in self._names if old[name] != new[name]]


class Engine:
    """The pipeline: steps in order and the hooks around them."""

    def __init__(self, steps: Sequence[Step], hooks: Hooks | None = None) -> None:
        self.steps = tuple(steps)
        self._names = {step: _StepPayloads(step) for step in self.steps}
        self._may_idle = {step for step in self.steps if type(step).find_idle_reason is not Step.find_idle_reason}
        self._optional = {step for step in self.steps if type(step).active is not Step.active}
        self._untouched: dict[tuple[Step, tuple[Right, ...]], _Untouched] = {}
        self._hooks = hooks or Hooks()

    def run(self, turn: Turn) -> EngineOutcome:
        """Run one turn. Never raises for a fault of a step: the outcome has the error."""
        session = Session(
            turn.request.conversation_id,
            turn.turn_no,
            now=get_local_time(turn),
            user_text=compose(turn.request.message),
            steps=turn.timings,
        )
        limit, events, interrupted = turn.time_limit_ms, turn.trail.events, turn.interrupted
        for step in self.steps:
            if step in self._optional and not step.active(session, turn):
                continue
            try:
                # A step's last event is its end.
                if limit is not None and events and events[-1].at_ms > limit:
                    raise TurnTimeout()
                if interrupted and not turn.uninterruptible and interrupted():
                    raise TurnInterrupted()
                outcome = self._run_step(step, session, turn)
            except Exception as error:
                return self._end_failed_turn(session, turn, error)
            session = outcome.session
            if isinstance(outcome, Stop):
                session = session.evolve(final_result=outcome.result)
                audit_timing(session, turn, "STOPPED")
                return EngineOutcome(session, outcome.result, stopped=True)
        if session.final_result is None:
            return self._end_failed_turn(session, turn, PipelineNoFinalResult())
        return EngineOutcome(session, session.final_result)

    def _run_step(self, step: Step, session: Session, turn: Turn) -> Outcome:
        name, clock, trail = self._names[step], turn.ports.clock, turn.trail
        trail.step = name.step
        try:
            before, started = session, trail.add(session, STEP_ENTER, name.entered).at_ms
            if self._hooks.registered:
                before = self._hooks.before(name.step, session, turn)
                started = clock.elapsed_ms()
            try:
                outcome, idle = self._execute(step, before, turn)
                kind = type(outcome).__name__
                if kind not in _KINDS or outcome.session is not before:
                    self._check_writes(step, before, outcome)
            except Exception as error:
                took = clock.elapsed_ms() - started
                turn.timings.append(StepTiming(name.step, started, took, False, f"{type(error).__name__}: {error}"))
                self._hooks.error(name.step, before, turn, error)
                self._audit_error(before, turn, name, took, error)
                raise
            ended: float | None
            ended = clock.elapsed_ms()
            took = ended - started
            turn.timings.append(StepTiming(name.step, started, took, True, None, kind, idle))
            if self._hooks.registered:
                ended = None
                outcome = outcome._replace(session=self._hooks.after(name.step, outcome.session, turn, outcome))
            usual = took < 1 and kind == _USUAL
            exit_payload = name.left if usual else {**name.entered, "outcome": kind, "durationMs": int(took)}
            trail.add(outcome.session, STEP_EXIT, exit_payload, at_ms=ended)
            return outcome
        finally:
            trail.step = None
            if turn.flush_step:
                turn.flush_step(turn)

    def _execute(self, step: Step, session: Session, turn: Turn) -> tuple[Outcome, str | None]:
        """What the step returns; or, without executing it, the reason why it has nothing to do."""
        idle = step.find_idle_reason(session, turn) if step in self._may_idle else None
        return (Continue(session), idle) if idle else (step.execute(session, turn), None)

    def _check_writes(self, step: Step, before: Session, outcome: Outcome) -> None:
        if not isinstance(outcome, (Continue, Stop)):
            raise PipelineStepFailed(f"{step.name} must return Continue or Stop, not {outcome!r}.")
        after = outcome.session
        if before is after:
            return
        used = tuple(right for right in step.rights if right.is_used(before, after))
        untouched = self._untouched.get((step, used))
        if untouched is None:
            untouched = self._untouched[step, used] = _Untouched(step, used)
        if changed := untouched.list_changed(before.__dict__, after.__dict__):
            raise PipelineStepFailed(f"{step.name} changed {', '.join(changed)} without declaring it.")

    @staticmethod
    def _audit_error(session: Session, turn: Turn, name: _StepPayloads, took: float, error: Exception) -> None:
        meta: dict[str, Any] = {"_errorMeta": error.meta} if isinstance(error, ConvEngineError) and error.meta else {}
        turn.audit(
            session,
            STEP_ERROR,
            **name.entered,
            durationMs=int(took),
            errorType=type(error).__name__,
            errorMessage=str(error),
            **meta,
        )

    @staticmethod
    def _end_failed_turn(session: Session, turn: Turn, error: Exception) -> EngineOutcome:
        if isinstance(error, ConvEngineError):
            meta: dict[str, Any] = {"_errorMeta": error.meta} if error.meta else {}
            turn.audit(
                session,
                ENGINE_KNOWN_FAILURE,
                errorCode=error.code,
                message=error.message,
                recoverable=error.recoverable,
                **meta,
            )
            known = error
        else:
            # The user gets a neutral text. The audit has the details under this id; the answer never has them.
            known = InternalError(incidentId=str(uuid.uuid5(uuid.NAMESPACE_OID, turn.turn_id)))
            known.__cause__ = error
            if turn.on_fault:
                turn.on_fault("STEP", turn.trail.step or "", error)
            turn.audit(
                session,
                ENGINE_UNKNOWN_FAILURE,
                exception=type(error).__name__,
                message=str(error),
                recoverable=False,
                **known.meta,
            )
        audit_timing(session, turn, "FAILED")
        return EngineOutcome.of_failure(session, turn, known)


def audit_timing(session: Session, turn: Turn, status: str) -> None:
    """Write PIPELINE_TIMING. `status` is COMPLETED, STOPPED or FAILED; `wallMs` includes hooks and the last step.

    A step that had nothing to do has the reason in `notNeeded`. `llmMs` is the time of all attempts of all
    model calls, `toolMs` that of tools.
    """
    # Cut start and end to hundredths, not the length, so that the end stays exact.
    steps: list[dict[str, Any]] = [
        {
            "step": step,
            "startedAtMs": (start := int(started * 100)) / 100,
            "durationMs": (int((started + took) * 100) - start) / 100,
            "success": success,
            **({"notNeeded": idle} if idle else {}),
        }
        for step, started, took, success, *_, idle in sorted(turn.timings, key=attrgetter("started_ms"))
    ]
    durations = [int(step["durationMs"]) for step in steps]
    words = [
        f"{step['step']}={duration}ms{'' if step['success'] else '(ERR)'}"
        for step, duration in zip(steps, durations, strict=True)
    ]
    turn.audit(
        session,
        PIPELINE_TIMING,
        totalMs=sum(durations),
        steps=", ".join(words),
        stepList=steps,
        wallMs=round(turn.ports.clock.elapsed_ms(), 2),
        llmMs=sum(call.answer.latency_ms for call in turn.model_calls),
        llmCalls=len(turn.model_calls),
        toolMs=int(turn.tool_ms),
        status=status,
    )
