"""Rebuild a committed turn, for work after it by another thread or process."""

import uuid
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any, TypeVar

from convengine.engine.memory.settings import HISTORY_MAX_TURNS
from convengine.engine.stages import AFTER_THE_ANSWER
from convengine.engine.turn import live_settings
from convengine.engine.turn.codec import to_plain
from convengine.engine.turn.conversation import Conversation, Loaded, restore_session
from convengine.engine.turn.payload import to_spoken_text
from convengine.engine.turn.recording import Recording
from convengine.engine.turn.session import Exchange, Session
from convengine.engine.turn.snapshot import Snapshot
from convengine.engine.turn.stage import find_stage
from convengine.engine.turn.trail import AuditEvent, Trail
from convengine.engine.turn.turn import Turn, TurnRequest
from convengine.server import wiring
from convengine.server.database.sql import TurnClock, database_time
from convengine.server.interfaces.configuration import configuration
from convengine.server.interfaces.turn_reader import turn_reader
from convengine.server.sessions.models import CeConversation, CeConversationHistory

T = TypeVar("T")
#: Columns of the row as a turn reads them.
_COLUMNS = tuple(name for name in Conversation.__dataclass_fields__ if name != "conversation_id")


@dataclass(frozen=True)
class RebuiltTurn:
    """The newest committed turn of a conversation."""

    row: Conversation
    turn: Turn
    #: Its session after the turn.
    session: Session


@dataclass(frozen=True)
class _LoadedConversation:
    """The conversations port with stored values."""

    loaded: Loaded

    def load(self) -> Loaded:
        return self.loaded

    def store(self) -> None:
        """The row is there."""


def rebuild_turn(conversation_id: str, snapshot: Snapshot | None = None) -> RebuiltTurn | None:
    """The newest committed turn, on its own release or on the given snapshot. Returns None when there is none.

    It may call models and write events: those get the numbers after the turn's own events.
    """
    values = CeConversation.objects.filter(pk=conversation_id).values(*_COLUMNS).first()
    row = Conversation(conversation_id=conversation_id, **values) if values else None
    turns = CeConversationHistory.objects.filter(conversation_id=uuid.UUID(conversation_id), status="OK")
    record = turns.order_by("-turn_no").first() if row else None
    if row is None or record is None:
        return None
    pinned = snapshot or configuration().at(record.config_version)
    loaded = Loaded(row, _read_history(turns, record, pinned))
    before = Session(row.conversation_id, record.turn_no, user_text=record.user_input)
    session = restore_session(before, loaded, {}).with_params(to_plain(record.facts or {}))
    request = TurnRequest(conversation_id, record.user_input, channel=row.channel, workspace_id=row.workspace_id)
    clock, tape = TurnClock(database_time()), Recording()
    ports = wiring.ports(clock, _LoadedConversation(loaded), tape, pinned, row.workspace_id)
    # They stand for the stored events; only their number counts.
    last = turn_reader().read_last_seq(str(record.conversation_id), record.turn_no)
    stored = [AuditEvent(seq, "", {}, session, None, 0.0) for seq in range(1, last + 1)]
    trail = Trail(clock.elapsed_ms, events=stored)
    admitted = {event.seq: True for event in trail.events}
    turn = Turn(str(record.turn_id), record.turn_no, request, pinned, ports, trail, admitted=admitted)
    return RebuiltTurn(row, turn, session)


def run_after_turn(turn: Turn, work: Callable[[Turn], T]) -> T:
    """Work after a committed turn. Of its events, only stages that replays know are kept."""
    shadow = replace(turn, trail=Trail(turn.ports.clock.elapsed_ms), model_calls=[*turn.model_calls])
    done = work(shadow)
    events = [event for event in shadow.trail.events if event.stage in AFTER_THE_ANSWER]
    before = len(turn.trail.events)
    for event in events:
        turn.trail.add(event.session, find_stage(event.stage), event.payload)
    for call in shadow.model_calls[len(turn.model_calls) :]:
        earlier = sum(event.seq <= call.seq for event in events)
        turn.model_calls.append(replace(call, seq=before + max(earlier, 1)))
    return done


def _read_history(turns: Any, record: CeConversationHistory, snapshot: Snapshot) -> tuple[Exchange, ...]:
    """The turns before it, oldest first, as it read them."""
    limit = live_settings.read(snapshot, HISTORY_MAX_TURNS).value
    earlier = turns.filter(turn_no__lt=record.turn_no, context_epoch=record.context_epoch).order_by("-turn_no")[:limit]
    exchanges = [(turn.user_input, to_spoken_text(turn.assistant_output)) for turn in earlier]
    return tuple(Exchange(user, answer) for user, answer in reversed(exchanges) if user and user.strip() and answer)
