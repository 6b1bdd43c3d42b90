"""What the server uses of the apps above it: `config_admin` implements `Configuration`, `audit` implements `TurnLog`.

The server never imports those apps: settings name the objects, and both sides are checked against these types.
"""

import uuid
from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any, Protocol

from convengine.engine.turn.seal import Pieces
from convengine.engine.turn.snapshot import Snapshot
from convengine.engine.turn.stage import Stage
from convengine.engine.turn.turn import Turn
from convengine.server.database.statements import Statement
from convengine.server.deployment import conf


class Configuration(Protocol):
    """The published configuration."""

    @property
    def head_sql(self) -> str:
        """A scalar subquery for any statement; `pin` takes its result."""

    @property
    def latest(self) -> Snapshot:
        """The newest snapshot that this process has pinned, without a query."""

    def current(self) -> Snapshot:
        """The snapshot in force now; one query when it is known."""

    def pin(self, text: str | None, /) -> Snapshot:
        """The snapshot for a head from `head_sql`."""

    def at(self, config_version: int, /) -> Snapshot:
        """The snapshot of any release."""


class TurnLog(Protocol):
    """The record of turns: events, model calls, deciding rows."""

    def writes(self, turn: Turn, after_seq: int = 0, /) -> list[Statement]:
        """The events of a turn after `after_seq`, its model calls, and its deciding rows (R58, R60)."""

    def events(self, turn: Turn, after_seq: int = 0, /) -> list[Statement]:
        """The same without the deciding rows."""

    def write_with_care(self, turn: Turn, after_seq: int = 0, /) -> int:
        """Store the same, event by event, and return how many were lost. Needs an open transaction."""

    def insert_later_events(self, turn: Turn, after_seq: int, /) -> None:
        """Store the later events of a turn whose record is stored. Needs an open transaction."""

    def append(
        self,
        conversation_id: str | uuid.UUID,
        turn_id: uuid.UUID | None,
        turn_no: int | None,
        config_version: int | None,
        now: datetime,
        events: Sequence[tuple[Stage, dict[str, Any]]],
        /,
    ) -> None:
        """Store events of a dead turn, or of no turn, behind the stored ones. Needs an open transaction."""

    def outside(
        self, events: Sequence[tuple[str, Stage, Mapping[str, Any]]], now: datetime, config_version: int | None, /
    ) -> None:
        """Store events (conversation, stage, payload) of no turn. Needs an open transaction."""

    def last_seq(self, conversation_id: str, turn_no: int | None, /) -> int:
        """The number of the last event of a turn; 0 without events."""

    def pieces(self, conversation_id: str, turn_id: uuid.UUID, turn_no: int, /) -> tuple[int, Pieces]:
        """What is stored of a dead turn, as its seal covers it, and the number of its last event."""

    def asked_for(self, turn_id: str, conversation_id: str, purposes: Sequence[str], /) -> bool:
        """True when a model was asked for one of these purposes in a turn, or after it."""

    def sum_cost(self, conversation_id: str, /) -> float:
        """The cost of the logged model calls of a conversation."""

    def turns_removed_before(self, before: datetime, /) -> None:
        """Note that older turns and sessions are removed."""

    def turns_leave(self, keys: Sequence[int], /) -> None:
        """Called with the keys of turn records right before they are deleted. Needs an open transaction."""


def configuration() -> Configuration:
    """The configuration of this deployment."""
    found: Configuration = conf.load("SNAPSHOT")
    return found


def turn_log() -> TurnLog:
    """The turn log of this deployment."""
    found: TurnLog = conf.load("AUDIT_WRITER")
    return found
