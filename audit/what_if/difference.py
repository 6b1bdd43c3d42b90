"""What differs first between a turn on two configurations, and the row that caused it. Pure functions."""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum

from convengine.engine.turn.recording import name_call
from convengine.engine.turn.snapshot import Snapshot
from convengine.engine.turn.turn import DecidingRow
from convengine.json_value import Json
from convengine.play.comparison import Aspect, Summary
from convengine.server.admin_site.record_columns import answer_text

#: Table and primary key as text.
RowKey = tuple[str, str]


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
