"""The reasons of a turn in a few lines: for each decision what won, and what was tested and did not match."""

from collections.abc import Iterable, Iterator, Mapping
from typing import Any, NamedTuple

from audit.narration import narrate_turn
from audit.narration.why import explain_decision, list_decisions
from audit.narration.wording import row_noun
from audit.record.events import Event
from convengine.engine.forms.stages import FIELDS_READ
from convengine.engine.rules.conditions.words import fact_name, value_words
from convengine.engine.rules.row_names import name_row
from convengine.engine.rules.sentence import describe_rule
from convengine.engine.text.compare import shorten
from convengine.engine.turn import rows
from convengine.engine.turn.enums import read_phase
from convengine.engine.turn.labels import in_words
from convengine.engine.turn.snapshot import Snapshot
from convengine.server.interfaces.configuration import configuration

#: Maximum rows per decision; `why?turn=N` of the API has all.
MOST = 3
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


class ReasonRow(NamedTuple):
    """A considered row."""

    table: str
    pk: Any
    #: Its content: a rule as a sentence, else its description; may be blank.
    about: str
    #: Its description; may be blank.
    title: str
    #: Why it did not win, with the compared value; blank for a winner.
    reason: str = ""


class Reason(NamedTuple):
    """One decision: its subject, the winners, and the tested rows that did not win."""

    subject: str
    winners: tuple[ReasonRow, ...]
    losers: tuple[ReasonRow, ...]
    #: What happened if there is no winner: "no phrase matched".
    without_winner: str


def list_reasons(events: list[Event], release: Snapshot | None = None) -> list[Reason]:
    """The decisions of a turn with tested rows, in order; repeated passes are left out.

    Without `release`, the configuration is read from the database.
    """
    if not events:
        return []
    snapshot: Snapshot = release or configuration().at(events[0].row.config_version or 0)
    decisions = (explain_decision(decision, snapshot, MOST) for decision in list_decisions(events))
    return list(dict.fromkeys(_build_reasons(decisions, snapshot)))


def describe_fields_read(events: list[Event]) -> list[str]:
    """What the form took from the message, and what it refused, in sentences."""
    return [sentence.text for sentence in narrate_turn(events) if sentence.kind == FIELDS_READ] if events else []


def _build_reasons(decisions: Iterable[Mapping[str, Any]], snapshot: Snapshot) -> Iterator[Reason]:
    for decision in decisions:
        tested = [
            describe_candidate(snapshot, decision["table"], candidate)
            for candidate in decision["candidates"]
            if not candidate["derived"]
        ]
        # The decision about the intent is shown even if no phrase matched, because it determines the turn.
        if tested or decision["kind"] == "CLASSIFIER":
            winners = tuple(row for row in tested if not row.reason)
            losers = tuple(row for row in tested if row.reason)
            yield Reason(decision_subject(decision), winners, losers, describe_no_winner(decision))


def decision_subject(decision: Mapping[str, Any]) -> str:
    """The subject of a decision."""
    phase = read_phase(decision["key"].get("phase"))
    return _SUBJECTS.get(decision["kind"]) or f"Rules {phase.label.lower() if phase else decision['source']}"


def describe_no_winner(decision: Mapping[str, Any]) -> str:
    """The outcome of a decision without a winner; rows may have matched and lost all the same."""
    return f"no {row_noun(decision['table'])} {'was chosen' if decision['counts']['matched'] else 'matched'}"


def role_label(role: str) -> str:
    """What a deciding row decided, by its role."""
    return _SUBJECTS.get(role) or in_words(role)


def describe_candidate(snapshot: Snapshot, table: str, candidate: Mapping[str, Any]) -> ReasonRow:
    """A candidate of a decision."""
    row = snapshot.row(rows.ROW_TYPE_OF[table], candidate["id"])
    title = name_row(table, row) if row else ""
    about = shorten(describe_rule(row), _LONGEST) if isinstance(row, rows.Rule) else candidate["description"] or title
    return ReasonRow(table, candidate["id"], about, title, "" if candidate["matched"] else describe_loss(candidate))


def reason_words(code: str | None) -> str:
    """Why a row did not win, in words."""
    return _REASONS.get(code or "") or code or "not chosen"


def describe_loss(candidate: Mapping[str, Any]) -> str:
    """Why a candidate did not win, with the first failed comparison."""
    reason = reason_words(candidate["reason"])
    failed = next(
        (candidate for candidate in candidate["operands"] if "path" in candidate and not candidate.get("result", True)),
        None,
    )
    return f"{reason}: {_actual(failed)}" if failed else reason


def _actual(operand: Mapping[str, Any]) -> str:
    """The actual value of a comparison: "vip is false", "reference is not set"."""
    value = operand.get("value")
    return f"{fact_name(operand['path'])} is {'not set' if value is None else value_words(value)}"
