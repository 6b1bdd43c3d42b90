"""The record of turns, as a turn writes it: `audit` implements it."""

import uuid
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from functools import partial
from typing import Any, Protocol

from convengine.engine.errors import ConvEngineError
from convengine.engine.turn.enums import TurnStatus
from convengine.engine.turn.session import Session
from convengine.engine.turn.stage import Stage
from convengine.engine.turn.turn import Turn
from convengine.server.database.sql import Statement
from convengine.server.deployment import conf


@dataclass(frozen=True)
class TurnRecord:
    """How a turn ended, for its row."""

    status: TurnStatus
    session: Session
    #: TURN, or EXTERNAL for a turn handled elsewhere.
    source: str
    #: None for a turn that cannot be replayed.
    recording: bytes | None
    #: Why it cannot be replayed. None for a turn that can.
    replay_note: str | None = None
    error: ConvEngineError | None = None


class TurnLog(Protocol):
    """Writes the record of turns: events, model calls, deciding rows."""

    def insert_turn_stmts(
        self, turn: Turn, record: TurnRecord, previous: bytes | None, /
    ) -> tuple[list[Statement], bytes]:
        """What stores the record of a turn in its commit, and the hash of its seal; `previous` is the one before it."""

    def insert_dead_turn_stmts(
        self,
        header: Mapping[str, Any],
        events: Sequence[tuple[Stage, Mapping[str, Any]]],
        now: datetime,
        previous: bytes | None,
        release: str,
        /,
    ) -> tuple[list[Statement], bytes]:
        """As above, for a turn whose process died: `header` has its columns, `events` end it, `release` is a hash."""

    def flush_events(self, turn: Turn, token: str, after_seq: int, /) -> bool:
        """Store the events of a running turn after `after_seq` for readers. Needs an open transaction.

        False when the lease was lost.
        """

    def delete_running_stmt(self, token: str, /) -> Statement:
        """Delete what `flush_events` stored, in the turn's commit."""

    def add_after_turn(self, turn: Turn, after_seq: int, /) -> None:
        """Store the later events of a turn whose row is stored. Needs an open transaction."""

    def add_outside(
        self, events: Sequence[tuple[str, Stage, Mapping[str, Any]]], now: datetime, config_version: int, /
    ) -> None:
        """Store events (conversation, stage, payload) of no turn. Needs an open transaction."""

    def turns_removed_before(self, before: datetime, /) -> None:
        """Note that older turns and sessions are removed."""

    def turns_leave(self, keys: Sequence[int], /) -> None:
        """Called with the keys of turn records right before they are deleted. Needs an open transaction."""

    def conversations_leave(self, keys: Sequence[uuid.UUID], /, *, by: str, reason: str) -> None:
        """Called with the keys of conversations right before somebody deletes them. Needs an open transaction."""


turn_log: Callable[[], TurnLog] = partial(conf.load, "AUDIT_WRITER")
