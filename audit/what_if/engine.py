"""Compare stored turns on two configurations: each runs on both from its recorded session (R134)."""

import uuid
from collections import OrderedDict
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

from audit.replay.replay import NotReplayable, restore_recording
from audit.what_if.difference import DIFFERENCES, Kind, RowKey, TurnDifference, compare_runs, list_changed_rows
from audit.what_if.selection import TurnKey, read_turns
from audit.what_if.turn_run import TurnRun, find_subjects, run_turn
from convengine.engine.turn.snapshot import Snapshot
from convengine.server.app_interfaces import configuration
from convengine.server.sessions.models import CeConversationHistory

Json = Any
#: Past releases to hold at a time, of turns that are compared with their record.
_HELD = 8


@dataclass(frozen=True)
class TurnResult:
    """One turn on both configurations."""

    key: TurnKey
    difference: TurnDifference
    #: An earlier turn of the conversation differs, so this one would not have been the same: it does not count.
    is_after_difference: bool = False
    #: Null for a turn that cannot run again.
    old: TurnRun | None = None
    new: TurnRun | None = None

    @property
    def differs(self) -> bool:
        """True for a difference that counts."""
        return not self.is_after_difference and self.difference.kind in DIFFERENCES


@dataclass
class Comparison:
    """Two configurations to compare turns on. Holds the past releases that it reads."""

    new: Snapshot
    #: Null: each turn on its own release, as it was recorded.
    old: Snapshot | None
    _own: OrderedDict[int, Snapshot] = field(default_factory=OrderedDict)
    _changed: dict[int, Collection[RowKey]] = field(default_factory=dict)

    def compare_turns(self, keys: Sequence[TurnKey]) -> Iterator[TurnResult]:
        """Each turn, in the given order, in which the turns of a conversation follow one another."""
        conversation: uuid.UUID | None = None
        has_difference = False
        for key, record in read_turns(keys):
            if key.conversation_id != conversation:
                conversation, has_difference = key.conversation_id, False
            result = self.compare_turn(key, record, is_after_difference=has_difference)
            has_difference = has_difference or result.differs
            yield result

    def compare_turn(
        self, key: TurnKey, record: CeConversationHistory | None, *, is_after_difference: bool = False
    ) -> TurnResult:
        """One turn on both."""
        if record is None:
            return TurnResult(key, TurnDifference(Kind.NOT_REPLAYABLE, notes=("The turn is no longer stored.",)))
        try:
            recorded = restore_recording(record)
            own = recorded.config_version
            old_snapshot = self.old or self._read_release(own)
            subjects = find_subjects(recorded, lambda: self._read_release(own))
        except (NotReplayable, LookupError) as refused:
            note = TurnDifference(Kind.NOT_REPLAYABLE, notes=(str(refused),))
            return TurnResult(key, note, is_after_difference)
        old = run_turn(recorded, old_snapshot, subjects)
        new = run_turn(recorded, self.new, subjects)
        difference = compare_runs(old, new, self._list_changed_rows(old_snapshot))
        return TurnResult(key, difference, is_after_difference, old, new)

    def _read_release(self, config_version: int) -> Snapshot:
        """Raises LookupError for a release that does not exist."""
        snapshot = self._own.get(config_version)
        if snapshot is None:
            snapshot = self._own[config_version] = configuration().at(config_version)
            if len(self._own) > _HELD:
                self._own.popitem(last=False)
        self._own.move_to_end(config_version)
        return snapshot

    def _list_changed_rows(self, old: Snapshot) -> Collection[RowKey]:
        if old.config_version not in self._changed:
            self._changed[old.config_version] = frozenset(list_changed_rows(old, self.new))
        return self._changed[old.config_version]
