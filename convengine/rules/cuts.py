"""Why a rule was not even tested: the reasons that follow from the row, the place and the text (R30).

A turn stores one count for each reason; a reader derives the reason of each row. Both use this page.
"""

from collections import Counter

from convengine.domain.enums import phase_of
from convengine.domain.rows import Row, Rule
from convengine.domain.scope import ANY, code_matches
from convengine.domain.snapshot import Snapshot
from convengine.domain.text import code
from convengine.rules.verdict import ROW_INVALID

DISABLED = "DISABLED"
INTENT_DISABLED = "INTENT_DISABLED"
PHASE = "PHASE"
SCOPE_INTENT = "SCOPE_INTENT"
SCOPE_STATE = "SCOPE_STATE"
PATTERN = "PATTERN"
STOPPED = "STOPPED"
#: Rows of examples: not alike enough, or too far behind the best; and nothing there to compare them with.
BELOW_MIN_SCORE = "BELOW_MIN_SCORE"
SEMANTIC_UNAVAILABLE = "SEMANTIC_UNAVAILABLE"
#: A row that somebody else judges, and did not have to.
NOT_ASKED = "NOT_ASKED"


def inactive(snapshot: Snapshot, row: Row) -> str | None:
    """Why a row takes part in no decision at all; null when it does."""
    if not row.enabled:
        return ROW_INVALID if row.pk in snapshot.tables[row.table].unreadable else DISABLED
    intent = getattr(row, "intent_code", None)
    return INTENT_DISABLED if intent is not None and not snapshot.is_active(intent) else None


def out_of_scope(row: Row, intent: str | None, state: str | None) -> str | None:
    """Which of its scope codes keeps a row out; null when both admit."""
    if not code_matches(getattr(row, "intent_code", ANY), intent):
        return SCOPE_INTENT
    return None if code_matches(getattr(row, "state_code", ANY), state) else SCOPE_STATE


def cut_rule(snapshot: Snapshot, rule: Rule, phase: str, intent: str | None, state: str | None) -> str | None:
    """Why a rule is not in the list of a pass; null when it is."""
    if reason := inactive(snapshot, rule):
        return reason
    if (phase_of(rule.phase) or "") != phase:
        return PHASE
    return out_of_scope(rule, intent, state)


def rule_cuts(snapshot: Snapshot, phase: str, intent: str | None, state: str | None) -> dict[str, int]:
    """How many rules each of these reasons cuts, from counts that are kept: no rule is looked at."""
    by_phase, by_intent = snapshot.memo.get("rule_counts", lambda: _counts(snapshot))
    active, of_phase = by_phase.total(), by_phase[phase]
    of_intent = sum(by_intent[phase, one] for one in dict.fromkeys((code(intent), ANY)))
    in_scope = sum(len(rules) for rules in snapshot.rule_buckets(phase, intent, state).values())
    enabled = len(snapshot.enabled(Rule))
    return {
        **switched_off(snapshot, Rule),
        INTENT_DISABLED: enabled - active,
        PHASE: active - of_phase,
        SCOPE_INTENT: of_phase - of_intent,
        SCOPE_STATE: of_intent - in_scope,
    }


def scope_cuts(snapshot: Snapshot, row_type: type[Row], intent: str | None, in_scope: int) -> dict[str, int]:
    """How many rows of a scoped table each reason keeps out, `in_scope` of them being in; no row is looked at."""
    counts = snapshot.memo.get(("scope counts", row_type), lambda: _scope_counts(snapshot, row_type))
    enabled = len(snapshot.enabled(row_type))
    of_intent = sum(counts[one] for one in dict.fromkeys((code(intent), ANY)))
    return {
        **switched_off(snapshot, row_type),
        INTENT_DISABLED: enabled - counts[None],
        SCOPE_INTENT: counts[None] - of_intent,
        SCOPE_STATE: of_intent - in_scope,
    }


def switched_off(snapshot: Snapshot, row_type: type[Row]) -> dict[str, int]:
    """How many rows of a table are off: by their switch, or for a value that their column cannot hold."""
    unreadable = len(snapshot.table(row_type).unreadable)
    off = len(snapshot.rows(row_type)) - len(snapshot.enabled(row_type))
    return {DISABLED: off - unreadable, ROW_INVALID: unreadable}


def _scope_counts(snapshot: Snapshot, row_type: type[Row]) -> Counter[str | None]:
    """Active rows by intent code, and all of them under null."""
    counts: Counter[str | None] = Counter()
    for row in snapshot.enabled(row_type):
        intent = getattr(row, "intent_code", ANY)
        if snapshot.is_active(intent):
            counts.update((code(intent), None))
    return counts


def _counts(snapshot: Snapshot) -> tuple[Counter[str], Counter[tuple[str, str]]]:
    """How many active rules there are of a phase, and of a phase and intent code."""
    active = [rule for rule in snapshot.enabled(Rule) if snapshot.is_active(rule.intent_code)]
    phases = [phase_of(rule.phase) or "" for rule in active]
    intents = [code(rule.intent_code) for rule in active]
    return Counter(phases), Counter(zip(phases, intents, strict=True))
