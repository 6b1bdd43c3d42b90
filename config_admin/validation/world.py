"""What a deployment has installed: the names that rows may use without a row of their own."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field

from convengine.server.interfaces.turn_reports import EmptyValue

#: Names that progress texts may match: the steps, and parts of steps with events of their own.
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

#: Events of parts of steps, which are no audit stages, with their description.
PARTS: Mapping[str, str] = {
    "AGENT_INTENT_START": "The model is asked for the intent.",
    "AGENT_INTENT_ACCEPTED": "The model's intent is accepted.",
    "AGENT_INTENT_REJECTED": "The model's intent is rejected.",
    "AGENT_INTENT_COLLISION": "The best intents of the model are too similar.",
    "AGENT_INTENT_NEEDS_CLARIFICATION": "The model wants to ask the user first.",
    "INTENT_RESOLVED": "The intent is found.",
    "CONFIRM_ACCEPT": "The user confirmed a complete form.",
    "CORRECTION_PATCH_APPLIED": "The user corrected values of the form.",
    "RETRY_REQUESTED": "The user asked to repeat the last step.",
    "RULE_ACTION_RESOLVER_SELECTED": "The action of the rule was found.",
    "RULE_ACTION_RESOLVER_NOT_FOUND": "The action of the rule is not supported.",
    "RESPONSE_TYPE_RESOLVER_SELECTED": "The response type was found.",
    "RESPONSE_TYPE_RESOLVER_NOT_FOUND": "This response type is not supported.",
    "OUTPUT_FORMAT_RESOLVER_SELECTED": "The output format was found.",
    "OUTPUT_FORMAT_RESOLVER_NOT_FOUND": "This output format is not supported.",
}
#: Audit stages that progress texts may match.
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
#: Events that progress texts may match.
DETERMINANTS: frozenset[str] = _STAGES.union(PARTS)


@dataclass(frozen=True)
class World:
    """The installation against which rows are checked. Empty defaults: only the engine itself."""

    #: Registered tasks and their methods.
    tasks: Mapping[str, Sequence[str]] = field(default_factory=dict)
    #: Addresses (page, section, container) of registered data providers; null stands for any number.
    providers: frozenset[tuple[int | None, int | None, int | None]] = frozenset()
    #: Tool groups with an executor.
    executors: frozenset[str] = frozenset()
    #: Codes of tools with a handler in code.
    tool_handlers: frozenset[str] = frozenset()
    #: The kinds of fields that registered finders read.
    finders: frozenset[str] = frozenset()
    #: Registered mappers of HTTP answers.
    mappers: frozenset[str] = frozenset()
    http_connections: frozenset[str] = frozenset()
    #: Commands that an MCP server row may start.
    stdio_commands: frozenset[str] = frozenset()
    #: Hosts that an MCP server row may reach.
    server_hosts: frozenset[str] = frozenset()
    #: Models that the deployment allows.
    models: frozenset[str] = frozenset()
    #: Models that may give vectors of texts.
    embedding_models: frozenset[str] = frozenset()
    #: The ids that a session may prefer, by kind, in any workspace; looked up when a row names one, and ignored when
    #: two installations are compared.
    preferences: Callable[[], Mapping[str, Sequence[str]]] = field(default=dict, compare=False, repr=False)
    #: The gaps in the answers of recent turns; looked up by the health check, and ignored when two installations are
    #: compared.
    empty_values: Callable[[], Sequence[EmptyValue]] = field(default=list, compare=False, repr=False)
    steps: frozenset[str] = STEPS
    determinants: frozenset[str] = DETERMINANTS
    #: Rule types and actions of extensions.
    rule_types: frozenset[str] = frozenset()
    rule_actions: frozenset[str] = frozenset()
    model_configured: bool = False
    unsafe_sql_allowed: bool = False
    #: False while a scenario is played: its rows may name what only variables of a deployment allow.
    is_deployed: bool = True
    #: Names of the databases that tools may read; None if unknown.
    tool_databases: frozenset[str] | None = None
