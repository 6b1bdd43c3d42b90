"""The condition of a rule: its type says how it is written, and what it is tested on."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import lru_cache
from types import MappingProxyType

from convengine.engine.rules.conditions.evaluate import Test, compile_condition, evaluate
from convengine.engine.rules.conditions.json_path import parse_path
from convengine.engine.rules.conditions.nodes import Comparison, Condition, Finds, Literal, PathError, RuleTarget
from convengine.engine.rules.conditions.operators import TEXT_OPERATORS
from convengine.engine.rules.conditions.rows import ConditionError, parse_condition
from convengine.engine.rules.conditions.values import EvaluationScope
from convengine.engine.rules.patterns import PatternError, compile_pattern
from convengine.engine.rules.verdict import MATCHER_FAILED, NO_MATCHER, ROW_INVALID, Verdict, build_verdict
from convengine.engine.text.compare import code
from convengine.engine.turn.enums import MatchTarget, RuleType
from convengine.engine.turn.facts import collect_facts
from convengine.engine.turn.fault import Fault
from convengine.engine.turn.rows import Rule
from convengine.engine.turn.session import Session
from convengine.json_value import Json

#: The texts of EXACT and REGEX rules.
_TARGETS: Mapping[str, Callable[[Session], str | None]] = {
    MatchTarget.USER_TEXT: lambda session: session.user_text,
    MatchTarget.RESOLVED_INPUT: lambda session: session.resolved_user_input,
    MatchTarget.DIALOGUE_ACT: lambda session: session.dialogue.dialogue_act,
}


class UnknownTarget(ValueError):
    """A text rule with a match target that does not exist."""

    def fault(self, field: str, text: str) -> Fault:
        """The fault of a row with this target. Both arguments are unused: other errors of UNREADABLE need them."""
        target = str(self)
        return Fault(f"unknown match target {target}", "match_target", target, f"Choose one of: {', '.join(_TARGETS)}.")


#: Why a condition cannot be read.
UNREADABLE = (UnknownTarget, PatternError, PathError, ConditionError)


@dataclass(frozen=True, eq=False)
class RuleCondition:
    tree: Condition
    test: Test
    #: The text or document that it is tested on.
    get_document: Callable[[Session], Json]
    #: The key of the fact that the document is; blank for a text, and for all facts.
    root: str = ""
    #: Rows: all are tested, so that each has its result.
    tests_all: bool = False


def read_condition(rule: Rule) -> RuleCondition | None:
    """The condition of a rule. Returns None for a type of the deployment.

    Raises one of UNREADABLE.
    """
    return _read_condition(code(rule.rule_type), rule.match_target, rule.match_pattern, rule.null_leaf_matches)


@lru_cache(maxsize=16384)
def _read_condition(
    kind: str, target: str | None, written: str | None, null_leaf_matches: bool
) -> RuleCondition | None:
    """The condition of a rule with these columns, cached. Returns None for a type of the deployment.

    Raises one of UNREADABLE.
    """
    pattern = written or ""
    match kind:
        case RuleType.EXACT | RuleType.REGEX:
            tree = build_text_test(kind, target, written)
            if code(target) not in ("", *_TARGETS):
                raise UnknownTarget(target)
            if kind == RuleType.REGEX and pattern:
                compile_pattern(pattern)
            return RuleCondition(tree, compile_condition(tree), _TARGETS[code(target) or MatchTarget.USER_TEXT])
        case RuleType.JSON_PATH | RuleType.CONTEXT_JSON_PATH:
            path = parse_path(pattern)
            test = compile_condition(condition := path.filter or Finds(path, pattern, null_leaf_matches))
            if kind == RuleType.JSON_PATH:
                return RuleCondition(condition, test, collect_facts)
            return RuleCondition(condition, test, lambda session: session.context, root="context")
        case RuleType.CONDITION:
            rows = parse_condition(pattern)
            return RuleCondition(rows, compile_condition(rows), collect_facts, tests_all=True)
    return None


def build_text_test(kind: str, target: str | None, pattern: str | None) -> Comparison:
    """The comparison of an EXACT or REGEX rule, whatever its target and pattern."""
    operator = TEXT_OPERATORS["=~" if kind == RuleType.REGEX else "equals"]
    return Comparison(
        RuleTarget(code(target) or MatchTarget.USER_TEXT, target), operator, Literal(pattern or "", pattern)
    )


#: A custom matcher: (rule, session) -> holds.
Matcher = Callable[[Rule, Session], bool]
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
    """Why a row can never hold: its pattern, path or rows cannot be read, or its target is unknown.

    Returns None if usable, and for every type that is not built in.
    """
    try:
        read_condition(rule)
    except UNREADABLE as error:
        return error.fault("match_pattern", rule.match_pattern or "")
    return None


def evaluate_rule(
    rule: Rule, session: Session, on_fault: Callable[[str, str, BaseException], None] | None = None
) -> Verdict:
    """Test one rule on a session; one that cannot be read never holds.

    Never raises; `on_fault` gets the exception of a rule type of the deployment.
    """
    try:
        condition = read_condition(rule)
    except UNREADABLE:
        return Verdict(False, ROW_INVALID)
    if condition is None:
        return _evaluate_custom(rule, session, on_fault)
    return evaluate(
        condition.test, EvaluationScope(condition.get_document(session), session, tests_all=condition.tests_all)
    )


def _evaluate_custom(
    rule: Rule, session: Session, on_fault: Callable[[str, str, BaseException], None] | None
) -> Verdict:
    """Test a rule of a type of the deployment. It does not hold if the type is unknown, or if its matcher raises."""
    kind = code(rule.rule_type)
    matcher = _custom.get(kind)
    if matcher is None:
        return Verdict(False, NO_MATCHER)
    try:
        return build_verdict(bool(matcher(rule, session)))
    except Exception as error:
        if on_fault:
            on_fault("RULE_TYPE", kind, error)
        return Verdict(False, MATCHER_FAILED, ({"path": kind, "op": "raised", "literal": str(error)},))
