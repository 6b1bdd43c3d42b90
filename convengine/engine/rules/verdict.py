"""The result of testing one rule, or why it was not even tested: its row, the scope or the text."""

from collections import Counter
from collections.abc import Mapping
from typing import NamedTuple

from convengine.engine.text.compare import code
from convengine.engine.turn.enums import read_phase
from convengine.engine.turn.rows import Row, Rule
from convengine.engine.turn.scope import ANY, code_matches
from convengine.engine.turn.snapshot import Snapshot
from convengine.json_value import Json

#: Reasons why a tested rule did not hold.
NOT_MET = "TYPE_CONDITION_NOT_MET"
NO_MATCHER = "TYPE_RESOLVER_MISSING"
ROW_INVALID = "CONFIG_ROW_INVALID"
MATCHER_FAILED = "TYPE_RESOLVER_FAILED"
#: Its condition held, but a more specific rule has set the intent or state in this turn.
OVERRIDDEN_BY = "OVERRIDDEN_BY"


class Verdict(NamedTuple):
    """Whether a rule's condition holds, why not, and the compared values.

    An operand is {path, value, op, literal, result}, with `literalPath` if the right side is a path too.
    """

    matched: bool
    reason: str | None = None
    operands: tuple[Mapping[str, Json], ...] = ()


def build_verdict(matched: bool, operands: tuple[Mapping[str, Json], ...] = ()) -> Verdict:
    """The verdict of a testable condition."""
    return Verdict(matched, None if matched else NOT_MET, operands)


DISABLED = "DISABLED"
#: Or, where rows are only counted, the channel does not have the intent.
INTENT_DISABLED = "INTENT_DISABLED"
#: Phrases: they came near, but the channel does not have their intent.
INTENT_NOT_IN_CHANNEL = "INTENT_NOT_IN_CHANNEL"
PHASE = "PHASE"
SCOPE_INTENT = "SCOPE_INTENT"
SCOPE_STATE = "SCOPE_STATE"
PATTERN = "PATTERN"
STOPPED = "STOPPED"
#: Phrases: the classifier is not sure enough of their intent, or surer of another one.
BELOW_MIN_SCORE = "BELOW_MIN_SCORE"
#: Phrases: another intent or another phrase of the intent is nearer.
PHRASE_NOT_BEST = "PHRASE_NOT_BEST"
#: A row that another judge decides, and that was not needed.
NOT_ASKED = "NOT_ASKED"


def find_inactive_reason(snapshot: Snapshot, row: Row) -> str | None:
    """Why a row takes part in no decision at all. Returns None if there is none."""
    if not row.enabled:
        return ROW_INVALID if row.pk in snapshot.tables[row.table].unreadable else DISABLED
    intent = getattr(row, "intent_code", None)
    return INTENT_DISABLED if intent is not None and not snapshot.is_active(intent) else None


def find_scope_reason(row: Row, intent: str | None, state: str | None) -> str | None:
    """Which scope code excludes a row. Returns None when both match."""
    if not code_matches(getattr(row, "intent_code", ANY), intent):
        return SCOPE_INTENT
    return None if code_matches(getattr(row, "state_code", ANY), state) else SCOPE_STATE


def find_exclusion_reason(
    snapshot: Snapshot, rule: Rule, phase: str, intent: str | None, state: str | None
) -> str | None:
    """Why a rule is not in the list of a pass. Returns None if there is none."""
    if reason := find_inactive_reason(snapshot, rule):
        return reason
    if (read_phase(rule.phase) or "") != phase:
        return PHASE
    return find_scope_reason(rule, intent, state)


def count_excluded_rules(snapshot: Snapshot, phase: str, intent: str | None, state: str | None) -> dict[str, int]:
    """How many rules each reason excludes, from cached counts without visiting rules."""
    by_phase, by_intent = snapshot.memo.get("rule_counts", lambda: _count_by_phase(snapshot))
    active, of_phase = by_phase.total(), by_phase[phase]
    of_intent = sum(by_intent[phase, scope_code] for scope_code in dict.fromkeys((code(intent), ANY)))
    in_scope = sum(len(rules) for rules in snapshot.rule_buckets(phase, intent, state).values())
    enabled = len(snapshot.enabled_rows(Rule))
    return {
        **count_switched_off(snapshot, Rule),
        INTENT_DISABLED: enabled - active,
        PHASE: active - of_phase,
        SCOPE_INTENT: of_phase - of_intent,
        SCOPE_STATE: of_intent - in_scope,
    }


def count_out_of_scope(snapshot: Snapshot, row_type: type[Row], intent: str | None, in_scope: int) -> dict[str, int]:
    """How many rows of a scoped table each reason excludes, given that `in_scope` are in; without visiting rows."""
    counts = snapshot.memo.get(("scope counts", row_type), lambda: _count_by_scope(snapshot, row_type))
    enabled = len(snapshot.enabled_rows(row_type))
    of_intent = sum(counts[scope_code] for scope_code in dict.fromkeys((code(intent), ANY)))
    return {
        **count_switched_off(snapshot, row_type),
        INTENT_DISABLED: enabled - counts[None],
        SCOPE_INTENT: counts[None] - of_intent,
        SCOPE_STATE: of_intent - in_scope,
    }


def count_switched_off(snapshot: Snapshot, row_type: type[Row]) -> dict[str, int]:
    """How many rows of a table are off: disabled, or with a value that their column cannot hold."""
    unreadable = len(snapshot.table(row_type).unreadable)
    off = len(snapshot.rows(row_type)) - len(snapshot.enabled_rows(row_type))
    return {DISABLED: off - unreadable, ROW_INVALID: unreadable}


def _count_by_scope(snapshot: Snapshot, row_type: type[Row]) -> Counter[str | None]:
    """Active rows by intent code, and all of them under None."""
    counts: Counter[str | None] = Counter()
    for row in snapshot.enabled_rows(row_type):
        intent = getattr(row, "intent_code", ANY)
        if snapshot.is_active(intent):
            counts.update((code(intent), None))
    return counts


def _count_by_phase(snapshot: Snapshot) -> tuple[Counter[str], Counter[tuple[str, str]]]:
    """Number of active rules by phase, and by phase and intent code."""
    active = [rule for rule in snapshot.enabled_rows(Rule) if snapshot.is_active(rule.intent_code)]
    phases = [read_phase(rule.phase) or "" for rule in active]
    intents = [code(rule.intent_code) for rule in active]
    return Counter(phases), Counter(zip(phases, intents, strict=True))
