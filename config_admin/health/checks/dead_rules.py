"""Rules that provably never act: because of an earlier row, their scope, or their own conditions."""

from collections.abc import Iterator, Mapping, Sequence

from config_admin.health.checks.collisions import get_rule_order
from config_admin.health.checks.words import rule_name, scope_name
from config_admin.health.diagnosis import Diagnosis, make_diagnosis
from config_admin.health.reachability import is_reachable
from config_admin.health.rules.claims import MAX_BRANCHES, Branch, FactClaim, FactPath, TextClaim, split_condition
from config_admin.health.rules.document import holds_in
from config_admin.health.rules.effects import list_effects
from config_admin.health.rules.phases import SOURCES
from config_admin.health.survey import Survey
from config_admin.health.texts.predicate import TextPredicate, includes, is_impossible
from config_admin.validation import relations
from config_admin.validation.findings import Severity
from convengine.engine.rules.conditions import find_fault, get_target
from convengine.engine.rules.json_path.nodes import Where
from convengine.engine.rules.json_path.parser import parse_path
from convengine.engine.text.compare import code
from convengine.engine.turn import rows
from convengine.engine.turn.enums import DialogueAct, MatchTarget, RuleAction, RulePhase, RuleType, read_phase
from convengine.engine.turn.scope import ANY, IDLE, UNKNOWN

_BY_TEXT = (RuleType.EXACT, RuleType.REGEX)
_NOTHING_HAPPENS = "The rule has no effect for the customer."


def find_dead_rules(survey: Survey) -> Iterator[Diagnosis]:
    """Every enabled rule that takes part and never acts."""
    for rule in survey.of(rows.Rule):
        if survey.active(rule) and not find_fault(rule) and not survey.late("rules"):
            diagnosis = next(_list_reasons(survey, rule), None)
            if diagnosis is not None:
                yield diagnosis


def _list_reasons(survey: Survey, rule: rows.Rule) -> Iterator[Diagnosis]:
    yield from _check_phase(survey, rule)
    yield from _check_reachability(survey, rule)
    yield from _check_contradiction(survey, rule)
    yield from _check_shadowing(survey, rule)


def _report(rule: rows.Rule, why: str, *others: rows.Row, field: str | None = None) -> Diagnosis:
    message = f"{rule_name(rule)} never applies: {why}"
    return make_diagnosis(
        "RULE_NEVER_FIRES", Severity.WARNING, rule, message, _NOTHING_HAPPENS, others=others, field=field
    )


def _check_phase(survey: Survey, rule: rows.Rule) -> Iterator[Diagnosis]:
    """The phase never runs, or not for this intent."""
    phase, intent = read_phase(rule.phase), code(rule.intent_code)
    if phase is not None and phase not in SOURCES:
        yield _report(rule, f"rules of phase {phase} are never evaluated.", field="phase")
    elif intent == ANY or _is_set_by_rule(survey, rule):
        return
    elif phase == RulePhase.POST_CLASSIFIER_INTENT and not relations.find_rows_of_intent(
        survey.snapshot, rows.Classifier, intent
    ):
        yield _report(rule, f"no phrase leads to {intent}, so its rules are not evaluated there.", field="phase")
    elif phase == RulePhase.POST_SCHEMA_EXTRACTION and not relations.find_rows_of_intent(
        survey.snapshot, rows.OutputSchema, intent
    ):
        yield _report(
            rule,
            f"{intent} has no form, so no field is collected and the rules after it are not evaluated.",
            field="phase",
        )


#: The states of rules that begin a flow; the model's decision itself sets IDLE.
_START_STATES = (ANY, UNKNOWN, IDLE)


