"""What the events of stages hold, and which steps write them: what is collected and done."""

from collections.abc import Mapping

from convengine.domain.stage_facts.told import PROMPT_FAULT, Told
from convengine.domain.stage_facts.told import of as _of
from convengine.domain.stages import Stage

DOING: Mapping[Stage, Told] = {
    # data
    Stage.CONTAINER_DATA_SKIPPED: _of("AddContainerData", "reason intent state"),
    Stage.CONTAINER_DATA_EXECUTED: _of(
        "AddContainerData",
        "containerId pageId sectionId inputParam requestInput response durationMs",
    ),
    Stage.CONTAINER_DATA_FAILED: _of(
        "AddContainerData",
        "containerId pageId sectionId inputParam error errorType durationMs",
    ),
    Stage.CONTAINER_DATA_ATTACHED: _of("AddContainerData", ""),
    Stage.SCHEMA_EXTRACTION_START: _of("SchemaExtraction", "schemaId"),
    Stage.SCHEMA_EXTRACTION_LLM_INPUT: _of("SchemaExtraction", "system_prompt user_prompt schema userInput"),
    Stage.SCHEMA_EXTRACTION_LLM_OUTPUT: _of("SchemaExtraction", "json rejected rejectedReasons"),
    Stage.SCHEMA_EXTRACTION_LLM_ERROR: _of("SchemaExtraction", "errorCode message exception" + PROMPT_FAULT),
    Stage.SCHEMA_EXTRACTION_DETERMINISTIC: _of("SchemaExtraction", "extracted rejected"),
    Stage.SCHEMA_STATUS: _of(
        "SchemaExtraction",
        "schemaComplete hasAnySchemaValue missingRequiredFields missingFieldOptions schemaId intent state "
        "intentLocked intentLockReason context schemaJson skipped",
    ),
    Stage.AUTO_ADVANCE_SKIPPED_NO_SCHEMA: _of("AutoAdvance", "reason"),
    Stage.AUTO_ADVANCE_FACTS: _of("AutoAdvance", "schemaComplete hasAnySchemaValue intent state"),
    # action
    Stage.PENDING_ACTION_LIFECYCLE: _of("ActionLifecycle Guardrail", "event status actionKey actionRef turn"),
    Stage.PENDING_ACTION_SKIPPED: _of(
        "PendingAction",
        "policyDecision pendingActionRef intent state context reason reasonText actionKey",
    ),
    Stage.PENDING_ACTION_REJECTED: _of(
        "PendingAction",
        "policyDecision pendingActionRef intent state context pendingActionResult",
    ),
    Stage.PENDING_ACTION_EXECUTED: _of(
        "PendingAction",
        "policyDecision pendingActionRef intent state context pendingActionResult durationMs taskBean "
        "taskMethods executionId reused sameRequest",
    ),
    Stage.PENDING_ACTION_FAILED: _of(
        "PendingAction",
        "policyDecision pendingActionRef intent state context pendingActionResult reason errorType reasonText "
        "durationMs taskBean taskMethods executionId reused sameRequest",
    ),
    # tool
    Stage.TOOL_ORCHESTRATION_REQUEST: _of("ToolOrchestration", "tool_code tool_group args ceToolId"),
    Stage.TOOL_ORCHESTRATION_RESULT: _of("ToolOrchestration", "status intent state tool_code tool_group result reused"),
    Stage.TOOL_ORCHESTRATION_ERROR: _of("ToolOrchestration", "status tool_code tool_group error error_type"),
    Stage.MCP_SKIPPED: _of("McpTool", "status reason intent state"),
    Stage.MCP_SKIPPED_PENDING_CLARIFICATION: _of("McpTool", "intent state"),
    Stage.MCP_SKIPPED_SCHEMA_INCOMPLETE: _of("McpTool", "intent state missing_fields schema_complete"),
    Stage.MCP_NO_TOOLS_AVAILABLE: _of("McpTool", "intent state"),
    Stage.MCP_PLAN_LLM_INPUT: _of(
        "McpTool",
        "planner_id system_prompt user_prompt schema "
        "mcp_observations_compacted mcp_observations_raw_chars mcp_observations_final_chars ce_config",
        "templateFromCeConfig (McpPlanner)",
    ),
    Stage.MCP_PLAN_LLM_OUTPUT: _of("McpTool", "json"),
    Stage.MCP_PLAN_LLM_ERROR: _of("McpTool", "errorCode message exception missing" + PROMPT_FAULT),
    Stage.MCP_TOOL_CALL: _of(
        "McpTool",
        "tool_code args action intent state routingDecision observation_count current_observation_tool",
    ),
    Stage.MCP_TOOL_RESULT: _of("McpTool", "tool_code tool_group rows"),
    Stage.MCP_TOOL_ERROR: _of(
        "McpTool",
        "tool_code tool_group error args error_class error_message root_cause_class root_cause_message "
        "current_observation_tool",
    ),
    Stage.MCP_FINAL_ANSWER: _of("McpTool", "answer reason tool_code"),
    Stage.MCP_DUPLICATE_TOOL_CALL_SUPPRESSED: _of("McpTool", "answer reason tool_code args"),
    Stage.MCP_CONTEXT_CLEARED: _of("McpTool", ""),
    Stage.MCP_TOOL_ROOT_CAUSE: _of("McpTool", "tool_code tool_group error_message root_cause_message args"),
    Stage.MCP_DB_SQL_EXECUTION: _of(
        "McpTool ToolOrchestration",
        "tool_code tool_group sql params status row_count rows error error_class error_message root_cause_class "
        "root_cause_message sql_state",
    ),
    Stage.MCP_SERVER_UNAVAILABLE: _of("McpTool", "serverId transport error"),
    Stage.MCP_LOOP_ABRUPTED: _of("McpTool", "reason limit tool_calls"),
    Stage.MCP_USER_FEEDBACK: _of(
        "",
        "conversation_id feedback_type message_id feedback_id turn_no captured_query_knowledge_count "
        "captured_user_query_knowledge_count embedded_user_query_knowledge_count",
    ),
    Stage.KB_UNAVAILABLE: _of("McpTool ToolOrchestration", "knowledgeBase reason"),
}
