"""Rules that never act: because of an earlier row, their scope, or their own conditions."""

from collections.abc import Iterator
from dataclasses import replace
from functools import partial
from itertools import chain, islice, product

from config_admin.health.checks.collisions import get_rule_order
from config_admin.health.diagnosis import Diagnosis, Witness, make_diagnosis
from config_admin.health.player import PlayedRules
from config_admin.health.reachability import is_reachable
from config_admin.health.rules.beginnings import Wanted, find_beginnings
from config_admin.health.rules.effects import list_effects, rule_name, scope_name
from config_admin.health.rules.mentions import get_text_predicate, list_mentions
from config_admin.health.rules.scopes import find_shared_scopes
from config_admin.health.survey import Survey
from config_admin.health.texts.predicate import includes, is_impossible
from config_admin.health.witnesses import MAX_PLAYED, find_turn, find_turn_of_phrase, list_phrase_texts, needs_model
from config_admin.validation import relations
from config_admin.validation.draft import Severity
from convengine.engine.rules.conditions.rule import evaluate_rule, find_fault, get_target
from convengine.engine.text.compare import code
from convengine.engine.turn import rows
from convengine.engine.turn.enums import DialogueAct, MatchTarget, RuleAction, RulePhase, RuleType, read_phase
from convengine.engine.turn.scope import ANY, IDLE, UNKNOWN

#: Maximum rules between a rule and the one that ends the list before it, to try.
MAX_BETWEEN = 3
_NOTHING_HAPPENS = "The rule has no effect for the customer."


def find_dead_rules(survey: Survey) -> Iterator[Diagnosis]:
    """Every enabled rule that takes part and never acts."""
    for rule in survey.of(rows.Rule):
        if survey.is_active(rule) and not find_fault(rule) and not survey.must_skip("rules"):
            checks = _check_phase, _check_reachability, _check_contradiction, _check_shadowing
            yield from islice((reason for check in checks for reason in check(survey, rule)), 1)


def _report(
    rule: rows.Rule,
    why: str,
    *others: rows.Row,
    field: str | None = None,
    witness: Witness | None = None,
    is_unproven: bool = False,
) -> Diagnosis:
    """The finding for a rule that never applies; `why` ends the sentence that says so."""
    message = f"{rule_name(rule)} never applies: {why}"
    return make_diagnosis(
        "RULE_NEVER_FIRES",
        Severity.WARNING,
        rule,
        message,
        _NOTHING_HAPPENS,
        others=others,
        field=field,
        witness=witness,
        is_unproven=is_unproven,
    )


def _check_phase(survey: Survey, rule: rows.Rule) -> Iterator[Diagnosis]:
    """A finding if the phase of a rule never runs, or never for the rule's intent."""
    phase, intent = read_phase(rule.phase), code(rule.intent_code)
    # A rule of the phase that sets the intent reaches this one in a second pass.
    turning = survey.snapshot.index(rows.Rule, _get_set_intent, relations.rank)
    if phase == RulePhase.POST_SEMANTIC_INTERPRET:
        yield _report(rule, f"rules of phase {phase} are never evaluated.", field="phase")
    elif intent == ANY or turning.get((phase, intent)):
        return
    elif phase == RulePhase.POST_CLASSIFIER_INTENT and not relations.find_rows_of_intent(
        survey.snapshot, rows.Classifier, intent
    ):
        yield _report(rule, f"no phrase leads to {intent}, so its rules are not evaluated there.", field="phase")
    elif phase == RulePhase.POST_SCHEMA_EXTRACTION and not relations.find_rows_of_intent(
        survey.snapshot, rows.OutputSchema, intent
    ):
        why = f"{intent} has no form, so no field is collected and the rules after it are not evaluated."
        yield _report(rule, why, field="phase")


def _check_reachability(survey: Survey, rule: rows.Rule) -> Iterator[Diagnosis]:
    if not is_reachable(survey.snapshot, rule.intent_code, rule.state_code):
        where = scope_name(rule.intent_code, rule.state_code)
        why = f"no rule, phrase or state graph edge leads to {where}. Only a model or code could set that state."
        yield _report(rule, why, field="state_code")


