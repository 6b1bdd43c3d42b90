"""The decisions of a turn: what was chosen, and why each other row was not; stored, or derived from the release."""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import islice
from typing import Any

from django.utils.http import urlencode
from django.utils.safestring import SafeString

from audit.narration.rule_narrators import dump_comparison
from audit.narration.wording import EXCERPT_SIZE, excerpt_value, row_name, row_noun
from audit.record.events import Event
from convengine.engine.cached_property import cached_property
from convengine.engine.rules.conditions.values import write_text
from convengine.engine.rules.conditions.words import comparison_sentence, fact_name, value_words
from convengine.engine.rules.explain import OUTRANKED, ExplainedRow, explain, find_row_fault
from convengine.engine.rules.row_names import name_row
from convengine.engine.rules.sentence import describe_rule
from convengine.engine.rules.stages import RULE_MATCH, RULE_NO_MATCH
from convengine.engine.rules.verdict import ROW_INVALID
from convengine.engine.text.compare import shorten
from convengine.engine.turn import rows
from convengine.engine.turn.enums import DecisionKind, read_phase
from convengine.engine.turn.labels import format_confidence, in_words
from convengine.engine.turn.snapshot import Snapshot
from convengine.engine.turn.stage import Family
from convengine.engine.turn.stages import DECISION
from convengine.json_value import Json
from convengine.server.admin_site.record_columns import row_link
from convengine.server.interfaces.configuration import configuration

#: How many rows of a decision are shown, on demand, and in a few lines; the rest is counted by reason.
DEFAULT_LIMIT, FULL_LIMIT, BRIEF_LIMIT = 25, 1000, 3
#: The table of each kind of decision, and the part of the turn.
_KINDS: Mapping[str, tuple[type[rows.Row], Family]] = {
    DecisionKind.POLICY: (rows.Policy, Family.POLICY),
    DecisionKind.CLASSIFIER: (rows.Classifier, Family.INTENT),
    DecisionKind.SCHEMA: (rows.OutputSchema, Family.DATA),
    DecisionKind.TEMPLATE: (rows.PromptTemplate, Family.RESPONSE),
    DecisionKind.RESPONSE: (rows.Response, Family.RESPONSE),
    DecisionKind.CONTAINER: (rows.ContainerConfig, Family.DATA),
    DecisionKind.PENDING_ACTION: (rows.PendingAction, Family.ACTION),
    DecisionKind.TOOL: (rows.DirectTool, Family.TOOL),
    DecisionKind.RULE: (rows.Rule, Family.RULE),
}
#: Reasons of rows that matched, and did not win.
_MATCHED = frozenset({"LOWER_PRIORITY", "LESS_SPECIFIC", "INTENT_COLLISION", "ALREADY_RUN", "AMBIGUOUS", OUTRANKED})
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
    "AMBIGUOUS": "several actions match, and the message names none",
    "ALREADY_RUN": "its task has already run in this phase",
    "CONFIG_ROW_INVALID": "it is invalid",
    "DISABLED": "it is disabled",
    "INTENT_DISABLED": "its intent is disabled, or the channel does not have it",
    "INTENT_NOT_IN_CHANNEL": "the channel does not have its intent",
    "PHASE": "it is for another phase",
    "SCOPE_INTENT": "it is for another intent",
    "SCOPE_STATE": "it is for another state",
    "STOPPED": "an earlier rule stopped the phase",
    "OUTRANKED": "another one was chosen",
    "BELOW_MIN_SCORE": "the classifier is not sure enough",
    "PHRASE_NOT_BEST": "another phrase is nearer",
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
    #: None for a value that was not compared.
    holds: bool | None
    #: The comparison and its value as they are stored, if the texts shorten them.
    whole: str = ""


