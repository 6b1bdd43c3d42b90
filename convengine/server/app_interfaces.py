"""What the apps use of one another: `config_admin` implements the configuration, `audit` the record of turns.

They never import one another: settings name the objects, and both sides are checked against these types.
"""

import uuid
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any, NamedTuple, Protocol

from convengine.engine.turn.seal import Batch, Pieces
from convengine.engine.turn.snapshot import Snapshot
from convengine.engine.turn.stage import Stage
from convengine.engine.turn.turn import Turn
from convengine.server.database.sql import Statement
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


class TurnWrites(NamedTuple):
    """The statements that store a turn's events, model calls and deciding rows, and what its seal covers of them."""

    statements: Sequence[Statement]
    batches: Sequence[Batch]


class WrittenTurn(NamedTuple):
    """What the seal covers of a turn that was stored event by event, and how many events were lost."""

    batches: Sequence[Batch]
    lost_events: int


class TurnLog(Protocol):
    """Writes the record of turns: events, model calls, deciding rows."""

    def writes(self, turn: Turn, after_seq: int = 0, /) -> TurnWrites:
        """The events of a turn after `after_seq`, its model calls, and its deciding rows (R58, R60)."""

    def events(self, turn: Turn, after_seq: int = 0, /) -> list[Statement]:
        """The same without the deciding rows."""

    def write_with_care(self, turn: Turn, after_seq: int = 0, /) -> WrittenTurn:
        """Store the same, event by event. Needs an open transaction."""

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

    def pieces(self, conversation_id: str, turn_id: uuid.UUID, turn_no: int, /) -> tuple[int, Pieces]:
        """What is stored of a dead turn, as its seal covers it, and the number of its last event."""

    def turns_removed_before(self, before: datetime, /) -> None:
        """Note that older turns and sessions are removed."""

    def turns_leave(self, keys: Sequence[int], /) -> None:
        """Called with the keys of turn records right before they are deleted. Needs an open transaction."""


class RowUsage(NamedTuple):
    """How often a configuration row decided turns."""

    #: Turns since the given time; at most 1000 are counted.
    turns: int
    #: When it last decided one; null for never.
    last: datetime | None


@dataclass(frozen=True)
class RowRating:
    """A configuration row with the ratings of its answers."""

    table: str
    pk: str
    ups: int
    downs: int
    #: The newest comment, or blank.
    comment: str = ""

    @property
    def share(self) -> int:
        """The percentage of negative ratings."""
        return round(100 * self.downs / (self.ups + self.downs))


class LifecycleMove(NamedTuple):
    """One change of a session's lifecycle."""

    at: datetime
    start: str
    end: str
    reason: str
    turn_no: int


class DecidingRow(NamedTuple):
    """A configuration row that decided something in a turn."""

    role: str
    table: str
    pk: str


class ReplayDifference(Protocol):
    """The first event in which a replay differs from the record."""

    @property
    def seq(self) -> int: ...

    @property
    def recorded(self) -> tuple[str, Any] | None: ...

    @property
    def replayed(self) -> tuple[str, Any] | None: ...


