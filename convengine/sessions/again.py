"""A committed turn put together again, for what is written after it by another thread or process."""

import uuid
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any, TypeVar

from convengine import conf, wiring
from convengine.codec import plain
from convengine.domain import settings
from convengine.domain.catalogue.memory import HISTORY_MAX_TURNS
from convengine.domain.conversation import Conversation, Loaded
from convengine.domain.opening import opened
from convengine.domain.payload import spoken
from convengine.domain.recording import Recording
from convengine.domain.session import Exchange, Session
from convengine.domain.snapshot import Snapshot
from convengine.domain.stages import AFTER_THE_ANSWER, Stage
from convengine.domain.trail import AuditEvent, Trail
from convengine.domain.turn import Turn, TurnRequest
from convengine.sessions.clock import TurnClock, database_time
from convengine.sessions.models import CeConversation, CeConversationHistory

T = TypeVar("T")
#: Columns of the row as a turn reads them.
_COLUMNS = tuple(name for name in Conversation.__dataclass_fields__ if name != "conversation_id")


@dataclass(frozen=True)
class Again:
    """The newest committed turn of a conversation."""

    row: Conversation
    turn: Turn
    #: As the turn left it.
    session: Session


@dataclass(frozen=True)
class _Past:
    """The conversations port over what was read."""

    loaded: Loaded

    def load(self) -> Loaded:
        """What was read."""
        return self.loaded

    def store(self) -> None:
        """The row is there."""


def put_together(conversation_id: str, snapshot: Snapshot | None = None) -> Again | None:
    """The newest committed turn, on its own release or on the snapshot given; null when there is none.

    It may ask models and tell events: those get the numbers behind the events that the turn has.
    """
    row = _row(conversation_id)
    turns = CeConversationHistory.objects.filter(conversation_id=uuid.UUID(conversation_id), status="OK").defer(
        "recording"
    )
    record = turns.order_by("-turn_no").first() if row else None
    if row is None or record is None:
        return None
    pinned = snapshot or conf.load("SNAPSHOT").at(record.config_version)
    loaded = Loaded(row, _history(turns, record, pinned))
    session = _session(row, record, loaded)
    request = TurnRequest(conversation_id, record.user_input, channel=row.channel, workspace_id=row.workspace_id)
    clock, tape = TurnClock(database_time()), Recording()
    ports = wiring.ports(clock, _Past(loaded), tape, pinned, row.workspace_id)
    trail = Trail(clock.elapsed_ms, events=_stored(record, session))
    turn = Turn(str(record.turn_id), record.turn_no, request, pinned, ports, trail)
    turn.admitted = {event.seq: True for event in trail.events}
    return Again(row, turn, session)


def behind(turn: Turn, work: Callable[[Turn], T]) -> T:
    """Let something be done with a committed turn. Of what it tells, the trail gets the stages that replays know."""
    shadow = replace(turn, trail=Trail(turn.ports.clock.elapsed_ms))
    done = work(shadow)
    for event in shadow.trail.events:
        if event.stage in AFTER_THE_ANSWER:
            turn.trail.add(event.session, Stage(event.stage), event.payload)
    return done


def _row(conversation_id: str) -> Conversation | None:
    values = CeConversation.objects.filter(pk=conversation_id).values(*_COLUMNS).first()
    return Conversation(conversation_id=conversation_id, **values) if values else None


def _history(turns: Any, record: CeConversationHistory, snapshot: Snapshot) -> tuple[Exchange, ...]:
    """The turns before it, oldest first, as it read them."""
    limit = settings.read(snapshot, HISTORY_MAX_TURNS).value
    earlier = turns.filter(turn_no__lt=record.turn_no, context_epoch=record.context_epoch).order_by("-turn_no")[:limit]
    found = [(turn.user_input, spoken(turn.assistant_output)) for turn in earlier]
    return tuple(Exchange(user, said) for user, said in reversed(found) if user and user.strip() and said)


def _session(row: Conversation, record: CeConversationHistory, loaded: Loaded) -> Session:
    before = Session(row.conversation_id, record.turn_no, user_text=record.user_input)
    return opened(before, loaded, {}).with_params(plain(record.facts or {}))


def _stored(record: CeConversationHistory, session: Session) -> list[AuditEvent]:
    """In the place of the events that are stored already; of them only the number counts."""
    last = conf.load("AUDIT_WRITER").last_seq(str(record.conversation_id), record.turn_no)
    return [AuditEvent(seq, "", {}, session, None, 0.0) for seq in range(1, last + 1)]
