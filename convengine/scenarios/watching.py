"""Looking at turns from inside the process: a listener on the trail, which sees each event with its session."""

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field
from typing import Any

from convengine.codec import plain
from convengine.domain.trail import AuditEvent

_NOT_REGISTERED = "NOT_REGISTERED"


@dataclass
class Watch:
    """What was seen of the turn that runs."""

    last: AuditEvent | None = None
    #: Tasks that a turn wanted and nobody registered.
    missing_tasks: list[str] = field(default_factory=list)

    def begin(self) -> None:
        """A turn begins: nothing was seen of it yet."""
        self.last = None
        self.missing_tasks.clear()

    def saw(self, event: AuditEvent) -> None:
        """Take note of an event, also of one that the audit filters."""
        self.last = event
        told = event.payload
        if _NOT_REGISTERED in (told.get("errorCode"), told.get("errorType")):
            self.missing_tasks.append(str(told.get("errorMessage") or told.get("reasonText")))

    def input_params(self) -> Mapping[str, Any] | None:
        """The input params of the session at the last event; null when no turn ran."""
        return plain(self.last.session.input_params) if self.last else None


_watch: ContextVar[Watch | None] = ContextVar("watch", default=None)


@contextmanager
def watching() -> Iterator[Watch]:
    """Watch the turns that this thread takes inside. Needs `saw` among the TRAIL_LISTENERS."""
    watch = Watch()
    token = _watch.set(watch)
    try:
        yield watch
    finally:
        _watch.reset(token)


def saw(event: AuditEvent) -> None:
    """The listener: hands events to whoever watches."""
    if watch := _watch.get():
        watch.saw(event)
