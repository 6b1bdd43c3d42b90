"""A topic with rows in many tables, and rows of others that name it."""

from typing import Any

from config_admin import models as m
from config_admin.releases.change_set import change_set
from config_admin.releases.models import Origin
from tests.config_admin.builders import make

CONDITION = '{"combinator": "and", "rules": [{"field": "intent", "operator": "=", "value": "LOAN"}]}'


def make_topic(**intent: Any) -> dict[str, Any]:
    """The rows of the intent LOAN, by name."""
    with change_set(Origin.ADMIN, "ada"):
        rows = {"intent": make(m.CeIntent, **intent), "phrase": make(m.CeIntentClassifier)}
        rows["rule"] = make(m.CeRule, rule_type="REGEX", match_pattern="yes")
        rows["answer"] = make(m.CeResponse, state_code="ANY")
        rows["tool"] = make(m.CeMcpTool, tool_code="loan.rate")
        rows["sql"] = make(m.CeMcpDbTool, tool=rows["tool"])
        rows["call"] = make(m.CeTool, tool_code="loan.rate")
        rows["progress"] = make(
            m.CeVerbose, rule_id=rows["rule"].pk, step_value="SET_STATE", determinant="RULE_APPLIED"
        )
        rows["edge"] = make(m.CeStateGraph, from_state="COLLECT", to_state="DONE")
    return rows


def make_references() -> dict[str, Any]:
    """Rows of every intent that name it: one changes to it, one compares with it."""
    with change_set(Origin.ADMIN, "ada"):
        other = {"intent_code": "ANY", "state_code": "ANY"}
        return {
            "switches": make(m.CeRule, **other, action="SET_INTENT", action_value="LOAN", match_pattern="borrow"),
            "compares": make(m.CeRule, **other, rule_type="CONDITION", match_pattern=CONDITION, priority=7),
        }
