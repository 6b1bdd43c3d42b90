"""Rules that act on the same message and set the same thing differently."""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import Any, NamedTuple

from config_admin.health.diagnosis import Diagnosis, Witness, make_diagnosis
from config_admin.health.player import AppliedRule, PlayedRules, TurnPlayer
from config_admin.health.rules.effects import describe_effect, find_contested, list_effects, read_value, rule_name
from config_admin.health.rules.mentions import FactPath, get_text_predicate
from config_admin.health.rules.scopes import find_shared_scopes
from config_admin.health.rules.values import NOTHING
from config_admin.health.survey import Survey
from config_admin.health.texts.predicate import find_text
from config_admin.health.witnesses import depends_on_answers, find_turn
from config_admin.validation.draft import Severity
from config_admin.validation.relations import scope_fits
from config_admin.validation.rule_effects import is_move
from convengine.engine.forms.life import is_final_state, read_on_no
from convengine.engine.rules.listing import tests_user_text
from convengine.engine.rules.settings import GENERAL_MAY_UNDO
from convengine.engine.text.compare import code
from convengine.engine.text.difference import equal_json
from convengine.engine.turn import live_settings, rows
from convengine.engine.turn.enums import DialogueAct, RuleAction, RulePhase, read_phase
from convengine.engine.turn.scope import ANY, list_buckets, rank_specificity, scope_key
from convengine.engine.turn.snapshot import Snapshot

_ON_ACT = RulePhase.POST_DIALOGUE_ACT
#: What makes a rule hold for every "no".
_IS_NO: Mapping[str, Any] = {"rule_type": "EXACT", "match_target": "DIALOGUE_ACT", "match_pattern": DialogueAct.NEGATE}
#: Maximum reported collisions of one rule.
MAX_OF_ONE = 5


def find_rule_collisions(survey: Survey) -> Iterator[Diagnosis]:
    """Collisions with their turns: a few of each rule, and only one of those in a message of two others."""
    counts: Counter[int] = Counter()
    for row, other in list_pairs(survey):
        of_one = [counts[rule.rule_id] for rule in (row, other)]
        if (
            max(of_one) >= MAX_OF_ONE
            or (any(of_one) and _have_unrelated_words(row, other))
            or survey.must_skip("pairs of rules")
        ):
            continue
        if any(of_one) and _need_joined_message(row, other):
            counts.update((row.rule_id, other.rule_id))
            continue
        collision = find_collision(survey.player, row, other)
        if collision is not None:
            yield _report_collision(collision)
            counts.update((row.rule_id, other.rule_id))


def _have_unrelated_words(row: rows.Rule, other: rows.Rule) -> bool:
    """True for two rules about unrelated words of the message.

    Only a message with the words of both matches both; it is enough to report that once per rule.
    """
    predicates = [get_text_predicate(rule) if tests_user_text(rule) else None for rule in (row, other)]
    first, second = ({*predicate.words} if predicate else set() for predicate in predicates)
    return bool(first and second) and not first & second


def _need_joined_message(row: rows.Rule, other: rows.Rule) -> bool:
    """True for two rules that only a message with one text after the other matches."""
    predicates = [get_text_predicate(rule) for rule in (row, other) if tests_user_text(rule)]
    text = find_text([predicate for predicate in predicates if predicate is not None])
    return len(predicates) > 1 and text is not None and text.joined


class Collision(NamedTuple):
    """Two rules in the order of acting, and what both set."""

    first: rows.Rule
    second: rows.Rule
    path: FactPath
    #: The turn in which they do; None if it depends on what a model or a tool answers.
    witness: Witness | None


