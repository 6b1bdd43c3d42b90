"""Rules that move a conversation in a circle until the passes are used up."""

from collections.abc import Iterator, Sequence
from itertools import islice

from config_admin.health.checks.collisions import get_rule_order
from config_admin.health.diagnosis import Diagnosis, Witness, make_diagnosis
from config_admin.health.player import PlayedRules
from config_admin.health.rules.effects import rule_name
from config_admin.health.rules.scopes import find_shared_scopes
from config_admin.health.survey import Survey
from config_admin.health.witnesses import WitnessTurn, depends_on_answers, find_turn
from config_admin.validation.draft import Severity
from config_admin.validation.relations import scope_fits
from convengine.engine.text.compare import code
from convengine.engine.turn import rows
from convengine.engine.turn.enums import RulePhase, read_phase
from convengine.engine.turn.scope import ANY, scope_key
from convengine.engine.turn.session import Session

#: Maximum rules of a circle, and circles to try.
LONGEST, MAX_CIRCLES = 4, 2000
_MOVING = ("SET_STATE", "SET_INTENT")


def find_loops(survey: Survey) -> Iterator[Diagnosis]:
    """Every circle that the engine really went through, with its rules; as a hint, one that models or tools decide.

    At most `MAX_CIRCLES` circles are tried.
    """
    reported: set[frozenset[int]] = set()
    for phase, circle in islice(_find_circles(survey), MAX_CIRCLES):
        if frozenset(rule.rule_id for rule in circle) in reported or survey.must_skip("circles of rules"):
            continue
        shown = _find_loop(survey, phase, circle)
        if shown is not None:
            movers = _list_movers(survey, shown.played, phase, len(circle))
        elif depends_on_answers(survey.player, phase, _list_scopes(survey, phase, circle), circle):
            movers = circle
        else:
            continue
        key = frozenset(rule.rule_id for rule in movers)
        if key not in reported and survey.is_touched(*movers):
            reported.add(key)
            yield _report_loop(movers, shown.witness if shown else None)


def _report_loop(circle: Sequence[rows.Rule], witness: Witness | None) -> Diagnosis:
    """The finding for rules that move a conversation in a loop. Without a witness it is marked as unproven."""
    first, *others = circle
    names = ", ".join(f"{rule_name(rule)} to {code(rule.action_value)}" for rule in circle)
    move = "move" if witness else "may move"
    unproven = "" if witness else " No turn was found in which they do: it depends on a model or a tool."
    return make_diagnosis(
        "RULE_LOOP",
        Severity.WARNING,
        first,
        f"These rules {move} the conversation in a loop: {names}. The engine stops after the last pass.{unproven}",
        "The final state depends only on the number of passes, and so does the answer to the customer.",
        others=others,
        witness=witness,
        is_unproven=witness is None,
    )


def _find_loop(survey: Survey, phase: RulePhase, circle: Sequence[rows.Rule]) -> WitnessTurn | None:
    """A turn in which the engine goes through the circle until the passes are used up.

    Returns None if none is found.
    """
    return find_turn(
        survey.player,
        phase,
        _list_scopes(survey, phase, circle),
        circle,
        lambda played: phase in played.capped and bool(_list_movers(survey, played, phase, len(circle))),
    )


def _list_scopes(survey: Survey, phase: RulePhase, circle: Sequence[rows.Rule]) -> list[tuple[str, str]]:
    """The scopes of the first rule to which the last one returns."""
    first, last = circle[0], circle[-1]
    scopes, target = find_shared_scopes(survey.snapshot, phase, first), code(last.action_value)
    if code(last.action) == "SET_STATE":
        return [scope for scope in scopes if target == scope[1] or code(first.state_code) == ANY]
    return [scope for scope in scopes if target == scope[0] or code(first.intent_code) == ANY]


def _list_movers(survey: Survey, played: PlayedRules, phase: RulePhase, passes: int) -> Sequence[rows.Rule]:
    """The rules that moved the conversation in the last passes of a phase, in order."""
    steps = [step for step in played.applied if step.phase == phase]
    last = max((step.number for step in steps), default=0)
    moved = (
        survey.snapshot.row(rows.Rule, step.rule_id)
        for step in steps
        if step.number > last - passes and _get_intent_and_state(step.before) != _get_intent_and_state(step.after)
    )
    return tuple(dict.fromkeys(rule for rule in moved if rule is not None and code(rule.action) in _MOVING))


def _get_intent_and_state(session: Session) -> tuple[str | None, str | None]:
    return session.intent, session.state


def _find_circles(survey: Survey) -> Iterator[tuple[RulePhase, tuple[rows.Rule, ...]]]:
    """Circles of enabled rules of one phase in which each rule moves to the scope of the next one."""
    movers: dict[RulePhase, list[rows.Rule]] = {}
    for rule in survey.snapshot.enabled_rows(rows.Rule):
        phase = read_phase(rule.phase)
        if phase is not None and code(rule.action) in _MOVING and survey.is_active(rule):
            movers.setdefault(phase, []).append(rule)
    for phase, rules in movers.items():
        by_scope: dict[tuple[str, str], list[rows.Rule]] = {}
        for rule in rules:
            by_scope.setdefault(scope_key(rule), []).append(rule)
        for rule in sorted(rules, key=get_rule_order):
            if survey.is_touched(rule):
                # For changed rules all their circles, otherwise each circle once.
                lowest = rule.rule_id if survey.touched is None else 0
                yield from ((phase, circle) for circle in _extend_circle(by_scope, (rule,), lowest))


def _extend_circle(
    by_scope: dict[tuple[str, str], list[rows.Rule]], path: tuple[rows.Rule, ...], lowest: int
) -> Iterator[tuple[rows.Rule, ...]]:
    """Circles that begin with these rules, of rules with keys not below `lowest`."""
    intent, state = _compute_end(path)
    for scope in dict.fromkeys(((intent, state), (intent, ANY), (ANY, state), (ANY, ANY))):
        for rule in by_scope.get(scope, ()):
            changes = code(rule.action_value) != (state if code(rule.action) == "SET_STATE" else intent)
            if rule in path or rule.rule_id < lowest or not changes:
                continue
            longer = (*path, rule)
            if all(map(scope_fits, _compute_end(longer), scope_key(path[0]))):
                yield longer
            elif len(longer) < LONGEST:
                yield from _extend_circle(by_scope, longer, lowest)


def _compute_end(path: Sequence[rows.Rule]) -> tuple[str, str]:
    """Intent and state after the moves; ANY if unknown."""
    intent, state = scope_key(path[0])
    for rule in path:
        if code(rule.action) == "SET_STATE":
            state = code(rule.action_value)
        else:
            intent = code(rule.action_value)
        own = scope_key(rule)
        intent, state = (own[0] if intent == ANY else intent), (own[1] if state == ANY else state)
    return intent, state
