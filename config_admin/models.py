"""The models of the configuration: one module per table, and those of releases."""

from config_admin.drafts.models import CeDraft, CeDraftEdit, CeDraftReview, CeDraftSchedule
from config_admin.editing.first_steps import CeFirstStep
from config_admin.evaluation.models import CeEvaluation
from config_admin.health.stored_findings import CeHealthAcknowledgement, CeHealthFinding, CeHealthReport
from config_admin.releases.models import (
    CeConfigHead,
    CeGradualRelease,
    CeRelease,
    CeReleaseBlob,
    CeReleaseMove,
    CeReleaseSource,
)
from config_admin.tables.answer_document import CeAnswerDocument
from config_admin.tables.base_model import ControlPlaneRow, RowQuerySet, ScopedRow
from config_admin.tables.classifier import CeIntentClassifier
from config_admin.tables.config import CeConfig
from config_admin.tables.container_config import CeContainerConfig
from config_admin.tables.intent import CeIntent
from config_admin.tables.mcp_db_tool import CeMcpDbTool
from config_admin.tables.mcp_http_tool.model import CeMcpHttpTool
from config_admin.tables.mcp_planner import CeMcpPlanner
from config_admin.tables.mcp_server import CeMcpServer
from config_admin.tables.mcp_sql_guardrail import CeMcpSqlGuardrail
from config_admin.tables.mcp_tool import CeMcpTool
from config_admin.tables.output_schema import CeOutputSchema
from config_admin.tables.pending_action import CePendingAction
from config_admin.tables.policy import CePolicy
from config_admin.tables.prompt_template import CePromptTemplate
from config_admin.tables.response import CeResponse
from config_admin.tables.rule import CeRule
from config_admin.tables.state_graph import CeStateGraph
from config_admin.tables.tool import CeTool
from config_admin.tables.verbose import CeVerbose
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