def find_collision(player: TurnPlayer, row: rows.Rule, other: rows.Rule) -> Collision | None:
    """The collision of two rules with its witness; without one if it depends on what a model or a tool answers.

    Returns None if the rules cannot collide, or no turn shows that they do.
    """
    phase = read_phase(row.phase)
    first, second = sorted((row, other), key=get_rule_order)
    contested = find_contested(first, second)
    if phase is None or phase != read_phase(other.phase) or first.stop_processing or not contested:
        return None
    scopes = find_shared_scopes(player.snapshot, phase, first, second)

    def find_overwritten(played: PlayedRules) -> FactPath | None:
        return _find_overwritten(played.applied, first, second, contested)

    shown = find_turn(player, phase, scopes, (first, second), lambda played: find_overwritten(played) is not None)
    path = find_overwritten(shown.played) if shown else None
    if shown is not None and path is not None:
        return Collision(first, second, path, shown.witness)
    if depends_on_answers(player, phase, scopes, (first, second)):
        return Collision(first, second, contested[0], None)
    return None


def _report_collision(collision: Collision) -> Diagnosis:
    """The finding for two rules that write the same fact. Without a witness it is marked as unproven."""
    first, second = collision.first, collision.second
    first_effect, second_effect = describe_effect(first, collision.path), describe_effect(second, collision.path)
    apply = "apply" if collision.witness else "may apply"
    unproven = "" if collision.witness else " No turn was found in which both do: it depends on a model or a tool."
    message = (
        f"{rule_name(first)} and {rule_name(second)} {apply} to the same message. The first one {first_effect}, then "
        f"the second one {second_effect}.{unproven}"
    )
    consequence = (
        f"Rule {first.rule_id} has no effect, because rule {second.rule_id} is evaluated later and overrides it."
    )
    if _is_undone(collision):
        consequence += (
            f" The later rule is more general: with Rules/GENERAL_MAY_UNDO off, it leaves the {collision.path[0]} "
            "alone."
        )
    report = partial(
        make_diagnosis,
        severity=Severity.WARNING,
        row=second,
        message=message,
        consequence=consequence,
        others=[first],
        witness=collision.witness,
        is_unproven=collision.witness is None,
    )
    return report("GENERAL_RULE_UNDOES") if _is_undone(collision) else report("RULE_COLLISION")


def find_rules_that_undo_forms(survey: Survey) -> Iterator[Diagnosis]:
    """General rules that act on a "no" before the form, which says itself what a no does."""
    snapshot = survey.snapshot
    general = [rule for rule in snapshot.enabled_rows(rows.Rule) if _may_undo_form(rule, survey)]
    for form in snapshot.enabled_rows(rows.OutputSchema) if general else ():
        intent = code(form.intent_code)
        if read_on_no(form) is None or not snapshot.is_active(intent):
            continue
        confirmations = _list_confirmation_states(snapshot, form)
        for rule in general:
            if not survey.is_touched(rule, form) or survey.must_skip("general rules and forms"):
                continue
            where = [(intent, state) for state in confirmations if scope_fits(rule.state_code, state)]
            acting = rule, replace(rule, **_IS_NO)
            takes_no = find_turn(survey.player, _ON_ACT, where, acting, partial(_acts_on_no, rule))
            if takes_no is not None:
                yield make_diagnosis(
                    "GENERAL_RULE_UNDOES",
                    Severity.WARNING,
                    rule,
                    f"{rule_name(rule)} applies to a “no” at the confirmation of {intent}, before its form does what "
                    "its own setting for a “no” says.",
                    f"The flow's setting for a “no” has no effect. Name an intent in rule {rule.rule_id}, or switch "
                    "off Rules/GENERAL_MAY_UNDO.",
                    others=[form],
                    witness=takes_no.witness,
                )


def _list_confirmation_states(snapshot: Snapshot, form: rows.OutputSchema) -> list[str]:
    """The states to which rules lead from the form, and in which something is still to be decided."""
    rules = snapshot.index(rows.Rule, scope_key, get_rule_order).get(scope_key(form), ())
    states = dict.fromkeys(code(rule.action_value) for rule in rules if is_move(rule, RuleAction.SET_STATE))
    return [state for state in states if not is_final_state(snapshot, form.intent_code, state)]


