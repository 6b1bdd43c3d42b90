"""Why each row of a table did or did not decide, long after the turn (law 2, R30).

A turn stores the rows that it tested, and counts the rest. This page derives the reason of every other row from the
pinned release and the stored key, by the engine's own functions; a test holds derived equal to evaluated.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

from convengine.domain import rows
from convengine.domain.enums import DecisionKind
from convengine.domain.fault import Fault, unreadable_faults
from convengine.domain.scope import ANY, UNKNOWN
from convengine.domain.snapshot import Snapshot
from convengine.domain.text import code
from convengine.rules import cuts
from convengine.rules.bank import TextBank, Triple
from convengine.rules.conditions import unusable
from convengine.rules.listing import listing
from convengine.rules.verdict import ROW_INVALID

Json = Any
#: A row that could have decided, and another one did.
OUTRANKED = "OUTRANKED"


@dataclass(frozen=True)
class Explained:
    """What became of one row. `derived`: it was not stored, but follows from what was."""

    row_id: Any
    matched: bool
    reason: str | None
    operands: tuple[Mapping[str, Json], ...] = ()
    derived: bool = True


@dataclass(frozen=True)
class _Place:
    """Where a decision was taken, and on which text."""

    intent: str | None
    state: str | None
    text: str | None
    #: Why a row of examples that was not stored did not decide.
    semantic: str = cuts.NOT_ASKED


#: Why a row that was not stored did not decide.
_Reason = Callable[[Snapshot, Any, _Place], str]


def explain(snapshot: Snapshot, decision: Mapping[str, Json], user_text: str | None = None) -> list[Explained]:
    """What became of every row of the table that a decision was taken from, in primary-key order.

    `decision` is the payload of a DECISION or RULE_NO_MATCH event, `snapshot` the release that the event names.
    `user_text` is the text that patterns were tested on, where the event's key does not hold it. Raises ValueError
    for a kind of decision that is not explained here.
    """
    stored = {str(candidate["id"]): candidate for candidate in decision.get("candidates") or ()}
    if "kind" not in decision:
        reasons = _rule_reasons(snapshot, decision, user_text)
        return [_stored(rule, stored) or Explained(rule.pk, False, reasons(rule)) for rule in snapshot.rows(rows.Rule)]
    row_type, reason = _judge(str(decision["kind"]))
    place = _place(decision, user_text)
    return [
        _stored(row, stored) or Explained(row.pk, False, cuts.inactive(snapshot, row) or reason(snapshot, row, place))
        for row in snapshot.rows(row_type)
    ]


def fault_of(snapshot: Snapshot, row: rows.Row) -> Fault | None:
    """What makes a row unusable: field, value, remedy; null for a row that is sound, or of a table not judged here."""
    if found := next((fault for one, fault in unreadable_faults(snapshot) if one is row), None):
        return found
    if isinstance(row, rows.Rule):
        return unusable(row)
    if isinstance(row, (rows.Classifier, rows.Policy)):
        return TextBank(_triples([row])).invalid.get(row.pk)
    return None


def faults(snapshot: Snapshot) -> Iterator[tuple[rows.Row, Fault]]:
    """Every row that is meant to take part and cannot, with what makes it unusable."""
    yield from unreadable_faults(snapshot)
    yield from snapshot.table(rows.Rule).memo.get(
        "faults", lambda: [(rule, fault) for rule in snapshot.enabled(rows.Rule) if (fault := unusable(rule))]
    )
    for row_type in (rows.Classifier, rows.Policy):
        table = snapshot.table(row_type)
        invalid = table.memo.get("faults", partial(_invalid, snapshot.enabled(row_type)))
        yield from ((table.by_pk[pk], fault) for pk, fault in invalid.items())


def _invalid(found: Sequence[rows.Classifier | rows.Policy]) -> Mapping[Any, Fault]:
    return TextBank(_triples(found)).invalid


def explained_kinds() -> Iterator[DecisionKind]:
    """The kinds of decision that `explain` knows."""
    return iter(_JUDGES)


def _stored(row: rows.Row, stored: Mapping[str, Json]) -> Explained | None:
    candidate = stored.get(str(row.pk))
    if candidate is None:
        return None
    operands = tuple(candidate.get("operands") or ())
    return Explained(row.pk, bool(candidate["matched"]), candidate.get("reason"), operands, derived=False)


def _place(decision: Mapping[str, Json], user_text: str | None) -> _Place:
    key = decision.get("key") or {}
    semantic = str(key.get("semantic") or cuts.NOT_ASKED)
    return _Place(key.get("intent"), key.get("state"), key.get("userText", user_text), semantic)


# --- rules ------------------------------------------------------------------------------------------------------


def _rule_reasons(
    snapshot: Snapshot, decision: Mapping[str, Json], user_text: str | None
) -> Callable[[rows.Rule], str | None]:
    place, phase = _place(decision, user_text), str(decision["key"]["phase"])
    found = listing(snapshot, phase, place.intent, place.state)
    order = [rule.rule_id for rule in found]
    after_stop = set(order[order.index(decision["stoppedBy"]) + 1 :]) if "stoppedBy" in decision else set()
    invalid = {rule.rule_id for _, rule, _ in found.invalid()}

    def reason(rule: rows.Rule) -> str | None:
        if cut := cuts.cut_rule(snapshot, rule, phase, place.intent, place.state):
            return cut
        if rule.rule_id in after_stop:
            return cuts.STOPPED
        return ROW_INVALID if rule.rule_id in invalid else cuts.PATTERN

    return reason


# --- all other tables -------------------------------------------------------------------------------------------


def _by_scope(snapshot: Snapshot, row: rows.Row, place: _Place) -> str:
    return cuts.out_of_scope(row, place.intent, place.state) or OUTRANKED


def _by_classifier(snapshot: Snapshot, row: rows.Classifier, place: _Place) -> str:
    if code(row.intent_code) in ("", ANY, UNKNOWN):
        return cuts.INTENT_DISABLED
    return place.semantic if row.is_semantic else _by_text(snapshot, row, place, normalised=False)


def _by_policy(snapshot: Snapshot, row: rows.Policy, place: _Place) -> str:
    return cuts.NOT_ASKED if code(row.rule_type) == "LLM" else _by_text(snapshot, row, place, normalised=True)


def _by_text(snapshot: Snapshot, row: rows.Classifier | rows.Policy, place: _Place, *, normalised: bool) -> str:
    table = snapshot.table(type(row))
    bank = table.memo.get("explained", lambda: TextBank(_triples(snapshot.enabled(type(row))), normalised=normalised))
    if row.pk in bank.invalid:
        return ROW_INVALID
    return OUTRANKED if row.pk in bank.hits(place.text) else cuts.PATTERN


def _triples(found: Sequence[rows.Classifier | rows.Policy]) -> list[Triple]:
    tested = (row for row in found if not (isinstance(row, rows.Classifier) and row.is_semantic))
    return [(row.pk, row.rule_type, row.pattern) for row in tested]


_JUDGES: Mapping[DecisionKind, tuple[type[rows.Row], _Reason]] = {
    DecisionKind.POLICY: (rows.Policy, _by_policy),
    DecisionKind.CLASSIFIER: (rows.Classifier, _by_classifier),
    DecisionKind.RESPONSE: (rows.Response, _by_scope),
    DecisionKind.TEMPLATE: (rows.PromptTemplate, _by_scope),
    DecisionKind.SCHEMA: (rows.OutputSchema, _by_scope),
    DecisionKind.CONTAINER: (rows.ContainerConfig, _by_scope),
    DecisionKind.PENDING_ACTION: (rows.PendingAction, _by_scope),
    DecisionKind.TOOL: (rows.DirectTool, _by_scope),
}


def _judge(kind: str) -> tuple[type[rows.Row], _Reason]:
    judge = _JUDGES.get(DecisionKind(kind))
    if judge is None:
        raise ValueError(f"{kind} decisions leave events of their own.")
    return judge
