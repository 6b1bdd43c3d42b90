"""Which text areas are edited as code, in which language, and the names that are completed there."""

from collections.abc import Mapping
from typing import Any

from config_admin.admin.desk import Desk
from config_admin.admin.editing.pickers import collected, params
from convengine.domain.enums import RuleType, StepMatch
from convengine.domain.facts import RESERVED_FACTS
from convengine.prompts.variables import known_names

_PATTERN = "rule_type:REGEX=regex"
_RULE = f"rule_type:{RuleType.REGEX}=regex,{RuleType.JSON_PATH}=path,{RuleType.CONTEXT_JSON_PATH}=path"
TEMPLATE = "template"
#: By table and column: a language, or `field:VALUE=language,…` where another field decides. JSON columns are JSON.
LANGUAGES: Mapping[tuple[str, str], str] = {
    ("ce_rule", "match_pattern"): _RULE,
    ("ce_intent_classifier", "pattern"): _PATTERN,
    ("ce_policy", "pattern"): _PATTERN,
    ("ce_response", "exact_text"): TEMPLATE,
    ("ce_response", "derivation_hint"): TEMPLATE,
    ("ce_prompt_template", "system_prompt"): TEMPLATE,
    ("ce_prompt_template", "user_prompt"): TEMPLATE,
    ("ce_mcp_planner", "system_prompt"): TEMPLATE,
    ("ce_mcp_planner", "user_prompt"): TEMPLATE,
    ("ce_mcp_http_tool", "body_template"): TEMPLATE,
    ("ce_mcp_db_tool", "sql_template"): "sql",
    ("ce_verbose", "step_value"): f"step_match:{StepMatch.REGEX}=regex,{StepMatch.JSON_PATH}=path",
    ("ce_verbose", "message"): TEMPLATE,
    ("ce_verbose", "error_message"): TEMPLATE,
}


def language_of(table: str, column: Any) -> str | None:
    """The language of a column that is edited as code; null for other columns."""
    if column.get_internal_type() == "JSONField":
        return "json"
    return LANGUAGES.get((table, column.name))


def names(desk: Desk) -> dict[str, list[str]]:
    """What is completed: facts at the top, context fields, input params, names of templates."""
    fields = [option.value for option in collected(desk)]
    return {
        "facts": sorted({*RESERVED_FACTS, *fields}),
        "context": fields,
        "params": [option.value for option in params(desk)],
        "template": sorted({*known_names(), *RESERVED_FACTS, *fields}),
    }
