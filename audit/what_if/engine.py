"""Compare stored turns on two configurations: each is played on both from its recorded session. Nothing is called."""

import uuid
from collections import OrderedDict
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from audit.replay.replay import NotReplayable, restore_recording
from audit.what_if.difference import DIFFERENCES, Kind, Outcome, RowKey, WhatIfTurn, compare_sides, list_changed_rows
from audit.what_if.selection import TurnKey, read_turns
from convengine.engine.turn.recording import ExactReuse, Playback
from convengine.engine.turn.snapshot import Snapshot
from convengine.json_value import Json
from convengine.play.comparison import summarise
from convengine.play.play import play_recorded
from convengine.server.interfaces.configuration import configuration
from convengine.server.sessions.models import CeConversationHistory
from convengine.server.turns.stored_recording import StoredRecording

#: Past releases to hold at a time, of turns that are compared with their record.
_HELD = 8


@dataclass(frozen=True)
class ComparedTurn:
    """One turn on both configurations."""

    key: TurnKey
    difference: Outcome
    #: An earlier turn of the conversation left another situation, so this one would not have been the same: it does not
    #: count.
    is_after_difference: bool = False
    #: Null for a turn that cannot run again.
    old: WhatIfTurn | None = None
    new: WhatIfTurn | None = None

    @property
    def differs(self) -> bool:
        """True for a difference that counts."""
        return not self.is_after_difference and self.difference.kind in DIFFERENCES

    @property
    def sides(self) -> dict[str, Json]:
        """`old` and `new` as JSON; null for a turn that does not differ, or asks what was not recorded."""
        sides, is_shown = {"old": self.old, "new": self.new}, self.difference.kind in DIFFERENCES
        return {name: side.as_json() if side and is_shown else None for name, side in sides.items()}


@dataclass
class Comparison:
    """Two configurations to compare turns on. Holds the past releases that it reads."""

    new: Snapshot
    #: Null: each turn on its own release, as it was recorded.
    old: Snapshot | None
    _own: OrderedDict[int, Snapshot] = field(default_factory=OrderedDict)
    _changed: dict[int, Collection[RowKey]] = field(default_factory=dict)

    def compare_turns(self, keys: Sequence[TurnKey]) -> Iterator[ComparedTurn]:
        """Each turn, in the given order, in which the turns of a conversation follow one another."""
        conversation: uuid.UUID | None = None
        has_difference = False
        for key, record in read_turns(keys):
            if key.conversation_id != conversation:
                conversation, has_difference = key.conversation_id, False
            result = self.compare_turn(key, record, is_after_difference=has_difference)
            has_difference = has_difference or result.difference.is_lasting
            yield result

    def compare_turn(
        self, key: TurnKey, record: CeConversationHistory | None, *, is_after_difference: bool = False
    ) -> ComparedTurn:
        """One turn on both."""
        if record is None:
            return ComparedTurn(key, Outcome(Kind.NOT_REPLAYABLE, notes=("The turn is no longer stored.",)))
        try:
            recorded = restore_recording(record)
            own = recorded.config_version
            old_snapshot = self.old or self._read_release(own)
            subjects = _find_subjects(recorded, lambda: self._read_release(own))
        except (NotReplayable, LookupError) as refused:
            note = Outcome(Kind.NOT_REPLAYABLE, notes=(str(refused),))
            return ComparedTurn(key, note, is_after_difference)
        old, new = (_play(recorded, snapshot, subjects) for snapshot in (old_snapshot, self.new))
        difference = compare_sides(old, new, self._list_changed_rows(old_snapshot))
        return ComparedTurn(key, difference, is_after_difference, old, new)

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


def _play(recorded: StoredRecording, snapshot: Snapshot, subjects: Mapping[int, Json]) -> WhatIfTurn:
    tape = ExactReuse(recorded.tape, subjects=subjects)
    played = play_recorded(recorded, tape, snapshot)
    return WhatIfTurn(summarise(played), tuple(played.turn.decided_rows), tape.unanswered)


def _find_subjects(recorded: StoredRecording, read_own: Callable[[], Snapshot]) -> Mapping[int, Json]:
    """What the recorded calls of tasks and transformers were about, by their position on the tape.

    The recording does not have it: the turn runs once more on its own release. Turns without such calls do not.
    """
    if not any(port == "task" or (port == "transform" and answer["transformer"]) for port, _, answer in recorded.tape):
        return {}
    tape = Playback(recorded.tape)
    play_recorded(recorded, tape, read_own())
    return tape.subjects
