"""Compare stored turns on two configurations: each is played on both from its recorded session. Nothing is called.

Of a turn, it says what differs first, and the row that caused it.
"""

import uuid
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from functools import lru_cache

from audit.replay.replay import NotReplayable, find_subjects, play_elsewhere, restore_recording
from audit.what_if.selection import TurnKey, read_turns
from convengine.engine.turn.recording import name_call
from convengine.engine.turn.snapshot import Snapshot
from convengine.engine.turn.turn import DecidingRow
from convengine.json_value import Json
from convengine.play.comparison import LASTING, Aspect, Summary, compare_turns, summarise
from convengine.server.admin_site.record_columns import answer_text
from convengine.server.interfaces.configuration import configuration
from convengine.server.sessions.models import EXTERNAL, CeConversationHistory
from convengine.server.turns.stored_recording import StoredRecording

#: Table and primary key as text.
RowKey = tuple[str, str]
#: Past releases to hold at a time, of turns that are compared with their record.
_HELD = 8


class DifferenceKind(StrEnum):
    """What of a turn differs first, in the order of the groups."""

    ERROR = "ERROR"
    INTENT = "INTENT"
    STATE = "STATE"
    ACTION = "ACTION"
    ANSWER = "ANSWER"
    VALUES = "VALUES"
    #: The recording cannot answer a call, so nothing is known.
    NEEDS_MODEL = "NEEDS_MODEL"
    NOT_REPLAYABLE = "NOT_REPLAYABLE"
    SAME = "SAME"


#: What of a turn is compared, and the kind of its difference.
KINDS: Mapping[Aspect, DifferenceKind] = {
    Aspect.ERROR: DifferenceKind.ERROR,
    Aspect.INTENT: DifferenceKind.INTENT,
    Aspect.STATE: DifferenceKind.STATE,
    Aspect.CALLS: DifferenceKind.ACTION,
    Aspect.ANSWER: DifferenceKind.ANSWER,
    Aspect.FIELDS: DifferenceKind.VALUES,
    Aspect.REMEMBERED: DifferenceKind.VALUES,
}
#: The kinds that are differences.
DIFFERENCES = tuple(dict.fromkeys(KINDS.values()))


@dataclass(frozen=True)
class WhatIfTurn:
    """A turn played on one of the configurations: what is kept of it."""

    #: What of it is compared.
    summary: Summary
    #: The rows that decided something, in order.
    decided: Sequence[DecidingRow] = ()
    #: The calls that the recording cannot answer. Then nothing else of the turn counts.
    unanswered: Sequence[str] = ()

    @property
    def action_names(self) -> list[str]:
        """The called tools and tasks without the data that was sent."""
        return [name_call(port, request).removeprefix("the ") for port, request in self.summary[Aspect.CALLS]]

    @property
    def answer(self) -> Json:
        """The answer as it would be stored. Returns None for a failed turn."""
        return self.summary.get(Aspect.ANSWER)

    def as_json(self) -> dict[str, Json]:
        """Where it led, and what the user got."""
        return {
            **{aspect.value: self.summary.get(aspect) for aspect in (Aspect.INTENT, Aspect.STATE, Aspect.ERROR)},
            "actions": self.action_names,
            "answer": answer_text(self.answer),
        }

    @property
    def remembered(self) -> Json:
        """What the next turn would find. Returns None for a failed turn, which changes nothing or only resets."""
        values = self.summary.get(Aspect.REMEMBERED)
        return values and {**values, "context": {**values["context"], **self.summary[Aspect.FIELDS]}}


@dataclass(frozen=True)
class ComparedTurn:
    """One turn on both configurations."""

    key: TurnKey
    #: What differs first.
    kind: DifferenceKind
    #: The row that caused it, if one is known.
    cause: RowKey | None = None
    #: The calls that a recording cannot answer, or why it cannot run.
    notes: Sequence[str] = ()
    #: The next turn of the conversation would find another situation. Another text alone changes none.
    is_lasting: bool = False
    #: An earlier turn of the conversation left another situation, so this one would not have been the same: it does not
    #: count.
    is_after_difference: bool = False
    #: None for a turn that cannot run again, or was handled elsewhere.
    old: WhatIfTurn | None = None
    new: WhatIfTurn | None = None

    @property
    def differs(self) -> bool:
        """True for a difference that counts."""
        return not self.is_after_difference and self.kind in DIFFERENCES

    @property
    def sides(self) -> dict[str, Json]:
        """`old` and `new` as JSON; both are None for a turn that does not differ, or asks what was not recorded."""
        sides, is_shown = {"old": self.old, "new": self.new}, self.kind in DIFFERENCES
        return {name: side.as_json() if side and is_shown else None for name, side in sides.items()}