#: The states of rules that begin a flow; the model's decision itself sets IDLE.
_START_STATES = (ANY, UNKNOWN, IDLE)


def find_skipped_start_rules(survey: Survey) -> Iterator[Diagnosis]:
    """Every rule that sets the first state after the model's decision only, of an intent that phrases lead to, too."""
    for rule in survey.of(rows.Rule):
        if (
            survey.is_active(rule)
            and read_phase(rule.phase) == RulePhase.POST_AGENT_INTENT
            and code(rule.action) == RuleAction.SET_STATE
            and code(rule.intent_code) != ANY
        ):
            yield from _report_skipped(survey, rule)


def _report_skipped(survey: Survey, rule: rows.Rule) -> Iterator[Diagnosis]:
    """The first phrase whose turn stays in the phrase's state; as a hint, one that is compared by meaning."""
    unproven: rows.Classifier | None = None
    for phrase in relations.find_rows_of_intent(survey.snapshot, rows.Classifier, rule.intent_code):
        state = code(phrase.state_code)
        if state in (ANY, code(rule.action_value)) or code(rule.state_code) not in (*_START_STATES, state):
            continue
        if not list_phrase_texts(phrase):
            unproven = unproven or phrase
            continue
        shown = find_turn_of_phrase(survey.player, phrase, partial(_stays_with, phrase))
        if shown is not None:
            yield _report_skipped_by(rule, phrase, shown.witness)
            return
    if unproven is not None:
        yield _report_skipped_by(rule, unproven, None)


def _stays_with(phrase: rows.Classifier, played: PlayedRules) -> bool:
    return (played.end.intent, played.end.state) == (code(phrase.intent_code), code(phrase.state_code))


def _report_skipped_by(rule: rows.Rule, phrase: rows.Classifier, witness: Witness | None) -> Diagnosis:
    """The finding for a rule that starts a flow, but not for messages that this phrase recognises."""
    unproven = "" if witness else " No turn was found in which that happens."
    message = (
        f"{rule_name(rule)} sets the state {code(rule.action_value)} only when the model decides. Messages that "
        f"phrases recognise stay in the state {code(phrase.state_code)}. Add the same rule with the phase "
        f"“{RulePhase.POST_CLASSIFIER_INTENT.label}”.{unproven}"
    )
    return make_diagnosis(
        "START_RULE_SKIPPED",
        Severity.WARNING,
        rule,
        message,
        "The flow does not start for customers whose message a phrase recognises.",
        others=(phrase,),
        field="phase",
        witness=witness,
        is_unproven=witness is None,
    )


def _get_set_intent(rule: rows.Rule) -> tuple[RulePhase | None, str] | None:
    return (read_phase(rule.phase), code(rule.action_value)) if code(rule.action) == RuleAction.SET_INTENT else None


# --- its own conditions -----------------------------------------------------------------------------------------


def _check_contradiction(survey: Survey, rule: rows.Rule) -> Iterator[Diagnosis]:
    """A finding if the rule's own condition can never hold in its scope."""
    predicate = get_text_predicate(rule)
    if predicate is not None and get_target(rule) == MatchTarget.DIALOGUE_ACT:
        if not any(predicate.holds(act.value) for act in DialogueAct):
            yield _report(rule, "no dialogue act matches its pattern.", field="match_pattern")
    elif predicate is not None:
        if is_impossible([predicate]):
            yield _report(rule, "no text matches its pattern.", field="match_pattern")
    elif _needs_other_scope(survey, rule):
        where = scope_name(rule.intent_code, rule.state_code)
        why = (
            f"its condition requires another intent or state than its scope ({where}) allows. No turn was found in "
            "which it applies."
        )
        yield _report(rule, why, field="match_pattern", is_unproven=True)


