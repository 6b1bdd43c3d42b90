"""Values that are written after the rules that check them have run (R151)."""

from collections.abc import Iterator

from config_admin.health.checks.words import describe_effect, rule_name
from config_admin.health.diagnosis import Diagnosis, make_diagnosis
from config_admin.health.rules.claims import FactClaim, FactPath, split_condition
from config_admin.health.rules.effects import list_effects
from config_admin.health.rules.phases import is_after
from config_admin.health.survey import Survey
from config_admin.validation.findings import Severity
from convengine.engine.rules.conditions import find_fault
from convengine.engine.rules.field_conditions.parser import list_fields, parse_condition
from convengine.engine.text.compare import code
from convengine.engine.turn import rows
from convengine.engine.turn.enums import RulePhase, RuleType, read_phase
from convengine.engine.turn.scope import ANY

_CHECKED = RulePhase.POST_SCHEMA_EXTRACTION


def find_unchecked_values(survey: Survey) -> Iterator[Diagnosis]:
    """Every rule that writes a context field after the rules that test it after data collection."""
    usable = [rule for rule in survey.of(rows.Rule) if survey.active(rule) and not find_fault(rule)]
    checks: dict[FactPath, list[rows.Rule]] = {}
    for rule in usable:
        for path in _list_tested_fields(rule) if read_phase(rule.phase) == _CHECKED else ():
            checks.setdefault(path, []).append(rule)
    for rule in usable if checks else ():
        phase = read_phase(rule.phase)
        if phase is None or not is_after(phase, _CHECKED):
            continue
        for path in dict.fromkeys(effect.path[:2] for effect in list_effects(rule)):
            check = next((check for check in checks.get(path, ()) if _share_intent(rule, check)), None)
            if check is not None:
                yield _report(rule, path, check)


def _list_tested_fields(rule: rows.Rule) -> set[FactPath]:
    """The fields of the context that the condition tests."""
    if code(rule.rule_type) == RuleType.CONDITION:
        return {("context", name.split(".")[0]) for name in list_fields(parse_condition(rule.match_pattern or ""))}
    claims = (claim for branch in split_condition(rule) for claim in branch if isinstance(claim, FactClaim))
    return {path[:2] for claim in claims for path in claim.paths if path[0] == "context"}


def _share_intent(rule: rows.Rule, other: rows.Rule) -> bool:
    intents = {code(rule.intent_code), code(other.intent_code)}
    return ANY in intents or len(intents) == 1


def _report(rule: rows.Rule, path: FactPath, check: rows.Rule) -> Diagnosis:
    message = (
        f"{rule_name(rule)} {describe_effect(rule, path)} when {rule_name(check)} has already tested it. Let it run in "
        f"the phase “{_CHECKED.label}” and before that rule, or repeat the test after it."
    )
    consequence = "A value that is not allowed can reach the confirmation."
    return make_diagnosis(
        "VALUE_UNCHECKED", Severity.WARNING, rule, message, consequence, others=(check,), field="phase"
    )
