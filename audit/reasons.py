"""Why a turn went as it did, in a few lines: of each decision what won, and what was tested and did not."""

from collections.abc import Iterable, Iterator, Mapping
from typing import Any, NamedTuple

from audit.expand import Event
from audit.why import why
from convengine import conf
from convengine.domain import rows
from convengine.domain.enums import phase_of
from convengine.domain.snapshot import Snapshot
from convengine.domain.text import excerpt
from convengine.rules.path_words import value_words
from convengine.rules.sentence import sentence

#: How many rows of a decision are told; `why?turn=N` of the API has all of them.
MOST = 3
#: What a decision is about, for people.
_SUBJECTS = {
    "POLICY": "Forbidden messages",
    "CLASSIFIER": "What the user wants",
    "SCHEMA": "Data to collect",
    "TEMPLATE": "Prompt",
    "RESPONSE": "Answer",
    "CONTAINER": "Data to fetch",
    "PENDING_ACTION": "Action",
    "TOOL": "Tool call",
}
#: Why a row that was tested did not win, for people; other codes say it themselves.
_REASONS = {
    "TYPE_CONDITION_NOT_MET": "its condition does not hold",
    "PATTERN": "its pattern is not in the message",
    "LOWER_PRIORITY": "another row comes first",
    "LESS_SPECIFIC": "another row fits more exactly",
    "INTENT_COLLISION": "rows of several intents fit",
    "ALREADY_RUN": "its task has run in this phase",
    "CONFIG_ROW_INVALID": "it cannot be used as it is written",
    "DISABLED": "it is switched off",
    "INTENT_DISABLED": "its intent is switched off",
    "PHASE": "it is for another phase",
    "SCOPE_INTENT": "it is for another intent",
    "SCOPE_STATE": "it is for another state",
    "STOPPED": "a rule before it ended the phase",
    "OUTRANKED": "another row won",
    "BELOW_MIN_SCORE": "its examples are not alike enough",
    "SEMANTIC_UNAVAILABLE": "there was nothing to compare its examples with",
    "NOT_ASKED": "nobody had to judge it",
}
#: How much of a rule is told.
_LONGEST = 180


class Told(NamedTuple):
    """A row that was looked at."""

    table: str
    pk: Any
    #: What it says: a rule as a sentence, else its description; may be blank.
    about: str
    #: Why it did not win, with the value that was compared; blank for one that did.
    reason: str = ""


class Reason(NamedTuple):
    """One decision: what it was about, the rows that won and those that were tested and did not."""

    subject: str
    won: tuple[Told, ...]
    lost: tuple[Told, ...]


def reasons(events: list[Event]) -> list[Reason]:
    """The decisions of a turn that rows were tested for, in order; a second pass that says the same is left out."""
    if not events:
        return []
    snapshot: Snapshot = conf.load("SNAPSHOT").at(events[0].row.config_version)
    return list(dict.fromkeys(_told(why(events, MOST)["decisions"], snapshot)))


def _told(decisions: Iterable[Mapping[str, Any]], snapshot: Snapshot) -> Iterator[Reason]:
    for decision in decisions:
        tested = [told_row(snapshot, decision["table"], one) for one in decision["candidates"] if not one["derived"]]
        # What the user wants is told also when no phrase fits: there it was that the turn took its way.
        if tested or decision["kind"] == "CLASSIFIER":
            won = tuple(row for row in tested if not row.reason)
            yield Reason(subject(decision), won, tuple(row for row in tested if row.reason))


def subject(decision: Mapping[str, Any]) -> str:
    """What a decision is about, for people."""
    phase = phase_of(decision["key"].get("phase"))
    return _SUBJECTS.get(decision["kind"]) or f"Rules {phase.label.lower() if phase else decision['source']}"


def told_row(snapshot: Snapshot, table: str, candidate: Mapping[str, Any]) -> Told:
    """A candidate of a decision, for people."""
    row = snapshot.row(rows.ROW_TYPE_OF[table], candidate["id"])
    about = excerpt(sentence(row), _LONGEST) if isinstance(row, rows.Rule) else candidate["description"] or ""
    return Told(table, candidate["id"], about, "" if candidate["matched"] else why_not(candidate))


def reason_words(code: str | None) -> str:
    """Why a row did not win, in words."""
    return _REASONS.get(code or "") or code or "not chosen"


def why_not(candidate: Mapping[str, Any]) -> str:
    """Why a candidate did not win, with the first value that spoke against it."""
    reason = reason_words(candidate["reason"])
    failed = next((one for one in candidate["operands"] if "path" in one and not one.get("result", True)), None)
    return f"{reason}: {failed['path']} is {value_words(failed.get('value'))}" if failed else reason