@dataclass(frozen=True)
class NarratedCandidate:
    """A row that could have decided. Its reason is stored, or `derived` from the release."""

    table: str
    explained: ExplainedRow
    _snapshot: Snapshot = field(repr=False)

    @property
    def pk(self) -> Json:
        return self.explained.row_id

    @property
    def derived(self) -> bool:
        return self.explained.derived

    @cached_property
    def row(self) -> Any:
        """The row as the turn had it. Returns None if the release does not have it."""
        return self._snapshot.row(rows.ROW_TYPE_OF[self.table], self.pk)

    @property
    def title(self) -> str:
        """Its name; may be blank."""
        return name_row(self.table, self.row) if self.row else ""

    @property
    def about(self) -> str:
        """Its content: a rule as a sentence, else its description; may be blank."""
        if isinstance(self.row, rows.Rule):
            return shorten(describe_rule(self.row), _LONGEST)
        return getattr(self.row, "description", None) or self.title

    @property
    def name(self) -> str:
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
    def query(self) -> str:
        return urlencode({"table": self.table, "row": self.pk})

    @property
    def _compared(self) -> list[Mapping[str, Json]]:
        return [operand for operand in self.explained.operands if isinstance(operand, Mapping)]

    @property
    def reason(self) -> str:
        """Why it did not win, with the value of the first failed comparison: "vip is false"; blank for a winner."""
        if self.explained.matched:
            return ""
        reason = _describe_reason_code(self.explained.reason)
        failed = (each for each in self._compared if "path" in each and not each.get("result", True))
        if (first := next(failed, None)) is None:
            return reason
        value = first.get("value")
        return f"{reason}: {fact_name(first['path'])} is {'not set' if value is None else value_words(value)}"

    @property
    def operands(self) -> list[Operand]:
        return [operand for compared in self._compared for operand in _read_operand(compared)]

    def as_json(self) -> dict[str, Json]:
        """The row and its result with codes."""
        explained, snapshot = self.explained, self._snapshot
        fault = find_row_fault(snapshot, self.row) if self.row and explained.reason == ROW_INVALID else None
        return {
            "id": self.pk,
            "configVersion": snapshot.config_version,
            "description": getattr(self.row, "description", None),
            "matched": explained.matched,
            "reason": explained.reason,
            "operands": list(explained.operands),
            "derived": explained.derived,
            **({"fault": fault.to_json()} if fault else {}),
        }


@dataclass
class NarratedChoice:
    """What the events say of one choice: a DECISION event, or one pass of a phase of rules."""

    kind: str
    event: Event
    payload: dict[str, Json]
    #: The source of the stage, and the number of the pass (rules only).
    source: str | None = None
    number: int | None = None
    winners: list[Json] = field(default_factory=list)


@dataclass(frozen=True)
class Decision:
    """One choice of a turn with the rows of its release."""

    choice: NarratedChoice
    table: str
    #: The listed rows: winners, then tested ones that lost, then those whose reason is derived.
    candidates: Sequence[NarratedCandidate]
    #: The rows that are not listed, by the code of the reason.
    rest: Mapping[str | None, int]
    #: How many tested rows won, matched and did not win, and did not match; whether they are listed or not.
    chosen: int
    matched: int
    unmatched: int

    @property
    def subject(self) -> str:
        phase = read_phase(self.choice.payload["key"].get("phase"))
        return _SUBJECTS.get(self.choice.kind) or f"Rules {phase.label.lower() if phase else self.choice.source}"

    @property
    def title(self) -> str:
        """The subject, with the number of a later pass of rules."""
        number = self.choice.number or 1
        return self.subject + (f", pass {number}" if number > 1 else "")

    @property
    def family(self) -> str:
        return _KINDS[self.choice.kind][1].value

    @property
    def _looked_for(self) -> dict[str, Json]:
        return {
            name: value for name, value in self.choice.payload["key"].items() if name not in ("userText", "phrases")
        }

    @property
    def key(self) -> list[tuple[str, str]]:
        """The intent, state and the like of the decision, in words."""
        given = ((name, value) for name, value in self._looked_for.items() if value not in (None, "", False))
        return [_describe_key(name, value) for name, value in given]

    @property
    def winners(self) -> list[NarratedCandidate]:
        return [row for row in self.candidates if row.explained.matched]

    @property
    def losers(self) -> list[NarratedCandidate]:
        """The listed rows that did not win."""
        return [row for row in self.candidates if not row.explained.matched]

    @property
    def without_winner(self) -> str:
        """What happened if there is no winner: "no phrase matched"."""
        return f"no {row_noun(self.table)} {'was chosen' if self.matched else 'matched'}"

    @property
    def omitted(self) -> list[tuple[str, int]]:
        """How many rows are not listed, by reason in words, the most frequent first."""
        return [(_describe_reason_code(code), count) for code, count in Counter(self.rest).most_common()]

    @property
    def more(self) -> int:
        return sum(self.rest.values())

    @property
    def tested(self) -> int:
        """The number of tested rows that did not win."""
        return self.matched + self.unmatched

    def as_json(self) -> dict[str, Json]:
        choice = self.choice
        return {
            "seq": choice.event.row.seq,
            "step": choice.event.step,
            "kind": choice.kind,
            "source": choice.source,
            "pass": choice.number,
            "table": self.table,
            "key": self._looked_for,
            "winners": choice.winners,
            "cut": choice.payload.get("cut") or {},
            "candidates": [row.as_json() for row in self.candidates],
            "omitted": dict(self.rest),
            "counts": {"chosen": self.chosen, "matched": self.matched, "unmatched": self.unmatched},
        }


