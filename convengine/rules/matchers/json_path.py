"""JSON_PATH and CONTEXT_JSON_PATH: the path matches a document (pipeline-2 0.8, R65)."""

from typing import Any

from convengine.domain.rows import Rule
from convengine.rules.json_path import PathError, compile_path
from convengine.rules.verdict import ROW_INVALID, Verdict


def test(rule: Rule, document: Any) -> Verdict:
    """Test a rule on a document. A path that does not parse never holds."""
    try:
        path = compile_path(rule.match_pattern or "")
    except PathError:
        return Verdict(False, ROW_INVALID)
    found = path.test(document, rule.null_leaf_matches)
    return Verdict(found.matched, found.reason, found.operands)
