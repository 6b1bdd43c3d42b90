"""Chapters with more information about an entry."""

from collections.abc import Mapping, Sequence

#: By table, and by table and column if that differs.
FURTHER: Mapping[str, Sequence[str]] = {
    "ce_intent": ("start", "understanding"),
    "ce_intent_classifier": ("patterns", "understanding"),
    "ce_intent_classifier.pattern": ("patterns",),
    "ce_rule": ("rules",),
    "ce_rule.match_pattern": ("paths", "patterns", "rules"),
    "ce_rule.rule_type": ("rules", "paths", "patterns"),
    "ce_policy": ("understanding",),
    "ce_policy.pattern": ("patterns", "understanding"),
    "ce_output_schema": ("extraction",),
    "ce_prompt_template": ("prompts", "templates"),
    "ce_response": ("templates", "prompts"),
    "ce_verbose": ("templates",),
    "ce_verbose.step_value": ("patterns",),
    "ce_container_config": ("extending",),
    "ce_pending_action": ("actions",),
    "ce_tool": ("tools",),
    "ce_mcp_tool": ("tools",),
    "ce_mcp_db_tool": ("tools",),
    "ce_mcp_http_tool": ("tools",),
    "ce_mcp_sql_guardrail": ("tools",),
    "ce_mcp_planner": ("planner",),
    "ce_mcp_server": ("mcp",),
    "ce_config": ("workplace",),
    "ce_conversation": ("sessions",),
    "ce_thread": ("sessions",),
    "ce_session_unit": ("sessions",),
    "ce_memory": ("prompts",),
    "ce_job": ("jobs",),
    "ce_job_run": ("jobs",),
    "ce_api_key": ("api",),
    "ce_release": ("workplace",),
}
