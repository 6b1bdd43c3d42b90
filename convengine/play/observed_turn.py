"""What a turn of a scenario left, wherever an expectation may look."""

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field
from typing import Any

from convengine.engine.steps.tools.scripted import Call
from convengine.engine.text.compare import code
from convengine.engine.turn.codec import to_plain
from convengine.engine.turn.trail import AuditEvent

Json = Any


@dataclass(frozen=True)
class Row:
    """An audit event from the audit endpoint."""

    stage: str
    payload: Mapping[str, Json]

    def has_name(self, name: str) -> bool:
        """True when a stage of a scenario means this event: itself, or with its source in brackets."""
        return self.stage == name or self.stage.startswith(f"{name} (")


@dataclass(frozen=True)
class ObservedTurn:
    """One turn, seen from outside and inside."""

    status: int = 200
    #: The body of the answer.
    body: Mapping[str, Json] = field(default_factory=dict)
    #: The session's input params at the end of the pipeline; null when no turn ran.
    input_params: Mapping[str, Json] | None = None
    #: The row of `ce_conversation` by column, or null.
    conversation: Mapping[str, Json] | None = None
    rows: Sequence[Row] = ()
    #: The names of the steps in the trace.
    steps: Sequence[str] = ()
    verbose: Sequence[Mapping[str, Json]] = ()
    #: Purposes of model calls, in the names of scenarios.
    llm_calls: Sequence[str] = ()
    #: (task, method) of task calls.
    task_calls: Sequence[tuple[str, str]] = ()
    tool_calls: Sequence[Call] = ()
    #: Calls that no stub and no line of the script answered.
    unscripted: Sequence[str] = ()

    @property
    def payload(self) -> Mapping[str, Json]:
        """The payload of the answer."""
        return self.body.get("payload") or {}


_NOT_REGISTERED = "NOT_REGISTERED"


@dataclass
class TurnObserver:
    """What was seen of the current turn."""

    last: AuditEvent | None = None
    #: Tasks that a turn called and nobody registered.
    missing_tasks: list[str] = field(default_factory=list)
    #: Where the session stood, (intent, state), in order and without repetitions.
    positions: list[tuple[str, str]] = field(default_factory=list)

    def begin(self) -> None:
        """A turn begins: forget earlier events."""
        self.last = None
        self.missing_tasks.clear()
        self.positions.clear()

    def record_event(self, event: AuditEvent) -> None:
        """Take note of an event, even if the audit filters it."""
        self.last = event
        position = (code(event.session.intent), code(event.session.state))
        if self.positions[-1:] != [position]:
            self.positions.append(position)
        payload = event.payload
        if _NOT_REGISTERED in (payload.get("errorCode"), payload.get("errorType")):
            self.missing_tasks.append(str(payload.get("errorMessage") or payload.get("reasonText")))

    def input_params(self) -> Mapping[str, Any] | None:
        """The input params of the session at the last event; null when no turn ran."""
        return to_plain(self.last.session.input_params) if self.last else None


_observer: ContextVar[TurnObserver | None] = ContextVar("observer", default=None)


@contextmanager
def observing() -> Iterator[TurnObserver]:
    """Observe the turns of this thread. Needs `record_event` among the TRAIL_LISTENERS."""
    observer = TurnObserver()
    token = _observer.set(observer)
    try:
        yield observer
    finally:
        _observer.reset(token)


def record_event(event: AuditEvent) -> None:
    """The listener: passes events to the observer."""
    if observer := _observer.get():
        observer.record_event(event)