def _needs_other_scope(survey: Survey, rule: rows.Rule) -> bool:
    """True when the condition holds in an intent or state that it names, and never in the rule's own scope."""
    phase, intents, states = read_phase(rule.phase), _list_named(rule, "intent"), _list_named(rule, "state")
    if phase is None or needs_model(rule) or not [*intents, *states]:
        return False
    find = partial(find_beginnings, survey.snapshot, phase, wanted=[Wanted(rule)], is_late=survey.player.is_late)
    own = find_shared_scopes(survey.snapshot, phase, rule)
    if next(find(own), None) is not None:
        return False
    elsewhere = chain.from_iterable(product((intent, *intents), (state, *states)) for intent, state in own)
    beginnings = [*islice(find([*elsewhere]), MAX_PLAYED)]
    # An earlier rule of the list may move the conversation there.
    moved = (
        replace(beginning, intent=intent, state=state) for beginning in beginnings for intent, state in own[:MAX_PLAYED]
    )
    return bool(beginnings) and not any(survey.player.play(turn).find_acting(rule) for turn in moved)


def _list_named(rule: rows.Rule, fact: str) -> list[str]:
    """The intents or states that the condition names."""
    mentioned = (value for mention in list_mentions(rule) if mention.path == (fact,) for value in mention.values)
    return sorted({code(value) for value in mentioned if isinstance(value, str) and value})


# --- earlier rows -----------------------------------------------------------------------------------------------


def _check_shadowing(survey: Survey, rule: rows.Rule) -> Iterator[Diagnosis]:
    """A finding if an earlier rule of the same scope holds whenever this one would, and ends the list."""
    phase = read_phase(rule.phase)
    for other in relations.find_rows_of_scope(survey.snapshot, rule):
        is_earlier = get_rule_order(other) < get_rule_order(rule) and read_phase(other.phase) == phase
        if phase is None or not is_earlier or not other.stop_processing or find_fault(other):
            continue
        if _covers(other, rule) and not survey.must_skip("rules"):
            yield from _report_shadow(survey, phase, other, rule)
            return


def _report_shadow(survey: Survey, phase: RulePhase, other: rows.Rule, rule: rows.Rule) -> Iterator[Diagnosis]:
    """The finding that the earlier rule ends the list before this one; none if this one acts in some turn.

    Its witness is a turn in which that happens. If none is found, there is a hint only for a rule that needs a model.
    """
    scopes = find_shared_scopes(survey.snapshot, phase, rule)

    def ends_before(played: PlayedRules) -> bool:
        step = played.find_acting(other)
        return step is not None and step.phase == phase and evaluate_rule(rule, step.after).matched

    for acting in ((rule,), *((writing, rule) for writing in _list_writing_between(survey, other, rule))):
        if find_turn(survey.player, phase, scopes, acting, lambda played: played.find_acting(rule) is not None):
            return
    shown = find_turn(survey.player, phase, scopes, (rule,), ends_before)
    if shown is None and not needs_model(rule):
        return
    unproven = "" if shown else " No turn was found in which it applies."
    why = f"{rule_name(other)} is evaluated first, matches in the same cases, and stops processing.{unproven}"
    yield _report(rule, why, other, witness=shown.witness if shown else None, is_unproven=shown is None)


def _list_writing_between(survey: Survey, other: rows.Rule, rule: rows.Rule) -> Iterator[rows.Rule]:
    """Rules between the two that may make the later one hold; at most `MAX_BETWEEN`."""
    sharing = relations.find_rows_sharing_scope(survey.snapshot, rows.Rule, rule.intent_code, rule.state_code)
    writing = (
        between
        for between in sharing
        if get_rule_order(other) < get_rule_order(between) < get_rule_order(rule)
        and read_phase(between.phase) == read_phase(rule.phase)
        and survey.is_active(between)
        and list_effects(between)
    )
    return islice(writing, MAX_BETWEEN)


def _covers(other: rows.Rule, rule: rows.Rule) -> bool:
    """True when the condition of the first rule provably holds whenever that of the second one does."""
    if code(other.rule_type) not in set(RuleType):
        return False
    if _describe_condition(other) == _describe_condition(rule):
        return True
    wider, narrower = get_text_predicate(other), get_text_predicate(rule)
    if wider is None or narrower is None or get_target(rule) != get_target(other):
        return False
    if get_target(rule) == MatchTarget.DIALOGUE_ACT:
        return all(wider.holds(act.value) for act in DialogueAct if narrower.holds(act.value))
    return includes(wider, narrower)


def _describe_condition(rule: rows.Rule) -> tuple[object, ...]:
    return code(rule.rule_type), get_target(rule), (rule.match_pattern or "").strip(), rule.null_leaf_matches
