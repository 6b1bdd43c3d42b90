"""Recorded turns, as other apps read and explain them: `audit` implements it."""

import uuid
from collections.abc import Callable, Iterable, Mapping, Sequence
from datetime import datetime
from functools import partial
from typing import Any, NamedTuple, Protocol

from convengine.engine.turn.turn import Turn
from convengine.server.deployment import conf


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


class TurnEvent(Protocol):
    """An event of a turn."""

    stage: str
    payload_json: dict[str, Any]
    step: str | None


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
        """Returns None when the replayed turn leaves the same events.

        Raises ValueError for a turn that cannot be replayed.
        """

    def rebuild_turn(self, record: Any, /) -> Turn:
        """The replayed turn with its events. Raises ValueError for a turn that cannot be replayed."""

    def read_turn_trace(self, conversation_id: uuid.UUID, turn_no: int, /) -> dict[str, Any] | None:
        """The turn as steps with their stages. Returns None when nothing of it is stored."""

    def explain_turn(self, conversation_id: uuid.UUID, turn_no: int, /) -> list[str]:
        """What happened in a turn and why, one line each: the narration, then each decision with winners and losers."""

    def list_unstored_events(self, turn: Turn, /) -> Sequence[TurnEvent]:
        """The events of a turn that is only tried, as readers would get them if it were stored."""

    def explain_unstored_turn(self, turn: Turn, /) -> list[str]:
        """Explain a turn that was only tried and not stored, as `explain_turn` does. Never raises."""

    def build_graphs(self, conversation_id: uuid.UUID, turn_nos: Sequence[int], /) -> dict[int, dict[str, Any]]:
        """The traces of turns as graphs of nodes and edges, by turn number."""

    def list_moves(self, conversation_id: uuid.UUID, first: int, last: int, /) -> list[LifecycleMove]:
        """The changes of a session's lifecycle in some turns."""

    def list_deciding_rows(self, turn_ids: Iterable[uuid.UUID], /) -> Mapping[uuid.UUID, list[DecidingRow]]:
        """The rows that decided each turn, in order."""

    def read_last_seq(self, conversation_id: str, turn_no: int | None, /) -> int:
        """The number of the last event of a turn; 0 without events."""

    def has_model_call(self, turn_id: str, conversation_id: str, purposes: Sequence[str], /) -> bool:
        """True when a model was called for one of these purposes in a turn, or after it."""

    def sum_cost(self, conversation_id: str, /) -> float:
        """The cost of the logged model calls of a conversation."""


turn_reader: Callable[[], TurnReader] = partial(conf.load, "TURN_READER")
