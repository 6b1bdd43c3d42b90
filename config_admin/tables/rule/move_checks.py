"""Checks of rules that change intent or state: their target, and circles (tables 2.3)."""

from collections.abc import Iterator
from itertools import chain
from typing import Any

from config_admin.validation import graph, relations
from config_admin.validation.draft import Draft
from config_admin.validation.findings import Finding
from config_admin.validation.patterns import matches_everything
from config_admin.validation.rule_moves import MOVE_COLUMNS, is_move, list_required_values
from convengine.engine.text.compare import code
from convengine.engine.turn import rows
from convengine.engine.turn.enums import RuleType
from convengine.engine.turn.scope import ANY, INTENT_COLLISION
from convengine.engine.turn.snapshot import Snapshot

Rule = Draft[rows.Rule]


def _get_move_key(rule: Any) -> tuple[str, str, str] | None:
    action = code(rule.action)
    return (code(rule.phase), action, code(getattr(rule, MOVE_COLUMNS[action][0]))) if action in MOVE_COLUMNS else None


def _get_scoped_move_key(rule: Any) -> tuple[str, str, str, str] | None:
    key = _get_move_key(rule)
    return (*key, code(getattr(rule, MOVE_COLUMNS[key[1]][1]))) if key else None


def check_flip_flop(draft: Rule) -> Iterator[Finding]:
    """Another rule of the phase can undo this one, as often as passes allow."""
    rule = draft.row
    if not is_move(rule):
        return
    for other in draft.others(_find_moves_from(draft.snapshot, rule, code(rule.action_value))):
        if _undo_each_other(rule, other):
            yield draft.warning(
                "RULE_FLIP_FLOP",
                None,
                (
                    f"This rule and rule {other.pk} can undo each other. The engine stops after 5 passes. Give one"
                    " of them a narrower condition."
                ),
            )
            return


def _find_moves_from(snapshot: Snapshot, rule: rows.Rule, place: str) -> Iterator[rows.Rule]:
    """The moving rules of the same phase that begin at a scope, and may hold where the rule does."""
    phase, action = code(rule.phase), code(rule.action)
    beside, starts = code(getattr(rule, MOVE_COLUMNS[action][1])), dict.fromkeys((place, ANY))
    if beside == ANY:
        found = snapshot.index(rows.Rule, _get_move_key, relations.rank)
        yield from chain.from_iterable(found.get((phase, action, start), ()) for start in starts)
        return
    within = snapshot.index(rows.Rule, _get_scoped_move_key, relations.rank)
    for start in starts:
        for where in (beside, ANY):
            yield from within.get((phase, action, start, where), ())


def _undo_each_other(one: rows.Rule, other: rows.Rule) -> bool:
    _, beside = MOVE_COLUMNS[code(one.action)]
    ends = code(one.action_value), code(other.action_value)
    return (
        ends[0] != ends[1]
        and relations.scope_fits(code(getattr(one, beside)), code(getattr(other, beside)))
        and _is_applicable_at(one, ends[1])
        and _is_applicable_at(other, ends[0])
        and _can_hold_together(one, other)
    )


def _is_applicable_at(rule: rows.Rule, place: str) -> bool:
    start, _ = MOVE_COLUMNS[code(rule.action)]
    demanded = list_required_values(rule).get("@.state" if start == "state_code" else "@.intent", place)
    return code(getattr(rule, start)) in (place, ANY) and code(demanded) == place


def _can_hold_together(one: rows.Rule, other: rows.Rule) -> bool:
    """False only if it is certain: two different texts, or one path that must have two values."""
    if code(one.rule_type) != code(other.rule_type):
        return True
    if code(one.rule_type) == RuleType.EXACT and one.match_target == other.match_target:
        texts = {(rule.match_pattern or "").strip().casefold() for rule in (one, other)}
        return len(texts) == 1 or ANY.casefold() in texts
    wanted, also = list_required_values(one), list_required_values(other)
    places = {"@.state", "@.intent"}
    return all(wanted[path] == also[path] for path in (wanted.keys() & also.keys()) - places)


def check_unconditional_move(draft: Rule) -> Iterator[Finding]:
    """A move without any condition, everywhere."""
    rule = draft.row
    unconditional = (code(rule.rule_type) == RuleType.EXACT and code(rule.match_pattern) == ANY) or matches_everything(
        rule.rule_type, rule.match_pattern
    )
    if is_move(rule) and unconditional and relations.scope_key(rule) == (ANY, ANY):
        yield draft.warning(
            "RULE_ALWAYS_TRUE",
            None,
            (
                "This rule applies to every turn of every conversation. Add a condition or a scope unless this is"
                " intended."
            ),
        )


def check_missing_edge(draft: Rule) -> Iterator[Finding]:
    """The intent has a state graph that does not allow the move."""
    rule = draft.row
    if not is_move(rule, "SET_STATE"):
        return
    edges = graph.list_edges(draft.snapshot, rule.intent_code)
    start, end = code(rule.state_code), code(rule.action_value)
    if edges and not graph.allows_move(edges, start, end):
        yield draft.warning(
            "STATE_GRAPH_MISSING_EDGE",
            "action_value",
            f"The state graph does not allow the move from {start} to {end}, so the turn gets a warning.",
        )


def check_target_response(draft: Rule) -> Iterator[Finding]:
    """No answer for the rule's target; a collision needs none."""
    rule = draft.row
    end = code(rule.action_value)
    if not is_move(rule, "SET_STATE") or end == INTENT_COLLISION:
        return
    if not any(relations.find_rows_sharing_scope(draft.snapshot, rows.Response, rule.intent_code, end)):
        yield draft.warning(
            "STATE_WITHOUT_RESPONSE",
            "action_value",
            f"Intent {code(rule.intent_code)} has no answer in state {end}. Add one.",
        )