def build_decisions(
    events: Sequence[Event], snapshot: Snapshot, limit: int, *, is_untested_listed: bool = True
) -> list[Decision]:
    """The decisions of a turn, in order; `snapshot` is its release. At most `limit` rows of each are listed.

    The reason of each row that was not tested must be computed. Without `is_untested_listed`, a decision that has
    neither winners nor tested rows lists none.
    """
    return [
        _build_decision(
            choice,
            snapshot,
            limit if is_untested_listed or choice.winners or choice.payload.get("candidates") else 0,
        )
        for choice in list_choices(events)
    ]


def list_reasons(events: Sequence[Event], release: Snapshot | None = None) -> list[Decision]:
    """The decisions with tested rows, each with at most three of those rows alone; repeated passes are left out.

    The decision about the intent is listed even if no phrase matched, because it determines the turn.
    Without `release`, the configuration is read from the database.
    """
    if not events:
        return []
    snapshot: Snapshot = release or configuration().at(events[0].row.config_version or 0)
    reasons: dict[Any, Decision] = {}
    for decision in build_decisions(events, snapshot, BRIEF_LIMIT, is_untested_listed=False):
        tested = [row for row in decision.candidates if not row.derived]
        if tested or decision.family == Family.INTENT:
            key = (decision.subject, decision.without_winner, *((row.pk, row.reason) for row in tested))
            reasons.setdefault(key, replace(decision, candidates=tested))
    return list(reasons.values())


def role_label(role: str) -> str:
    """What a deciding row decided, by its role."""
    return _SUBJECTS.get(role) or in_words(role)


def list_choices(events: Sequence[Event]) -> list[NarratedChoice]:
    """The choices in a turn's events. The events of one pass of rules are one choice."""
    choices: list[NarratedChoice] = []
    is_pass_open = False
    for event in events:
        if event.name == DECISION:
            winner = event.payload.get("winner")
            winners = [winner] if winner is not None else []
            choices.append(NarratedChoice(event.payload["kind"], event, event.payload, winners=winners))
            is_pass_open = False
        elif event.name in (RULE_MATCH, RULE_NO_MATCH):
            source, number = event.row.stage.partition(" (")[2].rstrip(")"), event.payload.get("pass")
            if not is_pass_open or (choices[-1].source, choices[-1].number) != (source, number):
                choices.append(_begin_pass(event, source, number))
            _add_event(choices[-1], event)
            is_pass_open = event.name == RULE_MATCH or "candidates" not in event.payload
    return choices


def _begin_pass(event: Event, source: str, number: int | None) -> NarratedChoice:
    """The choice of the pass with this number that begins with this event, with no rule yet."""
    key = event.payload.get("key") or {
        "phase": event.payload.get("rulePhase"),
        "intent": event.payload.get("intent"),
        "state": event.payload.get("state"),
    }
    payload: dict[str, Json] = {"key": key, "candidates": [], "cut": {}}
    return NarratedChoice(DecisionKind.RULE.value, event, payload, source, number)


