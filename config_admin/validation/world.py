"""What a deployment has installed: the names that rows may refer to without a row of their own."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field

#: Names that verbose rows may match on: the steps (R1), and the parts of steps that speak for themselves
#: (pipeline-2 14.3).
STEPS = frozenset(
    {
        "LoadOrCreateConversationStep", "CacheInspectAuditStep", "ResetConversationStep",
        "PersistConversationBootstrapStep", "AuditUserInputStep", "PolicyEnforcementStep", "DialogueActStep",
        "InteractionPolicyStep", "CorrectionStep", "ActionLifecycleStep", "DisambiguationStep", "GuardrailStep",
        "IntentResolutionStep", "ResetResolvedIntentStep", "FallbackIntentStateStep", "AddContainerDataStep",
        "SchemaExtractionStep", "AutoAdvanceStep", "PendingActionStep", "ToolOrchestrationStep", "McpToolStep",
        "RulesStep", "StateGraphStep", "ResponseResolutionStep", "MemoryStep", "PersistConversationStep",
        "PipelineEndGuardStep", "AgentIntentResolver", "RuleActionResolverFactory", "McpPlanner", "McpDbExecutor",
        "ResponseTypeResolverFactory", "OutputFormatResolverFactory", "TextOutputFormatResolver",
        "JsonOutputFormatResolver",
    }
)  # fmt: skip

#: Events of parts of steps, which are no stages of the audit, and what they say (tables 5.2).
PARTS: Mapping[str, str] = {
    "AGENT_INTENT_START": "The model is asked for the intent.",
    "AGENT_INTENT_ACCEPTED": "The model's intent is taken.",
    "AGENT_INTENT_REJECTED": "The model's intent is not taken.",
    "AGENT_INTENT_COLLISION": "The model's best intents are too close to one another.",
    "AGENT_INTENT_NEEDS_CLARIFICATION": "The model wants to ask before it decides.",
    "INTENT_RESOLVED": "The intent is found.",
    "CONFIRM_ACCEPT": "The user confirmed a complete form.",
    "CORRECTION_PATCH_APPLIED": "The user corrected values of the form.",
    "RETRY_REQUESTED": "The user wants the last work done again.",
    "RULE_ACTION_RESOLVER_SELECTED": "What a rule does was found.",
    "RULE_ACTION_RESOLVER_NOT_FOUND": "Nothing does what a rule wants.",
    "RESPONSE_TYPE_RESOLVER_SELECTED": "Who writes the answer was found.",
    "RESPONSE_TYPE_RESOLVER_NOT_FOUND": "Nobody writes such an answer.",
    "OUTPUT_FORMAT_RESOLVER_SELECTED": "The format of the answer was found.",
    "OUTPUT_FORMAT_RESOLVER_NOT_FOUND": "Nothing makes answers of this format.",
}
#: Stages of the audit that verbose rows may match on.
_STAGES = frozenset(
    {
        "STEP_ENTER", "STEP_EXIT", "STEP_ERROR", "INTENT_AGENT_LLM_INPUT", "INTENT_AGENT_LLM_OUTPUT",
        "INTENT_AGENT_LLM_ERROR", "DIALOGUE_ACT_LLM_INPUT", "DIALOGUE_ACT_LLM_OUTPUT", "DIALOGUE_ACT_LLM_ERROR",
        "RULE_MATCH", "RULE_APPLIED", "RULE_NO_MATCH", "SCHEMA_EXTRACTION_START", "SCHEMA_EXTRACTION_LLM_INPUT",
        "SCHEMA_EXTRACTION_LLM_OUTPUT", "SCHEMA_EXTRACTION_LLM_ERROR", "SCHEMA_STATUS", "MCP_PLAN_LLM_INPUT",
        "MCP_PLAN_LLM_OUTPUT", "MCP_PLAN_LLM_ERROR", "MCP_TOOL_CALL", "MCP_TOOL_RESULT", "MCP_TOOL_ERROR",
        "MCP_FINAL_ANSWER", "MCP_DUPLICATE_TOOL_CALL_SUPPRESSED", "MCP_DB_SQL_EXECUTION",
        "TOOL_ORCHESTRATION_REQUEST", "TOOL_ORCHESTRATION_RESULT", "TOOL_ORCHESTRATION_ERROR", "RESOLVE_RESPONSE",
        "RESOLVE_RESPONSE_SELECTED", "RESOLVE_RESPONSE_LLM_INPUT", "RESOLVE_RESPONSE_LLM_OUTPUT",
        "RESOLVE_RESPONSE_LLM_ERROR",
    }
)  # fmt: skip
#: Events that verbose rows may match on (tables 5.2).
DETERMINANTS: frozenset[str] = _STAGES.union(PARTS)


@dataclass(frozen=True)
class World:
    """The installation that rows are judged against. Empty defaults: nothing but the engine itself is installed."""

    #: Registered tasks and their methods.
    tasks: Mapping[str, Sequence[str]] = field(default_factory=dict)
    #: Addresses (page, section, container) that a data provider is registered for; null stands for any number.
    providers: frozenset[tuple[int | None, int | None, int | None]] = frozenset()
    #: Tool groups that an executor is installed for.
    executors: frozenset[str] = frozenset()
    #: Codes of tools that have a handler in code.
    tool_handlers: frozenset[str] = frozenset()
    #: Registered mappers of HTTP answers.
    mappers: frozenset[str] = frozenset()
    http_connections: frozenset[str] = frozenset()
    #: Commands that an MCP server row may start.
    stdio_commands: frozenset[str] = frozenset()
    #: Hosts that an MCP server row may reach.
    server_hosts: frozenset[str] = frozenset()
    #: Models that the deployment allows.
    models: frozenset[str] = frozenset()
    #: What a session may prefer, ids by kind, in whichever workspace; looked up when a row names one, and
    #: no part of what makes two installations the same.
    preferences: Callable[[], Mapping[str, Sequence[str]]] = field(default=dict, compare=False, repr=False)
    steps: frozenset[str] = STEPS
    determinants: frozenset[str] = DETERMINANTS
    #: Rule types and actions that extensions added.
    rule_types: frozenset[str] = frozenset()
    rule_actions: frozenset[str] = frozenset()
    model_configured: bool = False
    #: The extra `semantic` is there: texts can be compared by what they mean.
    semantic_installed: bool = False
    unsafe_sql_allowed: bool = False
    #: Names of the databases that tools may read; null when nobody looked.
    tool_databases: frozenset[str] | None = None