def find_skipped_start_rules(survey: Survey) -> Iterator[Diagnosis]:
    """Every rule that sets the first state after the model's decision only, of an intent that phrases lead to, too."""
    for rule in survey.of(rows.Rule):
        if (
            survey.active(rule)
            and read_phase(rule.phase) == RulePhase.POST_AGENT_INTENT
            and code(rule.action) == RuleAction.SET_STATE
            and code(rule.intent_code) != ANY
        ):
            phrase = _find_phrase_without_start(survey, rule)
            if phrase is not None:
                message = (
                    f"{rule_name(rule)} sets the state {code(rule.action_value)} only when the model decides. Messages "
                    f"that phrases recognise stay in the state {code(phrase.state_code)}. Add the same rule with the "
                    f"phase “{RulePhase.POST_CLASSIFIER_INTENT.label}”."
                )
                yield make_diagnosis(
                    "START_RULE_SKIPPED",
                    Severity.WARNING,
                    rule,
                    message,
                    "The flow does not start for customers whose message a phrase recognises.",
                    others=(phrase,),
                    field="phase",
                )


def _find_phrase_without_start(survey: Survey, rule: rows.Rule) -> rows.Classifier | None:
    """A phrase of the rule's intent after which no other rule sets a state."""
    target = code(rule.action_value)
    for phrase in relations.find_rows_of_intent(survey.snapshot, rows.Classifier, rule.intent_code):
        state = code(phrase.state_code)
        if state in (ANY, target) or code(rule.state_code) not in (*_START_STATES, state):
            continue
        others = relations.find_rows_sharing_scope(survey.snapshot, rows.Rule, rule.intent_code, state)
        if not any(_starts(other, rule) for other in others if survey.active(other)):
            return phrase
    return None


def _starts(other: rows.Rule, rule: rows.Rule) -> bool:
    """True when another rule sets a state after a phrase decided, or does the same as the rule later in the turn."""
    phase = read_phase(other.phase)
    if code(other.action) != RuleAction.SET_STATE or phase == RulePhase.POST_AGENT_INTENT:
        return False
    does_same = code(other.action_value) == code(rule.action_value) and other.match_pattern == rule.match_pattern
    return phase == RulePhase.POST_CLASSIFIER_INTENT or does_same


def _is_set_by_rule(survey: Survey, rule: rows.Rule) -> bool:
    """True when another rule of the phase sets the intent, so that a second pass reaches this one."""
    turning = survey.snapshot.index(rows.Rule, _get_set_intent, relations.rank)
    return bool(turning.get((read_phase(rule.phase), code(rule.intent_code))))


def _get_set_intent(rule: rows.Rule) -> tuple[RulePhase | None, str] | None:
    """The phase in which a rule sets the intent, and the intent, or null."""
    return (read_phase(rule.phase), code(rule.action_value)) if code(rule.action) == RuleAction.SET_INTENT else None


def _check_reachability(survey: Survey, rule: rows.Rule) -> Iterator[Diagnosis]:
    if not is_reachable(survey.snapshot, rule.intent_code, rule.state_code):
        where = scope_name(rule.intent_code, rule.state_code)
        why = f"no rule, phrase or state graph edge leads to {where}. Only a model or code could set that state."
        yield _report(rule, why, field="state_code")


# --- its own conditions -----------------------------------------------------------------------------------------


def _check_contradiction(survey: Survey, rule: rows.Rule) -> Iterator[Diagnosis]:
    kind = code(rule.rule_type)
    if kind in _BY_TEXT:
        ways = split_condition(rule)
        predicate = next((claim.predicate for way in ways for claim in way if isinstance(claim, TextClaim)), None)
        if predicate is None:
            return
        if get_target(rule) == MatchTarget.DIALOGUE_ACT:
            if not any(predicate.holds(act.value) for act in DialogueAct):
                yield _report(rule, "no dialogue act matches its pattern.", field="match_pattern")
        elif is_impossible([predicate]):
            yield _report(rule, "no text matches its pattern.", field="match_pattern")
    elif kind in (RuleType.JSON_PATH, RuleType.CONDITION) and _contradicts_scope(survey, rule):
        where = scope_name(rule.intent_code, rule.state_code)
        why = f"its condition requires another intent or state than its scope ({where}) allows."
        yield _report(rule, why, field="match_pattern")


