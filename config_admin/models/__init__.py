"""The control plane's tables: one module a table, and the tables of its releases."""

from config_admin.models.acknowledgement import CeHealthAcknowledgement
from config_admin.models.base import ControlPlaneRow, RowQuerySet, ScopedRow
from config_admin.models.classifier import CeIntentClassifier
from config_admin.models.config import CeConfig
from config_admin.models.container_config import CeContainerConfig
from config_admin.models.desk_row import CeDeskRow
from config_admin.models.intent import CeIntent
from config_admin.models.mcp_db_tool import CeMcpDbTool
from config_admin.models.mcp_http_tool import CeMcpHttpTool
from config_admin.models.mcp_planner import CeMcpPlanner
from config_admin.models.mcp_server import CeMcpServer
from config_admin.models.mcp_sql_guardrail import CeMcpSqlGuardrail
from config_admin.models.mcp_tool import CeMcpTool
from config_admin.models.output_schema import CeOutputSchema
from config_admin.models.pending_action import CePendingAction
from config_admin.models.policy import CePolicy
from config_admin.models.presence import CePresence
from config_admin.models.prompt_template import CePromptTemplate
from config_admin.models.response import CeResponse
from config_admin.models.rule import CeRule
from config_admin.models.state_graph import CeStateGraph
from config_admin.models.tool import CeTool
from config_admin.models.verbose import CeVerbose
from config_admin.releases.models import CeConfigHead, CeRelease, CeReleaseBlob

__all__ = [
    "CeConfig",
    "CeConfigHead",
    "CeContainerConfig",
    "CeDeskRow",
    "CeHealthAcknowledgement",
    "CeIntent",
    "CeIntentClassifier",
    "CeMcpDbTool",
    "CeMcpHttpTool",
    "CeMcpPlanner",
    "CeMcpServer",
    "CeMcpSqlGuardrail",
    "CeMcpTool",
    "CeOutputSchema",
    "CePendingAction",
    "CePolicy",
    "CePresence",
    "CePromptTemplate",
    "CeRelease",
    "CeReleaseBlob",
    "CeResponse",
    "CeRule",
    "CeStateGraph",
    "CeTool",
    "CeVerbose",
    "ControlPlaneRow",
    "RowQuerySet",
    "ScopedRow",
]
