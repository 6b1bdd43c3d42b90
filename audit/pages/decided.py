"""The decisions of a turn for people: what was looked for, what won, what was tested and did not, and the rest."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from django.utils.http import urlencode

from audit import why
from audit.account.wording import row_name
from audit.expand import Event
from audit.pages.changes import short
from audit.reasons import Told, reason_words, subject, told_row
from audit.why import decisions, explained
from convengine import conf
from convengine.domain.enums import DecisionKind
from convengine.domain.snapshot import Snapshot
from convengine.domain.stages import Family
from convengine.rules.path_words import comparison_words

Json = Any
#: How many rows of a decision are spelt out, and how many on demand; the rest is counted by reason.
SHOWN, ALL = 25, 1000
_FAMILIES: Mapping[str, Family] = {
    DecisionKind.POLICY: Family.POLICY,
    DecisionKind.CLASSIFIER: Family.INTENT,
    DecisionKind.SCHEMA: Family.DATA,
    DecisionKind.CONTAINER: Family.DATA,
    DecisionKind.TEMPLATE: Family.RESPONSE,
    DecisionKind.RESPONSE: Family.RESPONSE,
    DecisionKind.PENDING_ACTION: Family.ACTION,
    DecisionKind.TOOL: Family.TOOL,
    DecisionKind.RULE: Family.RULE,
}


@dataclass(frozen=True)
class Operand:
    """One comparison: what was looked at, what stood there, and what it was compared with."""

    path: str
    value: str
    op: str
    literal: str
    holds: bool


@dataclass(frozen=True)
class Candidate:
    """A row that could have decided."""

    row: Told
    won: bool
    operands: Sequence[Operand]
    #: True where the reason follows from the release, and was not stored.
    derived: bool

    @property
    def name(self) -> str:
        """What the row is called."""
        return row_name(self.row.table, self.row.pk)

    @property
    def query(self) -> str:
        """How the page of rows as they were is asked for it."""
        return urlencode({"table": self.row.table, "row": self.row.pk})


@dataclass(frozen=True)
class Decision:
    """One choice."""

    seq: int
    title: str
    family: str
    #: What it was taken for: intent, state and the like.
    key: Sequence[tuple[str, str]]
    won: Sequence[Candidate]
    lost: Sequence[Candidate]
    #: Rows that are not spelt out, by reason.
    omitted: Sequence[tuple[str, int]]

    @property
    def more(self) -> int:
        """How many rows are not spelt out."""
        return sum(count for _, count in self.omitted)

    @property
    def tested(self) -> int:
        """How many rows were tested and did not win."""
        return sum(not one.derived for one in self.lost)


def decided(events: Sequence[Event], limit: int = SHOWN) -> list[Decision]:
    """The decisions of a turn, in order.

    Where nothing was tested, rows are only listed with the larger limit: of thousands of rows that were cut the reason
    of each has to be derived.
    """
    if not events:
        return []
    snapshot: Snapshot = conf.load("SNAPSHOT").at(events[0].row.config_version)
    return [_shown(one, snapshot, limit if limit > SHOWN or _tested(one) else 0) for one in decisions(events)]


def _tested(decision: why.Decision) -> bool:
    return bool(decision.winners or decision.payload.get("candidates"))


def _shown(decision: why.Decision, snapshot: Snapshot, limit: int) -> Decision:
    one = explained(decision, snapshot, limit)
    told = [_candidate(snapshot, one["table"], candidate) for candidate in one["candidates"]]
    key = [(name, short(value)) for name, value in one["key"].items() if value not in (None, "", False)]
    omitted = [(reason_words(code), count) for code, count in one["omitted"].items()]
    return Decision(
        one["seq"],
        subject(one) + (f", pass {one['pass']}" if (one["pass"] or 1) > 1 else ""),
        _FAMILIES[one["kind"]].value,
        key,
        [candidate for candidate in told if candidate.won],
        [candidate for candidate in told if not candidate.won],
        sorted(omitted, key=lambda pair: -pair[1]),
    )


def _candidate(snapshot: Snapshot, table: str, candidate: Mapping[str, Json]) -> Candidate:
    operands = [
        Operand(
            str(operand.get("path", "")),
            short(operand.get("value")) or "nothing",
            comparison_words(str(operand.get("op", ""))),
            short(operand.get("literal")),
            bool(operand.get("result", True)),
        )
        for operand in candidate["operands"]
        if isinstance(operand, Mapping)
    ]
    return Candidate(
        told_row(snapshot, table, candidate), bool(candidate["matched"]), operands, bool(candidate["derived"])
    )