def _contradicts_scope(survey: Survey, rule: rows.Rule) -> bool:
    """True when its scope, or a rule before it, makes the condition on intent and state impossible."""
    if code(rule.rule_type) == RuleType.JSON_PATH:
        steps = parse_path(rule.match_pattern or "").steps
        if len(steps) != 1 or not isinstance(steps[0], Where):
            return False
    ways = split_condition(rule)
    if not ways or len(ways) >= MAX_BRANCHES:
        return False
    scope = {("intent",): code(rule.intent_code), ("state",): code(rule.state_code)}
    known: dict[FactPath, str] = {path: value for path, value in scope.items() if value != ANY}
    if not _are_impossible(ways, known):
        return False
    changed = {
        effect.path
        for other in _list_rules_of_phase(survey, rule)
        if get_rule_order(other) < get_rule_order(rule) and other is not rule
        for effect in list_effects(other)
    }
    return _are_impossible(ways, {path: value for path, value in known.items() if path not in changed})


def _are_impossible(ways: Sequence[Branch], fixed: Mapping[FactPath, str]) -> bool:
    return all(any(isinstance(claim, FactClaim) and _is_impossible(claim, fixed) for claim in way) for way in ways)


def _is_impossible(claim: FactClaim, fixed: Mapping[FactPath, str]) -> bool:
    paths = claim.paths
    if not paths or any(path not in fixed for path in paths):
        return False
    return not holds_in(claim, {path: value for path, value in fixed.items() if path in paths})


# --- earlier rows -----------------------------------------------------------------------------------------------


def _check_shadowing(survey: Survey, rule: rows.Rule) -> Iterator[Diagnosis]:
    """An earlier rule of the same scope holds whenever this one would, and ends the list."""
    phase = read_phase(rule.phase)
    for other in relations.find_rows_of_scope(survey.snapshot, rule):
        if get_rule_order(other) >= get_rule_order(rule) or read_phase(other.phase) != phase:
            continue
        # A task runs once per phase, so in a second pass it does not end the list.
        ends = other.stop_processing and code(other.action) != RuleAction.SET_TASK and not find_fault(other)
        if ends and _covers(survey, other, rule):
            why = f"{rule_name(other)} is evaluated first, matches in the same cases, and stops processing."
            yield _report(rule, why, other)
            return


def _covers(survey: Survey, other: rows.Rule, rule: rows.Rule) -> bool:
    if code(other.rule_type) not in set(RuleType):
        return False
    if _describe_condition(other) == _describe_condition(rule):
        return _is_unchanged(survey, other, rule)
    if {code(other.rule_type), code(rule.rule_type)} - set(_BY_TEXT) or get_target(other) != get_target(rule):
        return False
    predicates = [
        claim.predicate for row in (rule, other) for claim in split_condition(row)[0] if isinstance(claim, TextClaim)
    ]
    return _implies(*predicates, acts=get_target(rule) == MatchTarget.DIALOGUE_ACT) and _is_unchanged(
        survey, other, rule
    )


def _describe_condition(rule: rows.Rule) -> tuple[object, ...]:
    return code(rule.rule_type), get_target(rule), (rule.match_pattern or "").strip(), rule.null_leaf_matches


def _implies(predicate: TextPredicate, other: TextPredicate, *, acts: bool) -> bool:
    if acts:
        return all(other.holds(act.value) for act in DialogueAct if predicate.holds(act.value))
    return includes(other, predicate)


def _is_unchanged(survey: Survey, other: rows.Rule, rule: rows.Rule) -> bool:
    """True when nothing that the conditions read changes between the two; the user's text never does."""
    if get_target(rule) == MatchTarget.USER_TEXT and code(rule.rule_type) in _BY_TEXT:
        return True
    between = (
        candidate
        for candidate in _list_rules_of_phase(survey, rule)
        if get_rule_order(other) < get_rule_order(candidate) < get_rule_order(rule)
    )
    return not any(list_effects(candidate) or code(candidate.action) == RuleAction.SET_TASK for candidate in between)


def _list_rules_of_phase(survey: Survey, rule: rows.Rule) -> Iterator[rows.Rule]:
    """The rules of the phase that can be in one list with this one."""
    rules = relations.find_rows_sharing_scope(survey.snapshot, rows.Rule, rule.intent_code, rule.state_code)
    phase = read_phase(rule.phase)
    return (candidate for candidate in rules if read_phase(candidate.phase) == phase and survey.active(candidate))
