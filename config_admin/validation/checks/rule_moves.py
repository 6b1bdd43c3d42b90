"""Checks of rules that change intent or state: where they lead, and whether they go round in circles (tables 2.3)."""

from collections.abc import Iterator, Mapping
from functools import lru_cache
from itertools import chain
from typing import Any

from config_admin.validation import graph, relations
from config_admin.validation.checks.patterns import catches_all
from config_admin.validation.draft import Draft
from config_admin.validation.findings import Finding
from convengine.domain import rows
from convengine.domain.enums import RuleType
from convengine.domain.scope import ANY, INTENT_COLLISION
from convengine.domain.snapshot import Snapshot
from convengine.domain.text import code
from convengine.rules.json_path import PathError
from convengine.rules.json_path.nodes import Compare, Condition, Every, Literal, Path, Where, written
from convengine.rules.json_path.parser import parse_path

Rule = Draft[rows.Rule]
#: Actions that move, with the column that says from where, and the other column of the scope.
_MOVES: Mapping[str, tuple[str, str]] = {
    "SET_STATE": ("state_code", "intent_code"),
    "SET_INTENT": ("intent_code", "state_code"),
}


def moves(rule: rows.Rule, action: str | None = None) -> bool:
    """True for an enabled rule that changes intent or state (or does just this `action`)."""
    return rule.enabled and code(rule.action) in _MOVES and action in (None, code(rule.action))


def _mover_key(rule: Any) -> tuple[str, str, str] | None:
    action = code(rule.action)
    return (code(rule.phase), action, code(getattr(rule, _MOVES[action][0]))) if action in _MOVES else None


def _mover_beside_key(rule: Any) -> tuple[str, str, str, str] | None:
    key = _mover_key(rule)
    return (*key, code(getattr(rule, _MOVES[key[1]][1]))) if key else None


def flip_flop(draft: Rule) -> Iterator[Finding]:
    """Another rule of the phase can move back what this one moves, as often as passes allow."""
    rule = draft.row
    if not moves(rule):
        return
    for other in draft.others(_beginning_at(draft.snapshot, rule, code(rule.action_value))):
        if _move_back_and_forth(rule, other):
            yield draft.warning(
                "RULE_FLIP_FLOP",
                None,
                f"Together with rule {other.pk} this can go back and forth; it stops after 5 passes.",
            )
            return


def _beginning_at(snapshot: Snapshot, rule: rows.Rule, place: str) -> Iterator[rows.Rule]:
    """The movers of the same phase that begin at a place, and may hold where the rule does."""
    phase, action = code(rule.phase), code(rule.action)
    beside, starts = code(getattr(rule, _MOVES[action][1])), dict.fromkeys((place, ANY))
    if beside == ANY:
        found = snapshot.index(rows.Rule, _mover_key, relations.rank)
        yield from chain.from_iterable(found.get((phase, action, start), ()) for start in starts)
        return
    within = snapshot.index(rows.Rule, _mover_beside_key, relations.rank)
    for start in starts:
        for where in (beside, ANY):
            yield from within.get((phase, action, start, where), ())


def _move_back_and_forth(one: rows.Rule, other: rows.Rule) -> bool:
    _, beside = _MOVES[code(one.action)]
    ends = code(one.action_value), code(other.action_value)
    return (
        ends[0] != ends[1]
        and relations.scope_fits(code(getattr(one, beside)), code(getattr(other, beside)))
        and _applies_at(one, ends[1])
        and _applies_at(other, ends[0])
        and _can_hold_together(one, other)
    )


def _applies_at(rule: rows.Rule, place: str) -> bool:
    start, _ = _MOVES[code(rule.action)]
    demanded = demands(rule).get("@.state" if start == "state_code" else "@.intent", place)
    return code(getattr(rule, start)) in (place, ANY) and code(demanded) == place


def _can_hold_together(one: rows.Rule, other: rows.Rule) -> bool:
    """False only where it is certain: two different texts, or one path that must have two values."""
    if code(one.rule_type) != code(other.rule_type):
        return True
    if code(one.rule_type) == RuleType.EXACT and one.match_target == other.match_target:
        texts = {(rule.match_pattern or "").strip().casefold() for rule in (one, other)}
        return len(texts) == 1 or ANY.casefold() in texts
    wanted, also = demands(one), demands(other)
    places = {"@.state", "@.intent"}
    return all(wanted[path] == also[path] for path in (wanted.keys() & also.keys()) - places)


def demands(rule: rows.Rule) -> Mapping[str, str]:
    """The values that paths must have for a rule's filter to hold; empty where nothing is certain."""
    by_path = code(rule.rule_type) in (RuleType.JSON_PATH, RuleType.CONTEXT_JSON_PATH)
    return _demanded(rule.match_pattern or "") if by_path else {}


@lru_cache(maxsize=4096)
def _demanded(path: str) -> Mapping[str, str]:
    try:
        steps = parse_path(path).steps
    except PathError:
        return {}
    return dict(_equalities(steps[0].condition)) if len(steps) == 1 and isinstance(steps[0], Where) else {}


def _equalities(condition: Condition) -> Iterator[tuple[str, str]]:
    if isinstance(condition, Every):
        for term in condition.terms:
            yield from _equalities(term)
        return
    match condition:
        case Compare(Path() as path, "==", Literal(value)):
            # As text: a number and the same number as text are equal in the dialect.
            yield written(path), str(value)


def always_true(draft: Rule) -> Iterator[Finding]:
    """A move without any condition, everywhere."""
    rule = draft.row
    unconditional = (code(rule.rule_type) == RuleType.EXACT and code(rule.match_pattern) == ANY) or catches_all(
        rule.rule_type, rule.match_pattern
    )
    if moves(rule) and unconditional and relations.scope_key(rule) == (ANY, ANY):
        yield draft.warning("RULE_ALWAYS_TRUE", None, "This applies to every conversation on every turn.")


def missing_edge(draft: Rule) -> Iterator[Finding]:
    """The intent has a state graph, and it does not allow the move."""
    rule = draft.row
    if not moves(rule, "SET_STATE"):
        return
    edges = graph.edges(draft.snapshot, rule.intent_code)
    start, end = code(rule.state_code), code(rule.action_value)
    if edges and not graph.allows(edges, start, end):
        yield draft.warning(
            "STATE_GRAPH_MISSING_EDGE",
            "action_value",
            f"The state graph does not allow {start} -> {end}; the turn will be flagged.",
        )


def without_response(draft: Rule) -> Iterator[Finding]:
    """No response row can answer where the rule leads; a collision is answered without one."""
    rule = draft.row
    end = code(rule.action_value)
    if not moves(rule, "SET_STATE") or end == INTENT_COLLISION:
        return
    if not any(relations.sharing_scope(draft.snapshot, rows.Response, rule.intent_code, end)):
        yield draft.warning(
            "STATE_WITHOUT_RESPONSE",
            "action_value",
            f"No response row can answer {code(rule.intent_code)} in state {end}.",
        )
