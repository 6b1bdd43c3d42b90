"""Observe turns from inside the process: a listener that gets each event with its session."""

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field
from typing import Any

from convengine.engine.turn.codec import to_plain
from convengine.engine.turn.trail import AuditEvent

_NOT_REGISTERED = "NOT_REGISTERED"


@dataclass
class TurnObserver:
    """What was seen of the current turn."""

    last: AuditEvent | None = None
    #: Tasks that a turn called and nobody registered.
    missing_tasks: list[str] = field(default_factory=list)

    def begin(self) -> None:
        """A turn begins: forget earlier events."""
        self.last = None
        self.missing_tasks.clear()

    def record_event(self, event: AuditEvent) -> None:
        """Take note of an event, even if the audit filters it."""
        self.last = event
        told = event.payload
        if _NOT_REGISTERED in (told.get("errorCode"), told.get("errorType")):
            self.missing_tasks.append(str(told.get("errorMessage") or told.get("reasonText")))

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
