"""Names that a template may use: of the engine, of the fields that are collected, of what rules write (settings 7)."""

from collections.abc import Collection

from config_admin.validation import relations, rule_writes
from convengine.domain.facts import RESERVED_FACTS
from convengine.domain.params import PARAMS
from convengine.domain.snapshot import Snapshot

#: Names of calls, beside session facts and input params (settings 7.2, pipeline-2 9.5).
_OF_CALLS = frozenset(
    {
        "user_input", "userInput", "user_text", "userText", "input_text", "inputText", "input", "user_message",
        "userMessage", "resolved_user_input", "resolvedUserInput", "resolved_input", "resolvedInput",
        "effective_input", "effectiveInput", "effective_user_input", "effectiveUserInput", "final_user_input",
        "finalUserInput", "standalone_query", "standaloneQuery", "rewritten_query", "rewrittenQuery",
        "query_rewrite", "queryRewrite", "context", "contextJson", "context_json", "schema", "json_schema",
        "schema_json", "data_schema", "dataSchema", "jsonSchema", "schemaJson", "container_data", "containerData",
        "validation", "validation_tables", "allowed_intents", "allowedIntents", "pending_clarification",
        "pendingClarification", "conversation_history", "conversationHistory", "history", "mcp_tools", "tools",
        "available_tools", "tool_list", "mcpTools", "mcp_observations", "observations", "mcpObservations",
        "current_date", "currentDate", "current_datetime", "currentDatetime", "current_year", "currentYear",
        "current_timezone", "currentTimezone", "current_system_datetime", "currentSystemDatetime",
        "current_system_timezone", "currentSystemTimezone", "context_summary", "session_units", "memory", "mcp",
        "approval", "intent_lock", "pending_action_runtime", "pending_slot", "session", "metadata", "inputParams",
        "safeInputParams", "rawInputParams", "promptVars", "derivation_hint", "question", "summary", "options",
        "candidate_count", "action_keys", "stepName", "determinant", "sql_before", "params_json", "error_message",
    }
)  # fmt: skip
ENGINE_NAMES = _OF_CALLS | RESERVED_FACTS | PARAMS.keys()


def unknown(snapshot: Snapshot, used: Collection[str], intent: str) -> frozenset[str]:
    """Of the names that a template uses, the roots that neither engine nor schema of the intent nor a rule gives."""
    roots = {name.partition(".")[0].partition("[")[0] for name in used}
    return frozenset(roots - ENGINE_NAMES - relations.schema_fields(snapshot, intent) - rule_writes.names(snapshot))
