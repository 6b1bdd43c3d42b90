"""What differs first between two runs of a turn, and the row that caused it. Pure functions."""

from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Any

from audit.what_if.turn_run import TurnRun
from convengine.engine.turn.snapshot import Snapshot
from convengine.engine.turn.turn import DecidingRow

Json = Any
#: Table and primary key as text.
RowKey = tuple[str, str]


class Kind(StrEnum):
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


#: The kinds that are differences.
DIFFERENCES = (Kind.ERROR, Kind.INTENT, Kind.STATE, Kind.ACTION, Kind.ANSWER, Kind.VALUES)


@dataclass(frozen=True)
class TurnDifference:
    """How a turn on one configuration differs from the same turn on another."""

    kind: Kind
    cause: RowKey | None = None
    #: The calls that the recording cannot answer, or why the turn cannot run again.
    notes: tuple[str, ...] = ()


def compare_runs(old: TurnRun, new: TurnRun, changed: Collection[RowKey]) -> TurnDifference:
    """The first difference; `changed` are the rows that differ between the two configurations."""
    kind = find_kind(old, new)
    if kind is Kind.SAME:
        return TurnDifference(kind)
    if kind is Kind.NEEDS_MODEL:
        notes = tuple(dict.fromkeys((*new.unanswered, *old.unanswered)))
        return TurnDifference(kind, find_cause(old, new, changed) if changed else None, notes)
    return TurnDifference(kind, find_cause(old, new, changed))


def find_kind(old: TurnRun, new: TurnRun) -> Kind:
    """What differs first."""
    if old.unanswered or new.unanswered:
        return Kind.NEEDS_MODEL
    for kind, before, after in (
        (Kind.ERROR, old.error, new.error),
        (Kind.INTENT, old.intent, new.intent),
        (Kind.STATE, old.state, new.state),
        (Kind.ACTION, old.actions, new.actions),
        (Kind.ANSWER, old.answer, new.answer),
        (Kind.VALUES, old.remembered, new.remembered),
    ):
        if before != after:
            return kind
    return Kind.SAME


def find_cause(old: TurnRun, new: TurnRun, changed: Collection[RowKey]) -> RowKey | None:
    """The row that caused a difference.

    Of the rows that decided in one run only it is the changed one, else a changed one that decided in both. If a single
    row was changed, it is that row. Else it is the first row that decided in one run only; null if there is none.
    """
    if len(changed) == 1:
        return next(iter(changed))
    differing = list(_list_differing_rows(old.decided, new.decided))
    deciding = [_key(row) for row in (*differing, *new.decided, *old.decided)]
    if cause := next((row for row in deciding if row in changed), None):
        return cause
    return _key(differing[0]) if differing else None


def _list_differing_rows(old: Sequence[DecidingRow], new: Sequence[DecidingRow]) -> Iterator[DecidingRow]:
    """The rows that decided in one of the runs only: of the new one first."""
    yield from (row for row in new if row not in old)
    yield from (row for row in old if row not in new)


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
