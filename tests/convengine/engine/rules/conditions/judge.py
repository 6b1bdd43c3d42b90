"""Test a path as the condition of a rule on any document."""

from typing import Any

from convengine.engine.rules.conditions.evaluate import evaluate
from convengine.engine.rules.conditions.rule import read_condition
from convengine.engine.rules.conditions.values import EvaluationScope
from convengine.engine.rules.verdict import Verdict
from tests.builders import make_rule


def judge_path(path: str, document: Any, *, null_leaf_matches: bool = True) -> Verdict:
    rule = make_rule(rule_type="JSON_PATH", match_pattern=path, null_leaf_matches=null_leaf_matches)
    condition = read_condition(rule)
    assert condition is not None
    return evaluate(condition.test, EvaluationScope(document))
