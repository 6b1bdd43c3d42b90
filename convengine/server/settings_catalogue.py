"""The whole catalogue of live settings: imports every module that declares some, and names their families."""

from collections.abc import Mapping
from importlib import import_module

for _package in (
    "engine.turn.audit_settings",
    "engine.llm.settings",
    "engine.rules.settings",
    "engine.dialogue.settings",
    "engine.pending_actions.settings",
    "engine.clarification.settings",
    "engine.memory.settings",
    "engine.state_graph.settings",
    "engine.verbose.settings",
    "engine.threads.settings",
    "engine.steps.conversation.settings",
    "engine.steps.policy.settings",
    "engine.steps.interaction.settings",
    "engine.steps.correction.settings",
    "engine.steps.actions.settings",
    "engine.steps.intents.settings",
    "engine.steps.containers.settings",
    "engine.steps.forms.settings",
    "engine.steps.tools.settings",
    "engine.steps.responses.settings",
    "server.executors.settings",
):
    import_module(f"convengine.{_package}")


#: By the type of the settings; pages show settings in this order.
TITLES: Mapping[str, str] = {
    "Session": "Sessions: end, resume and timeout",
    "CONVERSATION_HISTORY": "History in prompts",
    "Form": "Forms: questions and misses",
    "ResetConversationStep": "Reset of conversations",
    "PolicyEnforcementStep": "Policies",
    "POLICY": "Blocked conversations",
    "DialogueActStep": "Dialogue acts",
    "InteractionPolicyStep": "Routing of answers",
    "CorrectionStep": "Corrections and retries",
    "ActionLifecycleStep": "Expiry of pending actions",
    "DisambiguationStep": "Disambiguation of actions",
    "GuardrailStep": "Guardrail",
    "IntentResolutionStep": "Sticky intents",
    "ClassifierIntentResolver": "Intent recognition by phrases",
    "AgentIntentResolver": "Intent recognition by a model",
    "AgentIntentCollisionResolver": "Clarification of intents",
    "ResetResolvedIntentStep": "Reset intents",
    "AddContainerDataStep": "Data sources",
    "SchemaExtractionStep": "Extraction of form fields",
    "PendingActionStep": "Actions",
    "ToolOrchestrationStep": "Direct tool calls",
    "McpToolStep": "Planner",
    "McpPlanner": "Planner prompts",
    "McpDbExecutor": "Database tools",
    "McpHttpApi": "HTTP tools",
    "DocumentRetrieval": "Document search",
    "RulesStep": "Rules",
    "StateGraphStep": "State graph",
    "ResponseResolutionStep": "Answers",
    "MemoryStep": "Memory",
    "PersistConversationStep": "Storage of conversations",
    "Verbose": "Progress texts",
    "LLM": "Models",
    "AUDIT": "Audit trail",
}
