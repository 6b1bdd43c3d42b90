"""Test a rule's condition. The rule type selects the matcher, the match target the text (pipeline-2 0.8, 7.3)."""

from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import Any

from convengine.engine.rules.field_conditions.evaluate import evaluate_condition
from convengine.engine.rules.field_conditions.parser import ConditionError, parse_condition
from convengine.engine.rules.json_path import PathError, compile_path
from convengine.engine.rules.patterns import PatternError, compile_pattern
from convengine.engine.rules.text_bank import ANY, fold_case
from convengine.engine.rules.verdict import (
    MATCHER_FAILED,
    NO_MATCHER,
    ROW_INVALID,
    Verdict,
    build_text_verdict,
    build_verdict,
)
from convengine.engine.text.compare import blank, code
from convengine.engine.turn.enums import MatchTarget, RuleType
from convengine.engine.turn.facts import collect_facts
from convengine.engine.turn.fault import Fault
from convengine.engine.turn.rows import Rule
from convengine.engine.turn.session import Session


def match_exact(rule: Rule, text: str | None) -> Verdict:
    """EXACT: the trimmed text equals the pattern, ignoring case; `ANY` matches every text.

    A null text or a blank pattern never matches.
    """
    pattern = rule.match_pattern or ""
    matched = text is not None and not blank(pattern) and fold_case(pattern) in (fold_case(ANY), fold_case(text))
    return build_text_verdict(rule.match_target, text, "equals", rule.match_pattern, matched)


def match_regex(rule: Rule, text: str | None) -> Verdict:
    """REGEX: the pattern occurs in the text, ignoring case.

    A null text, or a blank or invalid pattern never matches.
    """
    pattern = rule.match_pattern or ""
    try:
        matched = not blank(pattern) and compile_pattern(pattern).occurs_in(text)
    except PatternError:
        return Verdict(False, ROW_INVALID)
    return build_text_verdict(rule.match_target, text, "=~", rule.match_pattern, matched)


def match_json_path(rule: Rule, document: Any) -> Verdict:
    """JSON_PATH and CONTEXT_JSON_PATH: the path matches a document. One that does not parse never does (R65)."""
    try:
        path = compile_path(rule.match_pattern or "")
    except PathError:
        return Verdict(False, ROW_INVALID)
    return path.test(document, rule.null_leaf_matches)


def match_condition(rule: Rule, session: Session) -> Verdict:
    """CONDITION: the rows of fields, operators and values hold. One that cannot be read never does."""
    try:
        condition = parse_condition(rule.match_pattern or "")
    except ConditionError:
        return Verdict(False, ROW_INVALID)
    return evaluate_condition(condition, session)


#: A custom matcher: (rule, session) -> holds.
Matcher = Callable[[Rule, Session], bool]
_TARGETS: Mapping[str, Callable[[Session], Any]] = {
    MatchTarget.USER_TEXT: lambda session: session.user_text,
    MatchTarget.RESOLVED_INPUT: lambda session: session.resolved_user_input,
    MatchTarget.DIALOGUE_ACT: lambda session: session.dialogue.dialogue_act,
}
_BY_TEXT: Mapping[str, Callable[[Rule, str | None], Verdict]] = {
    RuleType.EXACT: match_exact,
    RuleType.REGEX: match_regex,
}
_DOCUMENTS: Mapping[str, Callable[[Session], Any]] = {
    RuleType.JSON_PATH: collect_facts,
    RuleType.CONTEXT_JSON_PATH: lambda session: session.context,
}
_custom: dict[str, Matcher] = {}


def rule_matcher(name: str) -> Callable[[Matcher], Matcher]:
    """Register a function of (rule, session) as rule type `name`. Raises ValueError if the name is taken."""

    def register(matcher: Matcher) -> Matcher:
        if code(name) in (*RuleType, *_custom):
            raise ValueError(f"The rule type {code(name)} is already registered.")
        _custom[code(name)] = matcher
        return matcher

    return register


def custom_registry() -> dict[str, Matcher]:
    """The rule types of the deployment, to be replaced when its code is loaded again."""
    return _custom


def custom_matchers() -> Mapping[str, Matcher]:
    """The rule types that the deployment registered."""
    return MappingProxyType(_custom)


def get_target(rule: Rule) -> str:
    """The match target of a text rule; default is the user's text."""
    return code(rule.match_target) or MatchTarget.USER_TEXT


def find_fault(rule: Rule) -> Fault | None:
    """Why a row can never hold: its pattern, path or rows cannot be read, or its target is unknown; null if usable."""
    kind = code(rule.rule_type)
    try:
        if kind in _BY_TEXT and get_target(rule) not in _TARGETS:
            remedy = f"Choose one of: {', '.join(_TARGETS)}."
            return Fault(f"unknown match target {rule.match_target}", "match_target", rule.match_target, remedy)
        if kind == RuleType.REGEX and rule.match_pattern:
            compile_pattern(rule.match_pattern)
        elif kind in _DOCUMENTS:
            compile_path(rule.match_pattern or "")
        elif kind == RuleType.CONDITION:
            parse_condition(rule.match_pattern or "")
    except (PatternError, PathError, ConditionError) as error:
        return error.fault("match_pattern", rule.match_pattern or "")
    return None


def evaluate_rule(
    rule: Rule, session: Session, on_fault: Callable[[str, str, BaseException], None] | None = None
) -> Verdict:
    """Test one rule on a session. Never raises; `on_fault` gets the exception of a rule type of the deployment."""
    kind = code(rule.rule_type)
    if by_text := _BY_TEXT.get(kind):
        if read := _TARGETS.get(get_target(rule)):
            value = read(session)
            return by_text(rule, value if isinstance(value, str) else None)
        return Verdict(False, ROW_INVALID)
    if document := _DOCUMENTS.get(kind):
        return match_json_path(rule, document(session))
    if kind == RuleType.CONDITION:
        return match_condition(rule, session)
    if matcher := _custom.get(kind):
        try:
            return build_verdict(bool(matcher(rule, session)))
        except Exception as error:
            if on_fault:
                on_fault("RULE_TYPE", kind, error)
            return Verdict(False, MATCHER_FAILED, ({"path": kind, "op": "raised", "literal": str(error)},))
    return Verdict(False, NO_MATCHER)
