"""Stages of tools."""

from convengine.engine.turn.stage import Family, SentenceTemplate, Tone, declare_stage
from convengine.engine.turn.stages import PROMPT_FAULT

TOOL_ORCHESTRATION_REQUEST = declare_stage(
    "TOOL_ORCHESTRATION_REQUEST",
    Family.TOOL,
    "A tool is called because the state always calls it.",
    steps="ToolOrchestrationStep",
    keys="tool_code tool_group args ceToolId",
    sentences=(SentenceTemplate("Called the tool {tool_code}[ with {args}][, as {ceToolId:row ce_tool} requires]."),),
)
TOOL_ORCHESTRATION_RESULT = declare_stage(
    "TOOL_ORCHESTRATION_RESULT",
    Family.TOOL,
    "What the tool gave, or why it was left out.",
    steps="ToolOrchestrationStep",
    keys="status intent state tool_code tool_group result reused",
    sentences=(
        SentenceTemplate(
            "Did not call the tool[ {tool_code}]: {status:phrase status}.",
            {"status": frozenset({"SKIPPED_BY_GUARDRAIL", "SKIPPED_SCOPE_MISMATCH"})},
            Tone.WARNING,
        ),
        SentenceTemplate(
            "Did not call the tool {tool_code} again: the same call had already returned {result}.", {"reused": True}
        ),
        SentenceTemplate("The tool {tool_code} returned {result}.", tone=Tone.GOOD),
    ),
)
TOOL_ORCHESTRATION_ERROR = declare_stage(
    "TOOL_ORCHESTRATION_ERROR",
    Family.TOOL,
    "The tool failed. The turn goes on; rules and answers see why.",
    steps="ToolOrchestrationStep",
    keys="status tool_code tool_group error error_type",
    sentences=(SentenceTemplate("The tool {tool_code} failed: {error}.", tone=Tone.ERROR),),
)
MCP_SKIPPED = declare_stage(
    "MCP_SKIPPED",
    Family.TOOL,
    "The planner was not asked, and why.",
    steps="McpToolStep",
    keys="status reason intent state",
    common=True,
)
MCP_SKIPPED_PENDING_CLARIFICATION = declare_stage(
    "MCP_SKIPPED_PENDING_CLARIFICATION",
    Family.TOOL,
    "The planner was not asked, because a question waits for its answer.",
    steps="McpToolStep",
    keys="intent state",
)
MCP_SKIPPED_SCHEMA_INCOMPLETE = declare_stage(
    "MCP_SKIPPED_SCHEMA_INCOMPLETE",
    Family.TOOL,
    "The planner was not asked, because required fields are missing.",
    steps="McpToolStep",
    keys="intent state missing_fields schema_complete",
)
MCP_NO_TOOLS_AVAILABLE = declare_stage(
    "MCP_NO_TOOLS_AVAILABLE",
    Family.TOOL,
    "No tool may be called in this intent and state.",
    steps="McpToolStep",
    keys="intent state",
    common=True,
)
MCP_PLAN_LLM_INPUT = declare_stage(
    "MCP_PLAN_LLM_INPUT",
    Family.TOOL,
    "What the planner was asked.",
    steps="McpToolStep",
    keys=(
        "templateFromCeConfig (McpPlanner)",
        "planner_id",
        "system_prompt",
        "user_prompt",
        "schema",
        "mcp_observations_compacted",
        "mcp_observations_raw_chars",
        "mcp_observations_final_chars",
        "ce_config",
    ),
)
MCP_PLAN_LLM_OUTPUT = declare_stage(
    "MCP_PLAN_LLM_OUTPUT",
    Family.TOOL,
    "What the planner wants to do next.",
    steps="McpToolStep",
    keys="json",
)
MCP_PLAN_LLM_ERROR = declare_stage(
    "MCP_PLAN_LLM_ERROR",
    Family.TOOL,
    "The planner's model failed.",
    steps="McpToolStep",
    keys=f"errorCode message exception missing {PROMPT_FAULT}",
    sentences=(SentenceTemplate("The planner's model failed[: {message}][ ({errorCode})].", tone=Tone.ERROR),),
)
MCP_TOOL_CALL = declare_stage(
    "MCP_TOOL_CALL",
    Family.TOOL,
    "The planner has a tool called, with these arguments.",
    steps="McpToolStep",
    keys="tool_code args action intent state routingDecision observation_count current_observation_tool",
    sentences=(SentenceTemplate("The planner called the tool {tool_code}[ with {args}]."),),
)
MCP_TOOL_RESULT = declare_stage(
    "MCP_TOOL_RESULT",
    Family.TOOL,
    "What the tool gave the planner.",
    steps="McpToolStep",
    keys="tool_code tool_group rows",
    sentences=(
        SentenceTemplate("The tool {tool_code} returned {rows}."),
        SentenceTemplate("The tool {tool_code} returned nothing."),
    ),
)
MCP_TOOL_ERROR = declare_stage(
    "MCP_TOOL_ERROR",
    Family.TOOL,
    "The tool failed, or may not be called; the planner sees that.",
    steps="McpToolStep",
    keys=(
        "tool_code tool_group error args error_class error_message root_cause_class root_cause_message "
        "current_observation_tool"
    ),
    sentences=(SentenceTemplate("The tool {tool_code} failed: {error}.", tone=Tone.ERROR),),
)
MCP_FINAL_ANSWER = declare_stage(
    "MCP_FINAL_ANSWER",
    Family.TOOL,
    "The planner has its answer.",
    steps="McpToolStep",
    keys="answer reason tool_code",
    sentences=(SentenceTemplate("The planner answered {answer:said}."),),
)
MCP_DUPLICATE_TOOL_CALL_SUPPRESSED = declare_stage(
    "MCP_DUPLICATE_TOOL_CALL_SUPPRESSED",
    Family.TOOL,
    "The planner wanted the same call again; it was not made.",
    steps="McpToolStep",
    keys="answer reason tool_code args",
    sentences=(SentenceTemplate("Did not call {tool_code} again with the same arguments.", tone=Tone.WARNING),),
)
MCP_CONTEXT_CLEARED = declare_stage(
    "MCP_CONTEXT_CLEARED",
    Family.TOOL,
    "Results of earlier turns were taken out of the context.",
    steps="McpToolStep",
    common=True,
)
MCP_TOOL_ROOT_CAUSE = declare_stage(
    "MCP_TOOL_ROOT_CAUSE",
    Family.TOOL,
    "What lies behind the failure of a tool.",
    steps="McpToolStep",
    keys="tool_code tool_group error_message root_cause_message args",
    sentences=(
        SentenceTemplate("The root cause of the failure of {tool_code} is: {root_cause_message}.", tone=Tone.ERROR),
    ),
)
MCP_DB_SQL_EXECUTION = declare_stage(
    "MCP_DB_SQL_EXECUTION",
    Family.TOOL,
    "The statement of a database tool, with its values and what it found.",
    steps="McpToolStep ToolOrchestrationStep",
    keys=(
        "tool_code tool_group sql params status row_count rows error error_class error_message "
        "root_cause_class root_cause_message sql_state"
    ),
    sentences=(SentenceTemplate("Ran a database statement for {tool_code}[: {sql}][ (rows: {row_count})]."),),
)
MCP_RESULT_MENDED = declare_stage(
    "MCP_RESULT_MENDED",
    Family.TOOL,
    "An external MCP server sent a result that is not as the protocol says; what was usable is taken.",
    steps="McpToolStep ToolOrchestrationStep",
    keys="tool_code warnings",
    sentences=(
        SentenceTemplate(
            "The result of {tool_code} was not as it should be, and was taken: {warnings}", tone=Tone.WARNING
        ),
    ),
)
MCP_SERVER_UNAVAILABLE = declare_stage(
    "MCP_SERVER_UNAVAILABLE",
    Family.TOOL,
    "An external MCP server does not answer; its tools are left out.",
    steps="McpToolStep ToolOrchestrationStep",
    keys="serverId transport error",
    sentences=(
        SentenceTemplate(
            "The server {serverId} did not answer[: {error}]; its tools were not available.", tone=Tone.ERROR
        ),
    ),
)
MCP_LOOP_ABRUPTED = declare_stage(
    "MCP_LOOP_ABRUPTED",
    Family.TOOL,
    "The planner used up its rounds or its time without an answer.",
    steps="McpToolStep",
    keys="reason limit tool_calls",
    sentences=(
        SentenceTemplate(
            "Stopped the planner without an answer: {reason:phrase planner_end}[ ({limit})].", tone=Tone.WARNING
        ),
    ),
)
MCP_USER_FEEDBACK = declare_stage(
    "MCP_USER_FEEDBACK",
    Family.TOOL,
    "The user liked or disliked an answer.",
    keys=(
        "conversation_id feedback_type message_id feedback_id turn_no captured_query_knowledge_count "
        "captured_user_query_knowledge_count embedded_user_query_knowledge_count"
    ),
    sentences=(SentenceTemplate("The user gave feedback: {feedback_type}."),),
)
KB_UNAVAILABLE = declare_stage(
    "KB_UNAVAILABLE",
    Family.TOOL,
    "The knowledge base that the session prefers is not there.",
    steps="McpToolStep ToolOrchestrationStep",
    keys="knowledgeBase reason",
    sentences=(SentenceTemplate("The knowledge base {knowledgeBase} was not used[: {reason}].", tone=Tone.WARNING),),
)