def _cache_releases() -> Callable[[int], Snapshot]:
    return lru_cache(_HELD)(configuration().at)


@dataclass
class ConfigurationPair:
    """Two configurations to compare turns on. Holds the past releases that it reads."""

    new: Snapshot
    #: Null: each turn on its own release, as it was recorded.
    old: Snapshot | None
    #: Reads a release. Raises LookupError.
    _read_release: Callable[[int], Snapshot] = field(default_factory=_cache_releases)
    _changed: dict[int, Collection[RowKey]] = field(default_factory=dict)

    def compare_turns(self, keys: Sequence[TurnKey]) -> Iterator[ComparedTurn]:
        """Each turn, in the given order, in which the turns of a conversation follow one another."""
        conversation: uuid.UUID | None = None
        has_difference = False
        for key, record in read_turns(keys):
            if key.conversation_id != conversation:
                conversation, has_difference = key.conversation_id, False
            result = self.compare_turn(key, record, is_after_difference=has_difference)
            has_difference = has_difference or result.is_lasting
            yield result

    def compare_turn(
        self, key: TurnKey, record: CeConversationHistory | None, *, is_after_difference: bool = False
    ) -> ComparedTurn:
        """One turn on both configurations. `record` is None for a turn that is no longer stored.

        A turn that cannot run again is NOT_REPLAYABLE, with the reason in its notes; one handled elsewhere is SAME.
        `is_after_difference`: an earlier turn of the conversation left another situation.
        """
        if record is None:
            text = "The turn is no longer stored."
            return ComparedTurn(
                key, DifferenceKind.NOT_REPLAYABLE, notes=(text,), is_after_difference=is_after_difference
            )
        if record.source == EXTERNAL:
            return ComparedTurn(key, DifferenceKind.SAME, is_after_difference=is_after_difference)
        try:
            recorded = restore_recording(record)
            old_snapshot = self.old or self._read_release(recorded.config_version)
            subjects = find_subjects(recorded, self._read_release)
        except (NotReplayable, LookupError) as refused:
            return ComparedTurn(
                key, DifferenceKind.NOT_REPLAYABLE, notes=(str(refused),), is_after_difference=is_after_difference
            )
        old, new = (_play(recorded, snapshot, subjects) for snapshot in (old_snapshot, self.new))
        changed = self._list_changed_rows(old_snapshot)
        notes = tuple(dict.fromkeys((*new.unanswered, *old.unanswered)))
        aspects = list(compare_turns(old.summary, new.summary, KINDS))
        if notes:
            kind, has_cause = DifferenceKind.NEEDS_MODEL, bool(changed)
        else:
            kind = KINDS[aspects[0]] if aspects else DifferenceKind.SAME
            has_cause = bool(aspects)
        return ComparedTurn(
            key,
            kind,
            find_cause(old.decided, new.decided, changed) if has_cause else None,
            notes,
            is_lasting=not notes and not LASTING.isdisjoint(aspects),
            is_after_difference=is_after_difference,
            old=old,
            new=new,
        )

    def _list_changed_rows(self, old: Snapshot) -> Collection[RowKey]:
        if old.config_version not in self._changed:
            self._changed[old.config_version] = frozenset(list_changed_rows(old, self.new))
        return self._changed[old.config_version]


def _play(recorded: StoredRecording, snapshot: Snapshot, subjects: Mapping[int, Json]) -> WhatIfTurn:
    played, tape = play_elsewhere(recorded, snapshot, subjects)
    return WhatIfTurn(summarise(played), tuple(played.turn.decided_rows), tape.unanswered)


def find_cause(old: Sequence[DecidingRow], new: Sequence[DecidingRow], changed: Collection[RowKey]) -> RowKey | None:
    """The row that caused a difference. `changed` are the rows that differ between the configurations.

    If a single row was changed, it is that row. Else it is the first changed row among those that decided in one run
    only, then among all that decided. Else it is the first row that decided in one run only. Returns None if there is
    none.
    """
    if len(changed) == 1:
        return next(iter(changed))
    differing = [*(row for row in new if row not in old), *(row for row in old if row not in new)]
    deciding = [_key(row) for row in (*differing, *new, *old)]
    if cause := next((row for row in deciding if row in changed), None):
        return cause
    return _key(differing[0]) if differing else None


def _key(row: DecidingRow) -> RowKey:
    return row.table, row.row_pk


def list_changed_rows(old: Snapshot, new: Snapshot) -> list[RowKey]:
    """The rows that differ between two configurations: added, changed or removed."""
    changed = []
    for name, table in new.tables.items():
        before = old.tables[name]
        if before is not table:
            pks = dict.fromkeys((*before.by_pk, *table.by_pk))
            changed += [(name, str(pk)) for pk in pks if before.by_pk.get(pk) != table.by_pk.get(pk)]
    return changed
