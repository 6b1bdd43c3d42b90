"""The trail of a turn: an append-only list of events, each with the session as it stood.

Nothing is serialised here. A Session is frozen, so an event keeps a reference to it, and what changed between two
events is a comparison of two values, made once, when the turn is written.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from convengine.domain.session import Session
from convengine.domain.stages import Stage

#: Payload keys that are stored as a reference to the folded state of the turn at that event (R33).
FOLDED_KEYS = frozenset({"context", "schemaJson", "session", "inputParams", "sessionInputParams"})
#: What stands in a payload where a reader puts the folded state.
FOLDED = object()


class AuditEvent(NamedTuple):
    """One stage reached."""

    #: 1, 2, 3 … within the turn.
    seq: int
    #: The stage, with its source in brackets for rule stages: `RULE_APPLIED (RulesStep)`.
    stage: str
    payload: Mapping[str, Any]
    session: Session
    #: The step that was running; null outside of steps.
    step: str | None
    #: Milliseconds since the turn began.
    at_ms: float


#: Asked eighty times a turn: an enumeration's own way to a value is slow.
_NAMES = {stage: stage.value for stage in Stage}
_new = tuple.__new__
Listener = Callable[[AuditEvent], None]


@dataclass
class Trail:
    """The events of one turn, in order."""

    elapsed_ms: Callable[[], float]
    listeners: tuple[Listener, ...] = ()
    events: list[AuditEvent] = field(default_factory=list)
    #: Who hears some stages only, by the stage.
    watchers: Mapping[Stage, Listener] = field(default_factory=dict)
    #: The step that is running; set by the runner.
    step: str | None = None

    def add(
        self,
        session: Session,
        stage: Stage,
        payload: Mapping[str, Any],
        source: str | None = None,
        at_ms: float | None = None,
    ) -> AuditEvent:
        """Append an event and tell the listeners. Raises ValueError for a stage outside the vocabulary."""
        name = _NAMES.get(stage) or Stage(stage).value
        if source:
            name = f"{name} ({source})"
        events = self.events
        at = self.elapsed_ms() if at_ms is None else at_ms
        # The constructor of a named tuple is written in Python; a turn makes eighty.
        event = _new(AuditEvent, (len(events) + 1, name, payload, session, self.step, at))
        events.append(event)
        for listener in self.listeners:
            listener(event)
        if stage in self.watchers:
            self.watchers[stage](event)
        return event
