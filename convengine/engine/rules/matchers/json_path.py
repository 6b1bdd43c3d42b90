"""JSON_PATH and CONTEXT_JSON_PATH: the path matches a document (pipeline-2 0.8, R65)."""

from typing import Any

from convengine.engine.rules.json_path import PathError, compile_path
from convengine.engine.rules.verdict import ROW_INVALID, Verdict
from convengine.engine.turn.rows import Rule


def match_json_path(rule: Rule, document: Any) -> Verdict:
    """Test a rule on a document. A path that does not parse never matches."""
    try:
        path = compile_path(rule.match_pattern or "")
    except PathError:
        return Verdict(False, ROW_INVALID)
    found = path.test(document, rule.null_leaf_matches)
    return Verdict(found.matched, found.reason, found.operands)
