"""Rules that can never act, where that is proven: by a row before them, by their scope, or by their own words."""

from collections.abc import Iterator, Mapping, Sequence

from config_admin.health.checks.words import rule_name, scope_name
from config_admin.health.diagnosis import Diagnosis, diagnosis
from config_admin.health.reach import reaches
from config_admin.health.rules.branching import MAX_BRANCHES, branches
from config_admin.health.rules.claims import Branch, FactClaim, Place, TextClaim
from config_admin.health.rules.collide import order
from config_admin.health.rules.document import says
from config_admin.health.rules.effects import effects
from config_admin.health.rules.phases import SOURCES
from config_admin.health.survey import Survey
from config_admin.health.texts.wish import Wish, never
from config_admin.validation import relations
from config_admin.validation.findings import Severity
from convengine.domain import rows
from convengine.domain.enums import DialogueAct, MatchTarget, RuleAction, RulePhase, RuleType, phase_of
from convengine.domain.scope import ANY
from convengine.domain.text import code
from convengine.rules.conditions import target, unusable
from convengine.rules.json_path.nodes import Where
from convengine.rules.json_path.parser import parse_path

_BY_TEXT = (RuleType.EXACT, RuleType.REGEX)
_NOTHING_HAPPENS = "What the rule is for never happens: the customer gets what comes without it."


def check(survey: Survey) -> Iterator[Diagnosis]:
    """Every rule that is switched on, takes part, and never acts."""
    for rule in survey.of(rows.Rule):
        if survey.active(rule) and not unusable(rule) and not survey.late("rules"):
            found = next(_reasons(survey, rule), None)
            if found is not None:
                yield found


def _reasons(survey: Survey, rule: rows.Rule) -> Iterator[Diagnosis]:
    yield from _phase(survey, rule)
    yield from _unreached(survey, rule)
    yield from _contradicts(survey, rule)
    yield from _shadowed(survey, rule)


def _told(rule: rows.Rule, why: str, *others: rows.Row, field: str | None = None) -> Diagnosis:
    message = f"{rule_name(rule)} never acts: {why}"
    return diagnosis("RULE_NEVER_FIRES", Severity.WARNING, rule, message, _NOTHING_HAPPENS, others=others, field=field)


def _phase(survey: Survey, rule: rows.Rule) -> Iterator[Diagnosis]:
    """The phase does not come, or not for this intent."""
    phase, intent = phase_of(rule.phase), code(rule.intent_code)
    if phase is not None and phase not in SOURCES:
        yield _told(rule, f"nothing runs the rules of phase {phase}.", field="phase")
    elif intent == ANY or _led_to(survey, rule):
        return
    elif phase == RulePhase.POST_CLASSIFIER_INTENT and not relations.of_intent(
        survey.snapshot, rows.Classifier, intent
    ):
        yield _told(rule, f"no classifier means {intent}, so that its rules are not looked at there.", field="phase")
    elif phase == RulePhase.POST_SCHEMA_EXTRACTION and not relations.of_intent(
        survey.snapshot, rows.OutputSchema, intent
    ):
        yield _told(rule, f"{intent} has no schema, so that nothing is collected and no rule follows.", field="phase")


def _led_to(survey: Survey, rule: rows.Rule) -> bool:
    """True when another rule of the phase turns to the intent, so that a second pass comes to this one."""
    turning = survey.snapshot.index(rows.Rule, _turns_to, relations.rank)
    return bool(turning.get((phase_of(rule.phase), code(rule.intent_code))))


def _turns_to(rule: rows.Rule) -> tuple[RulePhase | None, str] | None:
    """The phase in which a rule sets the intent, and the intent; null for one that sets none."""
    return (phase_of(rule.phase), code(rule.action_value)) if code(rule.action) == RuleAction.SET_INTENT else None


def _unreached(survey: Survey, rule: rows.Rule) -> Iterator[Diagnosis]:
    if not reaches(survey.snapshot, rule.intent_code, rule.state_code):
        where = scope_name(rule.intent_code, rule.state_code)
        why = f"no rule, classifier or edge leads to {where}. Only a model, or code, could name that state."
        yield _told(rule, why, field="state_code")


# --- its own words ----------------------------------------------------------------------------------------------


