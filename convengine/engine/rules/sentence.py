"""A rule as one sentence: "When the form of CANCEL_ORDER is complete, set state to CONFIRM."."""

from convengine.engine.rules import vocabulary
from convengine.engine.rules.actions.contract import SHOWN, ActionValueError
from convengine.engine.rules.conditions.nodes import PathError
from convengine.engine.rules.conditions.rows import ConditionError
from convengine.engine.rules.conditions.rule import UnknownTarget, build_text_test, read_condition
from convengine.engine.rules.conditions.words import describe
from convengine.engine.rules.patterns import PatternError
from convengine.engine.text.compare import blank, code, shorten
from convengine.engine.turn.enums import RuleType
from convengine.engine.turn.rows import Rule
from convengine.engine.turn.scope import ANY

_COMPLETE = "the form is complete"


def describe_rule(rule: Rule) -> str:
    """The whole rule in words for people who have never seen a pattern. Never raises, because drafts are shown too."""
    missing = [
        *(["a condition"] if blank(rule.rule_type) or blank(rule.match_pattern) else []),
        *(["an action"] if blank(rule.action) else []),
    ]
    if missing:
        return f"This rule is incomplete: choose {' and '.join(missing)}."
    condition = _describe_condition(rule)
    intent, state = code(rule.intent_code) or ANY, code(rule.state_code) or ANY
    if condition and _COMPLETE in condition and intent != ANY:
        condition = condition.replace(_COMPLETE, f"the form of {intent} is complete")
        intent = ANY
    where = describe_scope(intent, state)
    when = f"When {condition}{where}" if condition else f"Always{where}"
    stop = " Later rules of this pass are skipped." if rule.stop_processing else ""
    stop += " It may override more specific rules." if rule.override else ""
    return f"{when}, {describe_effect(rule)}.{stop}"


def describe_effect(rule: Rule) -> str:
    action = vocabulary.get_action(rule.action)
    if action is None:
        return "do nothing (no action is chosen)" if blank(rule.action) else f"run the unknown action {rule.action}"
    try:
        value = action.parse(rule.action_value)
    except (ActionValueError, PathError):
        value = shorten(str(rule.action_value), SHOWN)
        return (
            f"{_lower_first(action.label)} ({'no value yet' if blank(rule.action_value) else f'invalid value {value}'})"
        )
    if action.describe:
        return action.describe(value)
    return f"{_lower_first(action.label)} {shorten(rule.action_value or '', SHOWN)}".rstrip()


def _describe_condition(rule: Rule) -> str:
    """The condition as a clause; blank if it always holds."""
    kind, pattern = code(rule.rule_type), (rule.match_pattern or "").strip()
    if kind == RuleType.EXACT and code(pattern) == ANY:
        return ""
    try:
        condition = read_condition(rule)
    except (UnknownTarget, PatternError):
        return describe(build_text_test(kind, rule.match_target, pattern))
    except (PathError, ConditionError) as error:
        kind_name = "JSON path" if isinstance(error, PathError) else "condition"
        return f"{shorten(pattern, SHOWN)} (not a valid {kind_name})"
    if condition is None:
        return f"{rule.rule_type} holds for {shorten(pattern, SHOWN) or 'it'}"
    return describe(condition.tree, condition.root)


def describe_scope(intent: str, state: str) -> str:
    """` in state COLLECT of intent REFUND`; nothing for ANY."""
    match intent, state:
        case "ANY", "ANY":
            return ""
        case "ANY", _:
            return f" in state {state}"
        case _, "ANY":
            return f" in intent {intent}"
    return f" in state {state} of intent {intent}"


def _lower_first(label: str) -> str:
    return label[:1].lower() + label[1:]
