"""Values that are written after the rules that check them have run."""

from collections.abc import Iterator, Mapping, Sequence

from config_admin.health.diagnosis import Diagnosis, Witness, make_diagnosis
from config_admin.health.player import PlayedRules
from config_admin.health.rules.effects import describe_effect, list_effects, rule_name
from config_admin.health.rules.mentions import FactPath, list_mentions
from config_admin.health.rules.scopes import find_shared_scopes
from config_admin.health.survey import Survey
from config_admin.health.witnesses import WitnessTurn, find_turn, needs_model
from config_admin.validation.draft import Severity
from config_admin.validation.relations import scope_fits
from convengine.engine.rules.conditions.rule import evaluate_rule, find_fault
from convengine.engine.steps.forms.schema_extraction import SchemaExtractionStep
from convengine.engine.text.compare import code
from convengine.engine.turn import rows
from convengine.engine.turn.enums import RulePhase, read_phase

_CHECKED = RulePhase.POST_SCHEMA_EXTRACTION


def _index_checks(usable: Sequence[rows.Rule]) -> Mapping[FactPath, Sequence[rows.Rule]]:
    """By path in the context, the rules that test it after data collection."""
    checks: dict[FactPath, list[rows.Rule]] = {}
    for rule in usable:
        if read_phase(rule.phase) == _CHECKED:
            for path in {mention.path[:2] for mention in list_mentions(rule) if mention.path[0] == "context"}:
                checks.setdefault(path, []).append(rule)
    return checks


def find_unchecked_values(survey: Survey) -> Iterator[Diagnosis]:
    """Every rule that writes a value which an earlier rule refuses when it tests the context after data collection."""
    usable = [rule for rule in survey.of(rows.Rule) if survey.is_active(rule) and not find_fault(rule)]
    checks = _index_checks(usable)
    for rule in usable if checks else ():
        for path in dict.fromkeys(effect.path[:2] for effect in list_effects(rule)):
            intent = code(rule.intent_code)
            checking = [check for check in checks.get(path, ()) if scope_fits(intent, code(check.intent_code))]
            if read_phase(rule.phase) != _CHECKED and checking and not survey.must_skip("values"):
                yield from _report_first(survey, rule, path, checking)


def _report_first(survey: Survey, rule: rows.Rule, path: FactPath, checks: Sequence[rows.Rule]) -> Iterator[Diagnosis]:
    """The first check that a written value passes by; without a turn that shows it, a hint where none is played."""
    for check in checks:
        shown = _find_escape(survey, rule, check)
        if shown is not None:
            yield _report(rule, path, check, shown.witness)
            return
    if needs_model(rule):
        yield _report(rule, path, checks[0], None)


def _find_escape(survey: Survey, rule: rows.Rule, check: rows.Rule) -> WitnessTurn | None:
    """A turn in which the rule writes a value that the check would refuse, but after the check has run.

    Returns None if none is found.
    """
    phase = read_phase(rule.phase)
    if phase is None:
        return None

    def escapes(played: PlayedRules) -> bool:
        step = played.find_acting(rule)
        if step is None or not played.has_begun(SchemaExtractionStep, step):
            return False
        is_tested = any(other.rule_id == check.rule_id and other.seq > step.seq for other in played.applied)
        return not is_tested and evaluate_rule(check, step.after).matched

    return find_turn(survey.player, phase, find_shared_scopes(survey.snapshot, phase, rule), (rule,), escapes)


def _report(rule: rows.Rule, path: FactPath, check: rows.Rule, witness: Witness | None) -> Diagnosis:
    """The finding for a rule that writes a value after the rule `check` has tested it."""
    unproven = "" if witness else " No turn was found in which that happens."
    message = (
        f"{rule_name(rule)} {describe_effect(rule, path)} when {rule_name(check)} has already tested it. Let it run in "
        f"the phase “{_CHECKED.label}” and before that rule, or repeat the test after it.{unproven}"
    )
    return make_diagnosis(
        "VALUE_UNCHECKED",
        Severity.WARNING,
        rule,
        message,
        "A value that is not allowed can reach the confirmation.",
        others=(check,),
        field="phase",
        witness=witness,
        is_unproven=witness is None,
    )