def _add_event(rule_pass: NarratedChoice, event: Event) -> None:
    """Add the rules of an event to their pass: one that held, all that did not hold, or one of these."""
    payload, candidates = event.payload, rule_pass.payload["candidates"]
    if event.name == RULE_MATCH:
        rule_pass.winners.append(payload["ruleId"])
        candidates += payload.get("candidates") or [{"id": payload["ruleId"], "matched": True}]
    elif "candidates" in payload:
        stored = {candidate["id"] for candidate in candidates}
        candidates += [candidate for candidate in payload["candidates"] if candidate["id"] not in stored]
        rule_pass.payload["cut"] = payload.get("cut") or {}
        if "stoppedBy" in payload:
            rule_pass.payload["stoppedBy"] = payload["stoppedBy"]
    elif "ruleId" in payload:
        # RulesStep/AUDIT_NO_MATCH = EACH: one event per rule that did not hold.
        operands = payload.get("operands") or []
        candidates.append(
            {"id": payload["ruleId"], "matched": False, "reason": payload.get("reason"), "operands": operands}
        )


def _build_decision(choice: NarratedChoice, snapshot: Snapshot, limit: int) -> Decision:
    """One decision with at most `limit` candidates, the others counted; with 0 no row is read."""
    table = _KINDS[choice.kind][0].table
    text = choice.event.state.get("userText")
    if choice.payload["key"].get("queryRewritten"):
        text = choice.event.state.get("standaloneQuery")
    explained = explain(snapshot, choice.payload, text) if limit else []
    # The event names the winners; whatever else is known of a row agrees with that.
    winning = {str(winner) for winner in choice.winners}
    judged = [_call_winner(row) if str(row.row_id) in winning else _call_loser(row) for row in explained]
    tested = [row for row in judged if not row.derived]
    winners, losers = ([row for row in tested if row.matched is is_winner] for is_winner in (True, False))
    derived = islice((row for row in judged if row.derived), max(limit - len(tested), 0))
    listed = [*winners, *losers, *derived][:limit]
    matched = sum(row.reason in _MATCHED for row in losers)
    return Decision(
        choice,
        table,
        [NarratedCandidate(table, row, snapshot) for row in listed],
        Counter(row.reason for row in judged) - Counter(row.reason for row in listed),
        len(winners),
        matched,
        len(losers) - matched,
    )


def _call_winner(row: ExplainedRow) -> ExplainedRow:
    return ExplainedRow(row.row_id, True, None, row.operands, derived=False)


def _call_loser(row: ExplainedRow) -> ExplainedRow:
    return replace(row, matched=False, reason=row.reason or OUTRANKED) if row.matched else row


def _describe_key(name: str, value: Json) -> tuple[str, str]:
    phase = read_phase(value) if name == "phase" else None
    return in_words(name).lower(), phase.label if phase else excerpt_value(value)


def _describe_reason_code(code: str | None) -> str:
    return _REASONS.get(code or "") or code or "not chosen"


def _read_operand(operand: Mapping[str, Json]) -> Iterator[Operand]:
    """The comparisons of a candidate: a condition, or how sure the classifier was."""
    if "score" in operand:
        score, needed = float(operand["score"]), float(operand.get("minScore") or 0)
        text = f"the confidence is at least {format_confidence(needed)}"
        yield Operand(text, "score", format_confidence(score), score >= needed)
        if "likeness" in operand:
            yield Operand("likeness of message and phrase", "likeness", format_confidence(operand["likeness"]), None)
    else:
        is_shortened = max(len(write_text(operand.get(name))) for name in ("literal", "value")) > EXCERPT_SIZE
        path, op, other = str(operand.get("path", "")), str(operand.get("op", "")), operand.get("literalPath")
        yield Operand(
            comparison_sentence(path, op, operand.get("literal"), other=other),
            path,
            excerpt_value(operand.get("value")) or "not set",
            bool(operand.get("result", True)),
            dump_comparison(operand, indent=2) if is_shortened else "",
        )
