"""The decisions of a turn for people: subject, winners, tested rows, and the rest."""

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from django.utils.http import urlencode
from django.utils.safestring import SafeString

from audit.narration import why
from audit.narration.reasons import ReasonRow, decision_subject, describe_candidate, describe_no_winner, reason_words
from audit.narration.session_values import EXCERPT_SIZE, excerpt_value, value_text
from audit.narration.why import explain_decision, list_decisions
from audit.narration.wording import row_name
from audit.record.events import Event
from convengine.engine.rules.conditions.words import comparison_sentence
from convengine.engine.text.invisible import reveal_invisible
from convengine.engine.turn.enums import DecisionKind, read_phase
from convengine.engine.turn.labels import in_words
from convengine.engine.turn.snapshot import Snapshot
from convengine.engine.turn.stage import Family
from convengine.server.admin_site.record_columns import row_link

Json = Any
#: How many rows of a decision are shown, and how many on demand; the rest is counted by reason.
DEFAULT_LIMIT, FULL_LIMIT = 25, 1000
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
    """One comparison: in words, with its path and the found value."""

    text: str
    path: str
    value: str
    holds: bool
    #: The comparison and its value as they are stored, if the texts shorten them.
    whole: str = ""


@dataclass(frozen=True)
class Candidate:
    """A row that could have decided."""

    row: ReasonRow
    won: bool
    operands: Sequence[Operand]
    #: True if the reason was computed from the release, not stored.
    derived: bool

    @property
    def name(self) -> str:
        """The kind of the row and its number."""
        return row_name(self.row.table, self.row.pk)

    @property
    def title(self) -> str:
        """The name of the row."""
        return self.row.title or self.name

    @property
    def about(self) -> str:
        """The content of the row, if its title does not contain it."""
        return "" if self.row.about == self.row.title else self.row.about

    @property
    def link(self) -> SafeString:
        """The title, with a link to the row as it is now."""
        return row_link(self.row.table, self.row.pk, self.title)

    @property
    def query(self) -> str:
        """The query for the page of past rows."""
        return urlencode({"table": self.row.table, "row": self.row.pk})


@dataclass(frozen=True)
class Decision:
    """One choice."""

    seq: int
    title: str
    family: str
    #: The intent, state and the like of the decision.
    key: Sequence[tuple[str, str]]
    winners: Sequence[Candidate]
    losers: Sequence[Candidate]
    #: Rows that are not shown, by reason.
    omitted: Sequence[tuple[str, int]]
    #: What happened if there is no winner.
    without_winner: str
    #: How many tested rows matched and did not win, and how many did not match; whether they are shown or not.
    matched: int
    unmatched: int

    @property
    def more(self) -> int:
        """The number of rows that are not shown."""
        return sum(count for _, count in self.omitted)

    @property
    def tested(self) -> int:
        """The number of tested rows that did not win."""
        return self.matched + self.unmatched


def build_decisions(events: Sequence[Event], snapshot: Snapshot | None, limit: int = DEFAULT_LIMIT) -> list[Decision]:
    """The decisions of a turn, in order; `snapshot` is its release.

    Without tested rows, rows are only listed with the larger limit, because the reason of each must be computed.
    """
    if snapshot is None:
        return []
    return [
        _build_decision(decision, snapshot, limit if limit > DEFAULT_LIMIT or _has_tested_rows(decision) else 0)
        for decision in list_decisions(events)
    ]


def _has_tested_rows(decision: why.Decision) -> bool:
    return bool(decision.winners or decision.payload.get("candidates"))


def _build_decision(decision: why.Decision, snapshot: Snapshot, limit: int) -> Decision:
    explained = explain_decision(decision, snapshot, limit)
    candidates = [_build_candidate(snapshot, explained["table"], candidate) for candidate in explained["candidates"]]
    key = [_describe_key(name, value) for name, value in explained["key"].items() if value not in (None, "", False)]
    omitted = [(reason_words(code), count) for code, count in explained["omitted"].items()]
    return Decision(
        explained["seq"],
        decision_subject(explained) + (f", pass {explained['pass']}" if (explained["pass"] or 1) > 1 else ""),
        _FAMILIES[explained["kind"]].value,
        key,
        [candidate for candidate in candidates if candidate.won],
        [candidate for candidate in candidates if not candidate.won],
        sorted(omitted, key=lambda pair: -pair[1]),
        describe_no_winner(explained),
        explained["counts"]["matched"],
        explained["counts"]["unmatched"],
    )


def _describe_key(name: str, value: Json) -> tuple[str, str]:
    """The intent, state and the like of a decision, in words."""
    phase = read_phase(value) if name == "phase" else None
    return in_words(name).lower(), phase.label if phase else excerpt_value(value)


def _build_candidate(snapshot: Snapshot, table: str, candidate: Mapping[str, Json]) -> Candidate:
    operands = [
        built for operand in candidate["operands"] if isinstance(operand, Mapping) for built in _read_operand(operand)
    ]
    return Candidate(
        describe_candidate(snapshot, table, candidate), bool(candidate["matched"]), operands, bool(candidate["derived"])
    )


def _read_operand(operand: Mapping[str, Json]) -> Iterator[Operand]:
    """The comparisons of a candidate: a condition, or how well a sentence matched."""
    if "score" in operand:
        yield from _describe_similarity(operand)
    else:
        yield (
            Operand(
                comparison_sentence(
                    str(operand.get("path", "")),
                    str(operand.get("op", "")),
                    operand.get("literal"),
                    other=operand.get("literalPath"),
                ),
                str(operand.get("path", "")),
                excerpt_value(operand.get("value")) or "not set",
                bool(operand.get("result", True)),
                _show_whole(operand),
            )
        )


def _show_whole(operand: Mapping[str, Json]) -> str:
    long = max(len(value_text(operand.get(name))) for name in ("literal", "value")) > EXCERPT_SIZE
    compared = {name: operand[name] for name in ("path", "op", "literal", "value") if operand.get(name) is not None}
    return reveal_invisible(json.dumps(compared, indent=2, ensure_ascii=False, default=str)) if long else ""


def _describe_similarity(operand: Mapping[str, Json]) -> Iterator[Operand]:
    """How well a message matched a phrase or an example, and the words that counted."""
    enough = float(operand["score"]) >= float(operand.get("minScore") or 0)
    yield Operand(f"the score is at least {operand.get('minScore')}", "score", excerpt_value(operand["score"]), enough)
    shares = operand.get("words") or {}
    for name, words in (
        ("the intent has these words", sorted(shares, key=lambda word: (-float(shares[word]), word))),
        ("the intent has the other words", operand.get("otherWords")),
    ):
        if words:
            yield Operand(name, "", ", ".join(map(str, words)), name == "the intent has these words")
