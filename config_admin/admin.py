"""Imports the admin of tables and releases, so that they register themselves."""

from config_admin.drafts import admin as draft_admin
from config_admin.editing.row_diff import DESCRIBERS
from config_admin.flows.summary import describe_form_difference
from config_admin.history import release_admin
from config_admin.history.gradual import admin as gradual_admin
from config_admin.tables.classifier import admin as classifier
from config_admin.tables.config import admin as config
from config_admin.tables.container_config import admin as container_config
from config_admin.tables.intent import admin as intent
from config_admin.tables.mcp_db_tool import admin as mcp_db_tool
from config_admin.tables.mcp_http_tool import admin as mcp_http_tool
from config_admin.tables.mcp_planner import admin as mcp_planner
from config_admin.tables.mcp_server import admin as mcp_server
from config_admin.tables.mcp_sql_guardrail import admin as mcp_sql_guardrail
from config_admin.tables.mcp_tool import admin as mcp_tool
from config_admin.tables.output_schema import admin as output_schema
from config_admin.tables.pending_action import admin as pending_action
from config_admin.tables.policy import admin as policy
from config_admin.tables.prompt_template import admin as prompt_template
from config_admin.tables.response import admin as response
from config_admin.tables.rule import admin as rule
from config_admin.tables.state_graph import admin as state_graph
from config_admin.tables.tool import admin as tool
from config_admin.tables.verbose import admin as verbose
from config_admin.test_cases import admin as test_case_admin
from config_admin.test_cases import run_pages as test_runs

DESCRIBERS["ce_output_schema", "json_schema"] = describe_form_difference

__all__ = [
    "classifier",
    "config",
    "container_config",
    "draft_admin",
    "gradual_admin",
    "intent",
    "mcp_db_tool",
    "mcp_http_tool",
    "mcp_planner",
    "mcp_server",
    "mcp_sql_guardrail",
    "mcp_tool",
    "output_schema",
    "pending_action",
    "policy",
    "prompt_template",
    "release_admin",
    "response",
    "rule",
    "state_graph",
    "test_case_admin",
    "test_runs",
    "tool",
    "verbose",
]
