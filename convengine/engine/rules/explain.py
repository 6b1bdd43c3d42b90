"""Why each row of a table did or did not decide, derived long after the turn.

A turn stores the rows that it tested, and counts the rest. This module derives the reason of every other row from the
turn's release and the stored key, with the engine's own functions. `audit/narration/decisions.py` puts it into words.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

from convengine.engine.rules.conditions.rule import find_fault
from convengine.engine.rules.listing import get_listing
from convengine.engine.rules.text_bank import TextBank, Triple
from convengine.engine.rules.verdict import (
    INTENT_DISABLED,
    NOT_ASKED,
    PATTERN,
    ROW_INVALID,
    STOPPED,
    find_exclusion_reason,
    find_inactive_reason,
    find_scope_reason,
)
from convengine.engine.text.compare import code
from convengine.engine.turn import rows
from convengine.engine.turn.enums import DecisionKind
from convengine.engine.turn.fault import Fault, unreadable_faults
from convengine.engine.turn.scope import ANY, UNKNOWN
from convengine.engine.turn.snapshot import Snapshot
from convengine.json_value import Json

#: A row that could have decided, but another one won.
OUTRANKED = "OUTRANKED"


@dataclass(frozen=True)
class ExplainedRow:
    """The result for one row. `derived`: it was not stored, but follows from the stored data."""

    row_id: Any
    matched: bool
    reason: str | None
    operands: tuple[Mapping[str, Json], ...] = ()
    derived: bool = True


@dataclass(frozen=True)
class _DecisionScope:
    intent: str | None
    state: str | None
    text: str | None
    #: Why a phrase that was not stored did not decide.
    phrases: str = NOT_ASKED
    #: Match types that were not tried, because an earlier group matched.
    untried: frozenset[str] = frozenset()
    #: A form kept the intent, so only the rows that may interrupt it were tried.
    interrupting: bool = False


#: Why a row that was not stored did not decide.
_Reason = Callable[[Snapshot, Any, _DecisionScope], str]


def explain(snapshot: Snapshot, decision: Mapping[str, Json], user_text: str | None = None) -> list[ExplainedRow]:
    """The result for every row of a decision's table, in primary-key order.

    `decision` is the payload of a DECISION or RULE_NO_MATCH event, `snapshot` the release of the event. `user_text` is
    the text that patterns were tested on, unless the event has it. Raises ValueError for an unknown kind of decision.
    """
    stored = {str(candidate["id"]): candidate for candidate in decision.get("candidates") or ()}
    if "kind" not in decision:
        reasons = _build_rule_reason(snapshot, decision, user_text)
        return [
            _read_stored(rule, stored) or ExplainedRow(rule.pk, False, reasons(rule))
            for rule in snapshot.rows(rows.Rule)
        ]
    row_type, reason = _find_judge(str(decision["kind"]))
    decision_scope = _read_scope(decision, user_text)
    return [
        _read_stored(row, stored)
        or ExplainedRow(row.pk, False, find_inactive_reason(snapshot, row) or reason(snapshot, row, decision_scope))
        for row in snapshot.rows(row_type)
    ]


def find_row_fault(snapshot: Snapshot, row: rows.Row) -> Fault | None:
    """Why a row is unusable: field, value, remedy. None if it is usable, or if its table has no checks here."""
    if row_fault := next((fault for invalid_row, fault in unreadable_faults(snapshot) if invalid_row is row), None):
        return row_fault
    if isinstance(row, rows.Rule):
        return find_fault(row)
    if isinstance(row, (rows.Classifier, rows.Policy)):
        return TextBank(_list_triples([row])).invalid.get(row.pk)
    return None


def list_faults(snapshot: Snapshot) -> Iterator[tuple[rows.Row, Fault]]:
    """Every enabled row that is unusable, with the reason."""
    yield from unreadable_faults(snapshot)
    yield from snapshot.table(rows.Rule).memo.get(
        "faults", lambda: [(rule, fault) for rule in snapshot.enabled_rows(rows.Rule) if (fault := find_fault(rule))]
    )
    for row_type in (rows.Classifier, rows.Policy):
        table = snapshot.table(row_type)
        invalid = table.memo.get("faults", partial(_index_faults, snapshot.enabled_rows(row_type)))
        yield from ((table.by_pk[pk], fault) for pk, fault in invalid.items())


def _index_faults(entries: Sequence[rows.Classifier | rows.Policy]) -> Mapping[Any, Fault]:
    return TextBank(_list_triples(entries)).invalid


def _read_stored(row: rows.Row, stored: Mapping[str, Json]) -> ExplainedRow | None:
    """The stored result of a row. Returns None for a row that the turn did not store."""
    candidate = stored.get(str(row.pk))
    if candidate is None:
        return None
    operands = tuple(candidate.get("operands") or ())
    return ExplainedRow(row.pk, bool(candidate["matched"]), candidate.get("reason"), operands, derived=False)


def _read_scope(decision: Mapping[str, Json], user_text: str | None) -> _DecisionScope:
    """The scope that a decision stored in its `key`; `user_text` counts if it has no text."""
    key = decision.get("key") or {}
    return _DecisionScope(
        key.get("intent"),
        key.get("state"),
        key.get("userText", user_text),
        str(key.get("phrases") or NOT_ASKED),
        frozenset(key.get("untried") or ()),
        bool(key.get("interrupting")),
    )


# --- rules ------------------------------------------------------------------------------------------------------


def _build_rule_reason(
    snapshot: Snapshot, decision: Mapping[str, Json], user_text: str | None
) -> Callable[[rows.Rule], str | None]:
    """A function for the reason why a rule that was not stored did not hold in this pass."""
    decision_scope, phase = _read_scope(decision, user_text), str(decision["key"]["phase"])
    listing = get_listing(snapshot, phase, decision_scope.intent, decision_scope.state)
    order = [rule.rule_id for rule in listing]
    after_stop = set(order[order.index(decision["stoppedBy"]) + 1 :]) if "stoppedBy" in decision else set()
    invalid = {rule.rule_id for _, rule, _ in listing.invalid()}

    def reason(rule: rows.Rule) -> str | None:
        if cut := find_exclusion_reason(snapshot, rule, phase, decision_scope.intent, decision_scope.state):
            return cut
        if rule.rule_id in after_stop:
            return STOPPED
        return ROW_INVALID if rule.rule_id in invalid else PATTERN

    return reason


# --- all other tables -------------------------------------------------------------------------------------------


def _explain_by_scope(snapshot: Snapshot, row: rows.Row, decision_scope: _DecisionScope) -> str:
    return find_scope_reason(row, decision_scope.intent, decision_scope.state) or OUTRANKED


def _explain_by_classifier(snapshot: Snapshot, row: rows.Classifier, decision_scope: _DecisionScope) -> str:
    """Why a classifier row that was not stored did not decide: a pattern by its text, a phrase by the stored reason."""
    if code(row.intent_code) in ("", ANY, UNKNOWN):
        return INTENT_DISABLED
    if decision_scope.interrupting and row.classifier_id not in snapshot.interrupting_classifiers:
        return NOT_ASKED
    if not row.is_pattern:
        return decision_scope.phrases
    reason = _explain_by_text(snapshot, row, decision_scope, normalised=False)
    return NOT_ASKED if code(row.rule_type) in decision_scope.untried and reason != ROW_INVALID else reason


def _explain_by_policy(snapshot: Snapshot, row: rows.Policy, decision_scope: _DecisionScope) -> str:
    return (
        NOT_ASKED if code(row.rule_type) == "LLM" else _explain_by_text(snapshot, row, decision_scope, normalised=True)
    )


def _explain_by_text(
    snapshot: Snapshot, row: rows.Classifier | rows.Policy, decision_scope: _DecisionScope, *, normalised: bool
) -> str:
    """ROW_INVALID, OUTRANKED or PATTERN: whether the row is unusable, matches the text, or does not."""
    table = snapshot.table(type(row))
    bank = table.memo.get(
        "explained", lambda: TextBank(_list_triples(snapshot.enabled_rows(type(row))), normalised=normalised)
    )
    if row.pk in bank.invalid:
        return ROW_INVALID
    return OUTRANKED if row.pk in bank.hits(decision_scope.text) else PATTERN


def _list_triples(entries: Sequence[rows.Classifier | rows.Policy]) -> list[Triple]:
    tested = (row for row in entries if not isinstance(row, rows.Classifier) or row.is_pattern)
    return [(row.pk, row.rule_type, row.pattern) for row in tested]


_JUDGES: Mapping[DecisionKind, tuple[type[rows.Row], _Reason]] = {
    DecisionKind.POLICY: (rows.Policy, _explain_by_policy),
    DecisionKind.CLASSIFIER: (rows.Classifier, _explain_by_classifier),
    DecisionKind.RESPONSE: (rows.Response, _explain_by_scope),
    DecisionKind.TEMPLATE: (rows.PromptTemplate, _explain_by_scope),
    DecisionKind.SCHEMA: (rows.OutputSchema, _explain_by_scope),
    DecisionKind.CONTAINER: (rows.ContainerConfig, _explain_by_scope),
    DecisionKind.PENDING_ACTION: (rows.PendingAction, _explain_by_scope),
    DecisionKind.TOOL: (rows.DirectTool, _explain_by_scope),
}


def _find_judge(kind: str) -> tuple[type[rows.Row], _Reason]:
    """The table of a kind of decision, and what explains its rows. Raises ValueError for a kind that has none."""
    judge = _JUDGES.get(DecisionKind(kind))
    if judge is None:
        raise ValueError(f"{kind} decisions leave events of their own.")
    return judge