class TurnReader(Protocol):
    """Reads recorded turns. A `record` is a `CeConversationHistory`."""

    def find_replay_difference(self, record: Any, /) -> ReplayDifference | None:
        """Null when the replayed turn leaves the same events. Raises ValueError for a turn that cannot be replayed."""

    def rebuild_turn(self, record: Any, /) -> Turn:
        """The replayed turn with its events. Raises ValueError for a turn that cannot be replayed."""

    def read_turn_trace(self, conversation_id: uuid.UUID, turn_no: int, /) -> dict[str, Any] | None:
        """The turn as steps with their stages; null when nothing of it is stored."""

    def build_graphs(self, conversation_id: uuid.UUID, turn_nos: Sequence[int], /) -> dict[int, dict[str, Any]]:
        """The traces of turns as graphs of nodes and edges, by turn number."""

    def list_moves(self, conversation_id: uuid.UUID, first: int, last: int, /) -> list[LifecycleMove]:
        """The changes of a session's lifecycle in some turns."""

    def list_deciding_rows(self, turn_ids: Iterable[uuid.UUID], /) -> Mapping[uuid.UUID, list[DecidingRow]]:
        """The rows that decided each turn, in order."""

    def count_row_usage(self, rows: Sequence[tuple[str, str]], since: datetime, /) -> dict[tuple[str, str], RowUsage]:
        """How often rows (table, key) decided turns since then."""

    def list_messages_not_understood(self, limit: int, /) -> list[str]:
        """The newest messages that no intent got, each once."""

    def read_last_seq(self, conversation_id: str, turn_no: int | None, /) -> int:
        """The number of the last event of a turn; 0 without events."""

    def has_model_call(self, turn_id: str, conversation_id: str, purposes: Sequence[str], /) -> bool:
        """True when a model was called for one of these purposes in a turn, or after it."""

    def sum_cost(self, conversation_id: str, /) -> float:
        """The cost of the logged model calls of a conversation."""

    def rate_row(self, table: str, pk: str, /) -> RowRating | None:
        """The feedback on a row's answers; null without any."""


class AccessLog(Protocol):
    """Logs who reads people's words and data."""

    def log_row_access(self, request: Any, row: Any, /) -> None:
        """A user reads a stored row in the admin; null: a list."""


class LiveStreams(Protocol):
    """Lets users watch running turns."""

    def start(self) -> None:
        """Prepare this process to send events of its turns."""

    def join(self, turn: Turn, /) -> None:
        """Let a turn be watched."""

    async def serve_streams(self, scope: Mapping[str, Any], receive: Any, send: Any, /) -> None:
        """The ASGI application that serves event streams."""


class RowChange(Protocol):
    """A row that differs between two releases."""

    @property
    def before(self) -> Mapping[str, Any]: ...

    @property
    def fields(self) -> Mapping[str, tuple[Any, Any]]:
        """Before and after of each changed column."""


class TableChanges(Protocol):
    """The differences of one table between two releases."""

    @property
    def added(self) -> Sequence[Mapping[str, Any]]: ...

    @property
    def removed(self) -> Sequence[Mapping[str, Any]]: ...

    @property
    def changed(self) -> Sequence[RowChange]: ...


class RowThenAndNow(Protocol):
    """A row in a release beside the present one, for a page."""

    @property
    def name(self) -> str: ...


class ReleaseHistory(Protocol):
    """Reads what releases contain and what they changed."""

    def diff(self, before: int, after: int, /) -> Mapping[str, TableChanges]:
        """The tables in which two releases differ; 0 is the empty configuration."""

    def right_to_read(self, table: str, /) -> str:
        """The right to read a row of a table. Raises KeyError for a table that is not configuration."""

    def then_and_now(self, table: str, pk: str, config_version: int, /) -> RowThenAndNow | None:
        """A row in a release beside the newest one; null when neither has it."""

    def between(self, since: int, until: int, behind: int | None = None, /) -> tuple[Sequence[object], int | None]:
        """The releases after `since` up to `until`, newest first; and where the next page begins."""


def configuration() -> Configuration:
    """The configuration of this deployment."""
    interface: Configuration = conf.load("SNAPSHOT")
    return interface


def release_history() -> ReleaseHistory:
    """The history of the configuration."""
    interface: ReleaseHistory = conf.load("RELEASE_HISTORY")
    return interface


def turn_log() -> TurnLog:
    """The turn log of this deployment."""
    interface: TurnLog = conf.load("AUDIT_WRITER")
    return interface


def turn_reader() -> TurnReader:
    """The reader of recorded turns."""
    interface: TurnReader = conf.load("TURN_READER")
    return interface


def access_log() -> AccessLog:
    """The access log of this deployment."""
    interface: AccessLog = conf.load("ACCESS_LOG")
    return interface


def live_streams() -> LiveStreams:
    """The event streams of running turns."""
    interface: LiveStreams = conf.load("LIVE_STREAMS")
    return interface
