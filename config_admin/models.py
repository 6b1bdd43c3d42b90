"""The models of the configuration: one module per table, and those of releases."""

from config_admin.drafts.models import CeDraft, CeDraftEdit, CeDraftReview, CeDraftSchedule
from config_admin.editing.first_steps import CeFirstStep
from config_admin.evaluation.models import CeEvaluation
from config_admin.health.acknowledgement import CeHealthAcknowledgement
from config_admin.health.stored_findings import CeHealthFinding, CeHealthReport
from config_admin.releases.models import (
    CeConfigHead,
    CeGradualRelease,
    CeRelease,
    CeReleaseBlob,
    CeReleaseMove,
    CeReleaseSource,
)
from config_admin.tables.answer_document.model import CeAnswerDocument
from config_admin.tables.base_model import ControlPlaneRow, RowQuerySet, ScopedRow
from config_admin.tables.classifier.model import CeIntentClassifier
from config_admin.tables.config.model import CeConfig
from config_admin.tables.container_config.model import CeContainerConfig
from config_admin.tables.intent.model import CeIntent
from config_admin.tables.mcp_db_tool.model import CeMcpDbTool
from config_admin.tables.mcp_http_tool.model import CeMcpHttpTool
from config_admin.tables.mcp_planner.model import CeMcpPlanner
from config_admin.tables.mcp_server.model import CeMcpServer
from config_admin.tables.mcp_sql_guardrail.model import CeMcpSqlGuardrail
from config_admin.tables.mcp_tool.model import CeMcpTool
from config_admin.tables.output_schema.model import CeOutputSchema
from config_admin.tables.pending_action.model import CePendingAction
from config_admin.tables.policy.model import CePolicy
from config_admin.tables.prompt_template.model import CePromptTemplate
from config_admin.tables.response.model import CeResponse
from config_admin.tables.rule.model import CeRule
from config_admin.tables.state_graph.model import CeStateGraph
from config_admin.tables.tool.model import CeTool
from config_admin.tables.verbose.model import CeVerbose
from config_admin.test_cases.models import CeTestCase, CeTestCaseTag, CeTestResult, CeTestRun

__all__ = [
    "CeAnswerDocument",
    "CeConfig",
    "CeConfigHead",
    "CeContainerConfig",
    "CeDraft",
    "CeDraftEdit",
    "CeDraftReview",
    "CeDraftSchedule",
    "CeEvaluation",
    "CeFirstStep",
    "CeGradualRelease",
    "CeHealthAcknowledgement",
    "CeHealthFinding",
    "CeHealthReport",
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
    "CePromptTemplate",
    "CeRelease",
    "CeReleaseBlob",
    "CeReleaseMove",
    "CeReleaseSource",
    "CeResponse",
    "CeRule",
    "CeStateGraph",
    "CeTestCase",
    "CeTestCaseTag",
    "CeTestResult",
    "CeTestRun",
    "CeTool",
    "CeVerbose",
    "ControlPlaneRow",
    "RowQuerySet",
    "ScopedRow",
]
