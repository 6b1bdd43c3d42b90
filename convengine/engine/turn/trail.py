"""The events of a turn: an append-only list, each with its session.

Nothing is serialised here. A Session is frozen, so an event refers to it; changes are computed once, when the turn is
written.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from convengine.engine.turn.session import Session
from convengine.engine.turn.stage import Stage

#: Payload keys that are stored as a reference to the state of the turn at that event.
FOLDED_KEYS = frozenset({"context", "schemaJson", "session", "inputParams", "sessionInputParams"})
#: Marks a payload value that readers replace by the state.
FOLDED = object()


class AuditEvent(NamedTuple):
    #: 1, 2, 3 … within the turn.
    seq: int
    #: The stage; for rule stages with its source in brackets: `RULE_APPLIED (RulesStep)`.
    stage: str
    payload: Mapping[str, Any]
    session: Session
    #: The current step; null outside of steps.
    step: str | None
    #: Milliseconds since the turn began.
    at_ms: float


Listener = Callable[[AuditEvent], None]


@dataclass
class Trail:
    elapsed_ms: Callable[[], float]
    listeners: tuple[Listener, ...] = ()
    events: list[AuditEvent] = field(default_factory=list)
    #: Listeners of single stages, by the stage's name.
    watchers: Mapping[str, Listener] = field(default_factory=dict)
    #: The current step; set by the runner.
    step: str | None = None

    def add(
        self,
        session: Session,
        stage: Stage,
        payload: Mapping[str, Any],
        source: str | None = None,
        at_ms: float | None = None,
    ) -> AuditEvent:
        """Append an event and notify the listeners."""
        name = f"{stage} ({source})" if source else str(stage)
        events = self.events
        at = self.elapsed_ms() if at_ms is None else at_ms
        event = AuditEvent(len(events) + 1, name, payload, session, self.step, at)
        events.append(event)
        for listener in self.listeners:
            listener(event)
        if stage in self.watchers:
            self.watchers[stage](event)
        return event
