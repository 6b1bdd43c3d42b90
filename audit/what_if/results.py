"""The results of a run: counts by group, and the turns of a group with old and new, which run again for it."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from itertools import islice
from typing import Any

from django.db.models import Count, QuerySet
from django.utils.http import urlencode

from audit import addresses
from audit.models import CeWhatIf, CeWhatIfTurn
from audit.narration.wording import label_row
from audit.what_if.engine import DIFFERENCES, ComparedTurn, ConfigurationPair, DifferenceKind, RowKey, WhatIfTurn
from audit.what_if.jobs import find_key
from audit.what_if.selection import read_turns
from convengine.engine.rules.row_names import name_row
from convengine.engine.text.difference import Difference, diff_json
from convengine.play.comparison import Aspect, compare_turns
from convengine.server.admin_site.record_columns import answer_text, row_link
from convengine.server.sessions.models import CeConversationHistory

#: Turns of a page: each of them runs twice.
PAGE = 20
#: What is told of a turn in a line.
_FACTS = (Aspect.ERROR, Aspect.INTENT, Aspect.STATE, Aspect.CALLS)
#: The most values that are listed for a turn.
_VALUES = 12
#: The group of later turns, whatever their kind.
AFTER = "AFTER"
#: Title and explanation of each group by its kind, in the order of the page.
GROUPS: Mapping[str, tuple[str, str]] = {
    DifferenceKind.ERROR: ("Error", "The turn fails on one side only, or with another error."),
    DifferenceKind.INTENT: ("Another intent", "The message leads to another intent."),
    DifferenceKind.STATE: ("Another state", "The intent is the same, and the conversation goes to another state."),
    DifferenceKind.ACTION: ("Another action", "Intent and state are the same. Other tools or tasks are called."),
    DifferenceKind.ANSWER: ("Only the answer", "Everything is the same except for the answer."),
    DifferenceKind.VALUES: ("Only remembered values", "The user sees the same. The next turn finds other values."),
    DifferenceKind.NEEDS_MODEL: (
        "Cannot be told",
        "These turns ask a model, tool or task something that was not recorded. What they would answer is unknown, so "
        "they are not counted.",
    ),
    DifferenceKind.NOT_REPLAYABLE: (
        "Cannot run again",
        "Their recordings are incomplete, so nothing can be said about them either.",
    ),
    AFTER: (
        "After a difference",
        "An earlier turn of these conversations led to another intent, state, value or action, so these messages would "
        "not have come like this. They are not counted.",
    ),
}
#: Groups by the call or the reason instead of the row.
_BY_NOTE = frozenset({DifferenceKind.NEEDS_MODEL, DifferenceKind.NOT_REPLAYABLE})


@dataclass(frozen=True)
class Cause:
    """The turns of a group with the same cause: a row, or what the note says."""

    kind: str
    count: int
    table: str = ""
    pk: str = ""
    note: str = ""

    @property
    def query(self) -> str:
        """The address of its turns. A difference by no single row has blank names; without names it is the group."""
        by_row = self.kind in DIFFERENCES
        given = {"kind": self.kind, "table": self.table, "row": self.pk, "note": self.note}
        return urlencode({name: text for name, text in given.items() if text or (by_row and name in ("table", "row"))})


@dataclass
class DifferenceGroup:
    """The turns in which the same differs first."""

    kind: str
    title: str
    help: str
    causes: list[Cause] = field(default_factory=list)

    @property
    def count(self) -> int:
        return sum(cause.count for cause in self.causes)

    @property
    def counts_as_difference(self) -> bool:
        return self.kind in DIFFERENCES


def read_groups(run: CeWhatIf) -> list[DifferenceGroup]:
    """The groups that have turns. One query."""
    groups = {kind: DifferenceGroup(kind, title, text) for kind, (title, text) in GROUPS.items()}
    names = ("is_after_difference", "kind", "table_name", "row_pk", "note")
    counted = run.results.values_list(*names).annotate(count=Count("id")).order_by("-count", *names)
    causes: dict[tuple[str, ...], int] = {}
    for is_after, kind, table, pk, note, count in counted:
        key = (AFTER, "", "", "") if is_after else (kind, table, pk, "")
        if kind in _BY_NOTE and not is_after:
            key = (kind, "", "", note)
        causes[key] = causes.get(key, 0) + count
    for (kind, table, pk, note), count in sorted(causes.items(), key=lambda item: (-item[1], item[0])):
        groups[kind].causes.append(Cause(kind, count, table, pk, note))
    return [group for group in groups.values() if group.causes]


def count_differences(groups: Sequence[DifferenceGroup]) -> int:
    """The turns that differ and count."""
    return sum(group.count for group in groups if group.counts_as_difference)


def count_untold(groups: Sequence[DifferenceGroup]) -> int:
    """The turns that may differ: nobody can tell."""
    return sum(group.count for group in groups if group.kind in _BY_NOTE)


def select_results(run: CeWhatIf, given: Mapping[str, str]) -> QuerySet[CeWhatIfTurn]:
    """The results of a group and a cause, as `Cause.query` names them; all without a group.

    A cause does not limit the group of later turns.
    """
    rows = run.results.order_by("id")
    kind = given.get("kind", "")
    if kind == AFTER:
        return rows.filter(is_after_difference=True)
    if kind:
        rows = rows.filter(kind=kind, is_after_difference=False)
    for name, column in (("table", "table_name"), ("row", "row_pk"), ("note", "note")):
        if name in given:
            rows = rows.filter(**{column: given[name]})
    return rows


@dataclass(frozen=True)
class OldAndNewTurn:
    """A turn with old and new beside each other."""

    row: CeWhatIfTurn
    record: CeConversationHistory | None
    result: ComparedTurn

    @property
    def message(self) -> str:
        return (self.record.user_input if self.record else None) or ""

    @property
    def turn_url(self) -> str:
        return addresses.turn_url(self.row.conversation_id, self.row.turn_no)

    @property
    def has_sides(self) -> bool:
        return self.result.old is not None and self.result.new is not None

    @property
    def differences(self) -> list[Difference]:
        """What differs apart from the answer: the aspects, and the first remembered values."""
        old, new = self.result.old, self.result.new
        if old is None or new is None:
            return []
        aspects = compare_turns(old.summary, new.summary, _FACTS)
        facts = [Difference((each.value,), _write(each, old), _write(each, new), each.label) for each in aspects]
        if old.unanswered or new.unanswered or not (old.remembered and new.remembered):
            return facts
        return [*facts, *islice(diff_json(old.remembered, new.remembered), _VALUES)]

    @property
    def unchanged(self) -> str:
        """Intent and state that are the same on both sides."""
        old, new = self.result.old, self.result.new
        if old is None or new is None:
            return ""
        pairs = [(aspect, new.summary.get(aspect)) for aspect in (Aspect.INTENT, Aspect.STATE)]
        words = [f"{aspect} {value}" for aspect, value in pairs if value and value == old.summary.get(aspect)]
        text = ", ".join(words)
        return text[:1].upper() + text[1:]

    @property
    def answers(self) -> tuple[str, str]:
        """The old and the new answer as texts; blank for a turn that failed or cannot run again."""
        old, new = self.result.old, self.result.new
        return (answer_text(old.answer) if old else "", answer_text(new.answer) if new else "")


def _write(aspect: Aspect, side: WhatIfTurn) -> str:
    value = ", ".join(side.action_names) if aspect is Aspect.CALLS else side.summary.get(aspect)
    return str(value or "–")


def show_turns(comparison: ConfigurationPair, rows: Sequence[CeWhatIfTurn]) -> list[OldAndNewTurn]:
    """Run turns again for a page, on the configurations as they are now. One query."""
    by_key = zip(rows, read_turns([find_key(row) for row in rows]), strict=True)
    return [
        OldAndNewTurn(row, record, comparison.compare_turn(key, record, is_after_difference=row.is_after_difference))
        for row, (key, record) in by_key
    ]


def link_row(cause: RowKey, comparison: ConfigurationPair | None) -> Any:
    """A link to a row, with the name that it has in the new configuration, or had in the old one; else without."""
    table, pk = cause
    for snapshot in (comparison.new, comparison.old) if comparison else ():
        if snapshot and (row := snapshot.find_row(table, pk)):
            label = label_row(table, pk, name_row(table, row))
            return row_link(table, pk, label[:1].upper() + label[1:])
    return row_link(table, pk)
