"""Send the events of a watched turn while it runs, as the audit stores them and as readers see them."""

from collections import deque
from dataclasses import dataclass, field
from uuid import UUID

import structlog

from audit.live.bus import relay
from audit.live.messages import VERBOSE, StreamMessage, encode_event, encode_progress
from audit.models import CeAudit
from audit.record.expand import expand_events
from audit.record.rows import AuditRow, build_audit_rows, build_unstored_event, limiter, mask_payloads
from convengine.engine.pipeline.stages import STEP_ENTER
from convengine.engine.rules.redaction import Redaction
from convengine.engine.stages import AFTER_THE_ANSWER, base_name
from convengine.engine.turn.codec import loads
from convengine.engine.turn.trail import AuditEvent
from convengine.engine.turn.turn import Turn
from convengine.engine.turn.verbose import VerboseLine

log = structlog.get_logger(__name__)


def start() -> None:
    """Prepare this process to send events of its turns."""
    relay.start()


def join(turn: Turn) -> None:
    """Let a turn be watched. A turn that nobody watches only checks at each step whether somebody does."""
    if relay.can_be_watched:
        _TurnPublisher(turn).refresh()


@dataclass
class _TurnPublisher:
    """Sends one turn's events to its viewers."""

    turn: Turn
    #: Events examined; and the last one sent.
    _seen: int = 0
    _last_seq: int = 0
    _rows: deque[CeAudit] = field(default_factory=deque)

    def __post_init__(self) -> None:
        # One row in, one event out; the state in between is kept.
        self._events = expand_events(iter(self._rows.popleft, None))

    def refresh(self) -> None:
        """Begin to send when somebody watches; else check again at the next step."""
        trail, turn = self.turn.trail, self.turn
        if relay.is_watched(turn.request.conversation_id):
            trail.listeners = (*trail.listeners, self._publish_events)
            turn.verbose_listeners = (*turn.verbose_listeners, self._publish_progress)
            turn.ended = self._on_end
            if trail.events:
                self._publish_events(trail.events[-1])
        elif STEP_ENTER not in trail.watchers:
            trail.watchers = {**trail.watchers, STEP_ENTER: self._on_step}

    def _on_step(self, event: AuditEvent) -> None:
        if relay.is_watched(self.turn.request.conversation_id):
            trail = self.turn.trail
            trail.watchers = {stage: who for stage, who in trail.watchers.items() if stage != STEP_ENTER}
            self.refresh()

    def _publish_events(self, event: AuditEvent) -> None:
        """Send everything up to an event. A fault here never affects the turn; its viewers read the database."""
        if self.turn.previous_session:
            return
        try:
            rows = build_audit_rows(self.turn, self._seen, limiter.admits if limiter.on else None, every=True)
            self._seen = event.seq
            for row, payload in zip(rows, loads(mask_payloads(rows, Redaction.of(self.turn.snapshot))), strict=True):
                self._publish(row, payload)
        except Exception as fault:
            log.warning("event not told to viewers", error=str(fault), exc_info=fault)

    def _publish(self, row: AuditRow, payload: dict[str, object]) -> None:
        turn = self.turn
        self._rows.append(build_unstored_event(turn, UUID(turn.request.conversation_id), row, payload))
        data = encode_event(next(self._events))
        if base_name(row.stage) not in AFTER_THE_ANSWER:
            relay.tell(
                StreamMessage(turn.request.conversation_id, row.stage, data, turn.turn_no, row.seq, self._last_seq)
            )
            self._last_seq = row.seq

    def _publish_progress(self, line: VerboseLine) -> None:
        turn = self.turn
        if not turn.previous_session:
            data = encode_progress(line, turn.turn_id, turn.turn_no, turn.ports.clock.now())
            relay.tell(StreamMessage(turn.request.conversation_id, VERBOSE, data))

    def _on_end(self) -> None:
        began, _ = self.turn.start
        for conversation_id in {began.conversation_id, self.turn.request.conversation_id}:
            relay.refresh(conversation_id)
