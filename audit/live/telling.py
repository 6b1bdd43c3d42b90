"""A turn that is watched tells its events as they happen: as the audit will store them, and as readers see them."""

from collections import deque
from dataclasses import dataclass, field
from uuid import UUID

import structlog

from audit.expand import expanded
from audit.live.relay import relay
from audit.live.told import VERBOSE, News, audit_data, verbose_data
from audit.models import CeAudit
from audit.rate_limit import limiter
from audit.rows import AuditRow, audit_rows, masked, unstored
from audit.stage_names import base_name
from convengine.codec import loads
from convengine.domain.stages import AFTER_THE_ANSWER, Stage
from convengine.domain.trail import AuditEvent
from convengine.domain.turn import Turn
from convengine.domain.verbose import VerboseLine
from convengine.rules.redacting import Redaction

log = structlog.get_logger(__name__)


def start() -> None:
    """Make this process ready to tell others of its turns."""
    relay.start()


def join(turn: Turn) -> None:
    """Let a turn be watched. One that nobody watches looks at each step whether somebody does; nothing else."""
    if relay.may_be_heard:
        _Teller(turn).look()


@dataclass
class _Teller:
    """The way of one turn's events to its viewers."""

    turn: Turn
    #: Events looked at; the last that was told.
    _seen: int = 0
    _told: int = 0
    _rows: deque[CeAudit] = field(default_factory=deque)

    def __post_init__(self) -> None:
        # One row in, one event out: what folding needs is kept from one to the next.
        self._events = expanded(iter(self._rows.popleft, None))

    def look(self) -> None:
        """Begin to tell when somebody watches; else look again at the next step."""
        trail, turn = self.turn.trail, self.turn
        if relay.watched(turn.request.conversation_id):
            trail.listeners = (*trail.listeners, self._heard)
            turn.verbose_listeners = (*turn.verbose_listeners, self._progress)
            turn.ended = self._ended
            if trail.events:
                self._heard(trail.events[-1])
        elif Stage.STEP_ENTER not in trail.watchers:
            trail.watchers = {**trail.watchers, Stage.STEP_ENTER: self._step}

    def _step(self, event: AuditEvent) -> None:
        if relay.watched(self.turn.request.conversation_id):
            trail = self.turn.trail
            trail.watchers = {stage: who for stage, who in trail.watchers.items() if stage != Stage.STEP_ENTER}
            self.look()

    def _heard(self, event: AuditEvent) -> None:
        """Tell everything up to an event. A fault here never reaches the turn; its viewers read the database."""
        if self.turn.left:
            return
        try:
            rows = audit_rows(self.turn, self._seen, limiter.admits if limiter.on else None, every=True)
            self._seen = event.seq
            for row, payload in zip(rows, loads(masked(rows, Redaction.of(self.turn.snapshot))), strict=True):
                self._tell(row, payload)
        except Exception as fault:
            log.warning("event not told to viewers", error=str(fault), exc_info=fault)

    def _tell(self, row: AuditRow, payload: dict[str, object]) -> None:
        turn = self.turn
        self._rows.append(unstored(turn, UUID(turn.request.conversation_id), row, payload))
        data = audit_data(next(self._events))
        if base_name(row.stage) not in AFTER_THE_ANSWER:
            relay.tell(News(turn.request.conversation_id, row.stage, data, turn.turn_no, row.seq, self._told))
            self._told = row.seq

    def _progress(self, line: VerboseLine) -> None:
        turn = self.turn
        if not turn.left:
            data = verbose_data(line, turn.turn_id, turn.turn_no, turn.ports.clock.now())
            relay.tell(News(turn.request.conversation_id, VERBOSE, data))

    def _ended(self) -> None:
        began, _ = self.turn.began
        for conversation_id in {began.conversation_id, self.turn.request.conversation_id}:
            relay.look(conversation_id)