def _acts_on_no(rule: rows.Rule, played: PlayedRules) -> bool:
    step = played.find_acting(rule)
    return step is not None and step.before.dialogue.dialogue_act == DialogueAct.NEGATE


def _may_undo_form(rule: rows.Rule, survey: Survey) -> bool:
    """True for a rule of every intent that moves when a yes or no is read, before forms react to it."""
    if code(rule.intent_code) != ANY or not is_move(rule) or read_phase(rule.phase) != _ON_ACT:
        return False
    return rule.override or bool(live_settings.read(survey.snapshot, GENERAL_MAY_UNDO).value)


def _is_undone(collision: Collision) -> bool:
    """True when a general rule takes back the intent or state of a more specific one, without being marked to."""
    first, second = collision.first, collision.second
    more_general = rank_specificity(first) > rank_specificity(second)
    return collision.path in (("state",), ("intent",)) and more_general and not second.override


def list_pairs(survey: Survey) -> Iterator[tuple[rows.Rule, rows.Rule]]:
    """Pairs of rules that are tested in the same phase and set the same thing, without duplicates, closest first."""
    groups = survey.snapshot.table(rows.Rule).memo.get("health groups", partial(_group_rules, survey.snapshot))
    seen: set[tuple[int, int]] = set()
    for rule in sorted(survey.of(rows.Rule), key=get_rule_order):
        if not survey.is_active(rule):
            continue
        for other in _list_neighbours(groups, rule):
            first, second = sorted((rule, other), key=get_rule_order)
            key = (first.rule_id, second.rule_id)
            if other is rule or first.stop_processing or key in seen or not survey.is_active(other):
                continue
            seen.add(key)
            if find_contested(first, second):
                yield first, second


_Group = tuple[str, ...]
_Groups = Mapping[_Group, Mapping[tuple[str, str], Sequence[rows.Rule]]]


def _group_rules(snapshot: Snapshot) -> _Groups:
    """The rules by phase and by what they set, then by scope."""
    groups: dict[_Group, dict[tuple[str, str], list[rows.Rule]]] = {}
    for rule in snapshot.enabled_rows(rows.Rule):
        for group in _get_groups(rule):
            groups.setdefault(group, {}).setdefault(scope_key(rule), []).append(rule)
    return groups


def _get_groups(rule: rows.Rule) -> set[_Group]:
    phase = read_phase(rule.phase)
    roots = {tuple(str(key) for key in effect.path[:2]) for effect in list_effects(rule)}
    return {(phase, *root) for root in roots} if phase is not None else set()


def _list_neighbours(groups: _Groups, rule: rows.Rule) -> Iterator[rows.Rule]:
    """The rules of its groups with overlapping scopes, those of the same scope first."""
    intent, state = scope_key(rule)
    for group in sorted(_get_groups(rule)):
        scopes = groups.get(group, {})
        if ANY in (intent, state):
            overlapping = (scope for scope in scopes if scope_fits(scope[0], intent) and scope_fits(scope[1], state))
        else:
            overlapping = (scope for scope in list_buckets(intent, state) if scope in scopes)
        for scope in overlapping:
            yield from scopes[scope]


def get_rule_order(rule: rows.Rule) -> tuple[int, int, int]:
    """The order of a rule in a pass: by bucket, then priority, then key."""
    return -rank_specificity(rule), rule.priority, rule.rule_id


def _find_overwritten(
    steps: Sequence[AppliedRule], first: rows.Rule, second: rows.Rule, contested: Sequence[FactPath]
) -> FactPath | None:
    """What the first rule set and the second one changed in one pass."""
    for step in steps:
        later = [other for other in steps if (other.phase, other.number) == (step.phase, step.number)]
        overriding = next((other for other in later if other.rule_id == second.rule_id), None)
        if step.rule_id != first.rule_id or overriding is None:
            continue
        for path in contested:
            before, after = read_value(step.after, path), read_value(overriding.after, path)
            if before is not after and (NOTHING in (before, after) or not equal_json(before, after)):
                return path
        return None
    return None
