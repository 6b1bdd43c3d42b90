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
    "ROW_INVALID": "it cannot be used",
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
        tested = [_row(snapshot, decision["table"], one) for one in decision["candidates"] if not one["derived"]]
        # What the user wants is told also when no phrase fits: there it was that the turn took its way.
        if tested or decision["kind"] == "CLASSIFIER":
            won = tuple(row for row in tested if not row.reason)
            yield Reason(_subject(decision), won, tuple(row for row in tested if row.reason))


def _subject(decision: Mapping[str, Any]) -> str:
    phase = phase_of(decision["key"].get("phase"))
    return _SUBJECTS.get(decision["kind"]) or f"Rules {phase.label.lower() if phase else decision['source']}"


def _row(snapshot: Snapshot, table: str, candidate: Mapping[str, Any]) -> Told:
    row = snapshot.row(rows.ROW_TYPE_OF[table], candidate["id"])
    about = excerpt(sentence(row), _LONGEST) if isinstance(row, rows.Rule) else candidate["description"] or ""
    return Told(table, candidate["id"], about, "" if candidate["matched"] else _why_not(candidate))


def _why_not(candidate: Mapping[str, Any]) -> str:
    reason = _REASONS.get(candidate["reason"] or "") or candidate["reason"] or "not chosen"
    failed = next((one for one in candidate["operands"] if "path" in one and not one.get("result", True)), None)
    return f"{reason}: {failed['path']} is {value_words(failed.get('value'))}" if failed else reason
