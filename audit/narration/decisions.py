"""The decisions of a turn for people: subject, winners, tested rows that lost, and why; the rest is counted."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from django.utils.http import urlencode
from django.utils.safestring import SafeString

from audit.narration import why
from audit.narration.rule_narrators import dump_comparison
from audit.narration.session_values import EXCERPT_SIZE, excerpt_value, value_text
from audit.narration.why import explain_decision, list_decisions
from audit.narration.wording import row_name, row_noun
from audit.record.events import Event
from convengine.engine.rules.conditions.words import comparison_sentence, fact_name, value_words
from convengine.engine.rules.row_names import name_row
from convengine.engine.rules.sentence import describe_rule
from convengine.engine.text.compare import shorten
from convengine.engine.turn import rows
from convengine.engine.turn.enums import DecisionKind, read_phase
from convengine.engine.turn.labels import in_words
from convengine.engine.turn.snapshot import Snapshot
from convengine.engine.turn.stage import Family
from convengine.json_value import Json
from convengine.server.admin_site.record_columns import row_link
from convengine.server.interfaces.configuration import configuration

#: How many rows of a decision are shown, on demand, and in a few lines; the rest is counted by reason.
DEFAULT_LIMIT, FULL_LIMIT, BRIEF_LIMIT = 25, 1000, 3
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


#: The subjects of decisions.
_SUBJECTS = {
    "POLICY": "Policies",
    "CLASSIFIER": "Intent",
    "SCHEMA": "Form",
    "TEMPLATE": "Prompt template",
    "RESPONSE": "Answer",
    "CONTAINER": "Data to fetch",
    "PENDING_ACTION": "Pending action",
    "TOOL": "Tool call",
}
#: Why a tested row did not win; other codes are shown unchanged.
_REASONS = {
    "TYPE_CONDITION_NOT_MET": "its condition is not met",
    "OVERRIDDEN_BY": "a more specific rule or form decided about the intent or state before",
    "PATTERN": "it does not match the message",
    "LOWER_PRIORITY": "another one comes first by priority",
    "LESS_SPECIFIC": "another one is more specific",
    "INTENT_COLLISION": "phrases of several intents match",
    "ALREADY_RUN": "its task has already run in this phase",
    "CONFIG_ROW_INVALID": "it is invalid",
    "DISABLED": "it is disabled",
    "INTENT_DISABLED": "its intent is disabled",
    "PHASE": "it is for another phase",
    "SCOPE_INTENT": "it is for another intent",
    "SCOPE_STATE": "it is for another state",
    "STOPPED": "an earlier rule stopped the phase",
    "OUTRANKED": "another one was chosen",
    "BELOW_MIN_SCORE": "it is not similar enough",
    "PHRASE_NOT_BEST": "another phrase fits better, or it fits too little",
    "SEMANTIC_UNAVAILABLE": "no comparison of meaning was available",
    "NOT_ASKED": "it was not needed",
}
#: Maximum length of a rule's sentence.
_LONGEST = 180


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

    table: str
    pk: Json
    #: Its content: a rule as a sentence, else its description; may be blank.
    about: str
    #: Its name; may be blank.
    title: str
    #: Why it did not win, with the compared value; blank for a winner.
    reason: str
    operands: tuple[Operand, ...]
    #: True if the reason was computed from the release, not stored.
    derived: bool

    @property
    def name(self) -> str:
        """The kind of the row and its number."""
        return row_name(self.table, self.pk)

    @property
    def label(self) -> str:
        """The name of the row, else its kind and number."""
        return self.title or self.name

    @property
    def content(self) -> str:
        """The content of the row, if its name does not say it."""
        return "" if self.about == self.title else self.about

    @property
    def link(self) -> SafeString:
        """The name, with a link to the row as it is now."""
        return row_link(self.table, self.pk, self.label)

    @property
    def content_link(self) -> SafeString:
        """The content, with the same link."""
        return row_link(self.table, self.pk, self.about or self.name)

    @property
    def query(self) -> str:
        """The query for the page of past rows."""
        return urlencode({"table": self.table, "row": self.pk})


@dataclass(frozen=True)
class Decision:
    """One choice."""

    seq: int
    subject: str
    #: The number of the pass of rules.
    number: int
    family: str
    #: The intent, state and the like of the decision.
    key: tuple[tuple[str, str], ...]
    winners: tuple[Candidate, ...]
    losers: tuple[Candidate, ...]
    #: Rows that are not shown, by reason.
    omitted: tuple[tuple[str, int], ...]
    #: What happened if there is no winner: "no phrase matched".
    without_winner: str
    #: How many tested rows matched and did not win, and how many did not match; whether they are shown or not.
    matched: int
    unmatched: int

    @property
    def title(self) -> str:
        """The subject, with the number of a later pass."""
        return self.subject + (f", pass {self.number}" if self.number > 1 else "")

    @property
    def loser_noun(self) -> str:
        """What those that were not chosen are: "rules", or "rule" for one."""
        return row_noun(self.losers[0].table, len(self.losers)) if self.losers else ""

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


def list_reasons(events: Sequence[Event], release: Snapshot | None = None) -> list[Decision]:
    """The decisions with tested rows, each with those rows alone; repeated passes are left out.

    The decision about the intent is listed even if no phrase matched, because it determines the turn.
    Without `release`, the configuration is read from the database.
    """
    if not events:
        return []
    snapshot: Snapshot = release or configuration().at(events[0].row.config_version or 0)
    reasons: dict[Any, Decision] = {}
    for decision in (_build_decision(each, snapshot, BRIEF_LIMIT) for each in list_decisions(events)):
        losers = tuple(row for row in decision.losers if not row.derived)
        if decision.winners or losers or decision.family == Family.INTENT:
            key = (decision.subject, decision.winners, losers, decision.without_winner)
            reasons.setdefault(key, replace(decision, losers=losers))
    return list(reasons.values())


def role_label(role: str) -> str:
    """What a deciding row decided, by its role."""
    return _SUBJECTS.get(role) or in_words(role)


def _has_tested_rows(decision: why.Decision) -> bool:
    return bool(decision.winners or decision.payload.get("candidates"))


def _build_decision(decision: why.Decision, snapshot: Snapshot, limit: int) -> Decision:
    explained = explain_decision(decision, snapshot, limit)
    table, kind, counts = explained["table"], explained["kind"], explained["counts"]
    candidates = [_build_candidate(snapshot, table, candidate) for candidate in explained["candidates"]]
    phase = read_phase(explained["key"].get("phase"))
    key = [_describe_key(name, value) for name, value in explained["key"].items() if value not in (None, "", False)]
    omitted = [(_describe_reason(code), count) for code, count in explained["omitted"].items()]
    return Decision(
        explained["seq"],
        _SUBJECTS.get(kind) or f"Rules {phase.label.lower() if phase else explained['source']}",
        explained["pass"] or 1,
        _FAMILIES[kind].value,
        tuple(key),
        tuple(row for row in candidates if not row.reason),
        tuple(row for row in candidates if row.reason),
        tuple(sorted(omitted, key=lambda pair: -pair[1])),
        f"no {row_noun(table)} {'was chosen' if counts['matched'] else 'matched'}",
        counts["matched"],
        counts["unmatched"],
    )


def _describe_key(name: str, value: Json) -> tuple[str, str]:
    """The intent, state and the like of a decision, in words."""
    phase = read_phase(value) if name == "phase" else None
    return in_words(name).lower(), phase.label if phase else excerpt_value(value)


def _build_candidate(snapshot: Snapshot, table: str, candidate: Mapping[str, Json]) -> Candidate:
    row = snapshot.row(rows.ROW_TYPE_OF[table], candidate["id"])
    title = name_row(table, row) if row else ""
    about = shorten(describe_rule(row), _LONGEST) if isinstance(row, rows.Rule) else candidate["description"] or title
    compared = [operand for operand in candidate["operands"] if isinstance(operand, Mapping)]
    return Candidate(
        table,
        candidate["id"],
        about,
        title,
        "" if candidate["matched"] else _describe_loss(candidate["reason"], compared),
        tuple(built for operand in compared for built in _read_operand(operand)),
        bool(candidate["derived"]),
    )


def _describe_reason(code: str | None) -> str:
    """Why a row did not win, in words."""
    return _REASONS.get(code or "") or code or "not chosen"


def _describe_loss(code: str | None, compared: Sequence[Mapping[str, Json]]) -> str:
    """Why a candidate did not win, with the actual value of the first failed comparison: "vip is false"."""
    failed = next((operand for operand in compared if "path" in operand and not operand.get("result", True)), None)
    if failed is None:
        return _describe_reason(code)
    value = failed.get("value")
    actual = "not set" if value is None else value_words(value)
    return f"{_describe_reason(code)}: {fact_name(failed['path'])} is {actual}"


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
    return dump_comparison(operand, indent=2) if long else ""


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