def _contradicts(survey: Survey, rule: rows.Rule) -> Iterator[Diagnosis]:
    kind = code(rule.rule_type)
    if kind in _BY_TEXT:
        ways = branches(rule)
        wish = next((claim.wish for way in ways for claim in way if isinstance(claim, TextClaim)), None)
        if wish is None:
            return
        if target(rule) == MatchTarget.DIALOGUE_ACT:
            if not any(wish.holds(act.value) for act in DialogueAct):
                yield _told(rule, "no dialogue act has a name that fits its pattern.", field="match_pattern")
        elif never([wish]):
            yield _told(rule, "no text fulfils its pattern.", field="match_pattern")
    elif kind == RuleType.JSON_PATH and _out_of_scope(survey, rule):
        where = scope_name(rule.intent_code, rule.state_code)
        why = f"its condition asks for another intent or state than its scope {where} admits."
        yield _told(rule, why, field="match_pattern")


def _out_of_scope(survey: Survey, rule: rows.Rule) -> bool:
    """True when intent and state, as its scope or a rule before it leaves them, make each way to hold impossible."""
    steps = parse_path(rule.match_pattern or "").steps
    if len(steps) != 1 or not isinstance(steps[0], Where):
        return False
    ways = branches(rule)
    if not ways or len(ways) >= MAX_BRANCHES:
        return False
    scope = {("intent",): code(rule.intent_code), ("state",): code(rule.state_code)}
    known: dict[Place, str] = {place: value for place, value in scope.items() if value != ANY}
    if not _all_wrong(ways, known):
        return False
    changed = {
        effect.place
        for other in _of_phase(survey, rule)
        if order(other) < order(rule) and other is not rule
        for effect in effects(other)
    }
    return _all_wrong(ways, {place: value for place, value in known.items() if place not in changed})


def _all_wrong(ways: Sequence[Branch], fixed: Mapping[Place, str]) -> bool:
    return all(any(isinstance(claim, FactClaim) and _is_wrong(claim, fixed) for claim in way) for way in ways)


def _is_wrong(claim: FactClaim, fixed: Mapping[Place, str]) -> bool:
    places = claim.places
    if not places or any(place not in fixed for place in places):
        return False
    return not says(claim, {place: value for place, value in fixed.items() if place in places})


# --- the rows before it -----------------------------------------------------------------------------------------


def _shadowed(survey: Survey, rule: rows.Rule) -> Iterator[Diagnosis]:
    """A rule of the same scope, before this one, holds whenever this one would, and ends the list."""
    phase = phase_of(rule.phase)
    for other in relations.same_scope(survey.snapshot, rule):
        if order(other) >= order(rule) or phase_of(other.phase) != phase:
            continue
        # A task runs once in a phase, so that in a second pass it does not end the list.
        ends = other.stop_processing and code(other.action) != RuleAction.SET_TASK and not unusable(other)
        if ends and _holds_whenever(survey, other, rule):
            why = f"{rule_name(other)} is looked at first, holds whenever this one would, and ends the list."
            yield _told(rule, why, other)
            return


def _holds_whenever(survey: Survey, other: rows.Rule, rule: rows.Rule) -> bool:
    if code(other.rule_type) not in set(RuleType):
        return False
    if _condition(other) == _condition(rule):
        return _is_still(survey, other, rule)
    if {code(other.rule_type), code(rule.rule_type)} - set(_BY_TEXT) or target(other) != target(rule):
        return False
    wishes = [claim.wish for one in (rule, other) for claim in branches(one)[0] if isinstance(claim, TextClaim)]
    return _implies(*wishes, acts=target(rule) == MatchTarget.DIALOGUE_ACT) and _is_still(survey, other, rule)


def _condition(rule: rows.Rule) -> tuple[object, ...]:
    return code(rule.rule_type), target(rule), (rule.match_pattern or "").strip(), rule.null_leaf_matches


def _implies(one: Wish, other: Wish, *, acts: bool) -> bool:
    if acts:
        return all(other.holds(act.value) for act in DialogueAct if one.holds(act.value))
    return never([one], [other])


def _is_still(survey: Survey, other: rows.Rule, rule: rows.Rule) -> bool:
    """True when nothing that the conditions look at changes between the two: the user's text never does."""
    if target(rule) == MatchTarget.USER_TEXT and code(rule.rule_type) in _BY_TEXT:
        return True
    between = (one for one in _of_phase(survey, rule) if order(other) < order(one) < order(rule))
    return not any(effects(one) or code(one.action) == RuleAction.SET_TASK for one in between)


def _of_phase(survey: Survey, rule: rows.Rule) -> Iterator[rows.Rule]:
    """The rules of the phase that can stand in one list with this one."""
    found = relations.sharing_scope(survey.snapshot, rows.Rule, rule.intent_code, rule.state_code)
    phase = phase_of(rule.phase)
    return (one for one in found if phase_of(one.phase) == phase and survey.active(one))
