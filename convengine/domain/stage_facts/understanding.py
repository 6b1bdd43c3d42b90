"""What the events of stages hold, and which steps write them: until the intent of a turn is known."""

from collections.abc import Mapping

from convengine.domain.stage_facts.told import PROMPT_FAULT, Told
from convengine.domain.stage_facts.told import of as _of
from convengine.domain.stages import Stage

UNDERSTANDING: Mapping[Stage, Told] = {
    # frame
    Stage.STEP_ENTER: _of("", "step stepClass"),
    Stage.STEP_EXIT: _of("", "step stepClass outcome durationMs"),
    Stage.STEP_ERROR: _of("", "step stepClass durationMs errorType errorMessage _errorMeta"),
    Stage.STEP_HOOK_ERROR: _of("", "step phase hookClass errorType errorMessage"),
    Stage.ENGINE_RETURN: _of("PersistConversation PolicyEnforcement", "intent state final_result"),
    Stage.PIPELINE_TIMING: _of(
        "PipelineEndGuard",
        "totalMs steps stepList wallMs llmMs llmCalls toolMs status auditFiltered sqlCount",
    ),
    Stage.ENGINE_KNOWN_FAILURE: _of("", "errorCode message recoverable _errorMeta"),
    Stage.ENGINE_UNKNOWN_FAILURE: _of("", "exception message recoverable incidentId reason"),
    Stage.AUDIT_EVENT_LOST: _of("", "stage reason bytes"),
    Stage.TURN_FAILED: _of("", "turnNo status errorCode message"),
    Stage.DECISION: _of("", "kind key winner candidates cut"),
    Stage.CONFIG_VALUE_INVALID: _of("", "configType configKey value usedDefault reason"),
    Stage.CONFIG_ROW_INVALID: _of("", "table rowId reason field value remedy"),
    # opening
    Stage.CONVERSATION_CREATED: _of("LoadOrCreateConversation", "conversationId reason"),
    Stage.CONVERSATION_LOADED: _of("LoadOrCreateConversation", "intent state status turnNo configVersion"),
    Stage.CONTEXT_REPAIRED: _of("LoadOrCreateConversation", "reason raw_excerpt"),
    Stage.CACHE_INSPECTION: _of("CacheInspectAudit", "cache_snapshot config_version config_tables"),
    Stage.CONVERSATION_RESET: _of(
        "ResetConversation ResetResolvedIntent",
        "reason intent state context previousIntent previousState previousContext epoch "
        "matchedResetIntentCodes matchedIntent",
    ),
    Stage.USER_INPUT: _of("AuditUserInput", "text inputParamKeys channel turnNo truncated originalChars source"),
    Stage.INPUT_PARAM_IGNORED: _of("LoadOrCreateConversation", "keys"),
    Stage.CONTEXT_TRIMMED: _of("PersistConversation", "dropped bytes maxBytes"),
    # policy
    Stage.POLICY_BLOCK: _of("PolicyEnforcement", "policyId ruleType pattern description matchedExcerpt reason"),
    Stage.POLICY_LLM_ERROR: _of("PolicyEnforcement", "policyId message exception errorCode failMode"),
    Stage.GUARDRAIL_ALLOW: _of("Guardrail", "result sensitive approvalRequired approvalGranted intent state"),
    Stage.GUARDRAIL_DENY: _of(
        "Guardrail",
        "result reason sensitive approvalGranted userText intent state matchedOn patternIndex",
    ),
    # dialogue
    Stage.DIALOGUE_ACT_LLM_INPUT: _of("DialogueAct", "system_prompt user_prompt schema"),
    Stage.DIALOGUE_ACT_LLM_OUTPUT: _of("DialogueAct", "json"),
    Stage.DIALOGUE_ACT_LLM_ERROR: _of("DialogueAct", "message exception"),
    Stage.DIALOGUE_ACT_CLASSIFIED: _of(
        "DialogueAct",
        "userText dialogueAct dialogueActConfidence dialogueActSource dialogueActResolveMode intent state "
        "regexAct llmCandidate guardApplied guardReason standaloneQuery",
    ),
    Stage.DIALOGUE_ACT_FINAL: _of("DialogueAct", "dialogueAct dialogueActSource"),
    Stage.INTERACTION_POLICY_DECIDED: _of(
        "InteractionPolicy",
        "dialogueAct policyDecision skipIntentResolution hasPendingAction hasPendingSlot intent state "
        "decidedBy matrixKey",
    ),
    Stage.CORRECTION_STEP_CONFIRM_ACCEPT: _of("Correction", "intent state routingDecision"),
    Stage.CORRECTION_STEP_RETRY_REQUESTED: _of("Correction", "intent state routingDecision"),
    Stage.CORRECTION_STEP_CORRECTION_PATCH_APPLIED: _of(
        "Correction",
        "field value previousValue intent state routingDecision",
    ),
    Stage.CORRECTION_STEP_CONFIRM_REFUSED: _of("Correction", "missingFields intent state routingDecision"),
    Stage.CORRECTION_STEP_PATCH_NOT_APPLIED: _of("Correction", "reason field intent state routingDecision"),
    Stage.DISAMBIGUATION_REQUIRED: _of(
        "Disambiguation",
        "reason question candidateCount options intent state questionSource truncated",
    ),
    Stage.DISAMBIGUATION_RESOLVED: _of("InteractionPolicy", "actionKey reply"),
    Stage.DISAMBIGUATION_LLM_INPUT: _of("Disambiguation", "system_prompt user_prompt"),
    Stage.DISAMBIGUATION_LLM_OUTPUT: _of("Disambiguation", "output"),
    Stage.DISAMBIGUATION_LLM_ERROR: _of("Disambiguation", "errorCode message exception" + PROMPT_FAULT),
    # intent
    Stage.INTENT_RESOLVE_START: _of("IntentResolution", "previousIntent intentLocked intentLockReason"),
    Stage.INTENT_RESOLVE_FORCED: _of("IntentResolution", "signal reason"),
    Stage.INTENT_RESOLVE_SKIPPED_SCHEMA_COLLECTION: _of(
        "IntentResolution",
        "intent state intentLocked intentLockReason",
    ),
    Stage.INTENT_RESOLVE_SKIPPED_POLICY: _of(
        "IntentResolution",
        "intent state dialogueAct policyDecision skipIntentResolution reason",
    ),
    Stage.INTENT_RESOLVE_SKIPPED_STICKY_INTENT: _of("IntentResolution", "intent state stickyIntentEnabled reason"),
    Stage.INTENT_RESOLVE_NO_CHANGE: _of("IntentResolution", "reason"),
    Stage.INTENT_RESOLVE_NEEDS_CLARIFICATION: _of("IntentResolution", "intent state question reason options"),
    Stage.INTENT_CLASSIFICATION_MATCHED: _of("IntentResolution", "intent state matchedByRule"),
    Stage.INTENT_CLASSIFIER_COLLISION: _of("IntentResolution", "userText matchedIntents matchedByRule"),
    Stage.INTENT_CLASSIFIER_NO_MATCH: _of("IntentResolution", "userText intent state"),
    Stage.INTENT_AGENT_SKIPPED: _of("IntentResolution", "reason"),
    Stage.INTENT_AGENT_LLM_INPUT: _of(
        "IntentResolution",
        "systemPrompt userPrompt system_prompt user_prompt schema",
        "templateFromCeConfig (AgentIntentResolver)",
    ),
    Stage.INTENT_AGENT_LLM_OUTPUT: _of("IntentResolution", "json"),
    Stage.INTENT_AGENT_LLM_ERROR: _of("IntentResolution", "message exception errorCode" + PROMPT_FAULT),
    Stage.INTENT_AGENT_SCORES: _of("IntentResolution", "scores followups"),
    Stage.INTENT_AGENT_COLLISION: _of("IntentResolution", "intent state question candidates scores"),
    Stage.INTENT_AGENT_CLARIFICATION_SUPPRESSED_SCHEMA_FLOW: _of("IntentResolution", "intent state question"),
    Stage.INTENT_AGENT_NEEDS_CLARIFICATION: _of("IntentResolution", "intent state question followups"),
    Stage.INTENT_AGENT_REJECTED: _of("IntentResolution", "reason intent state confidence allowedIntents scores"),
    Stage.INTENT_AGENT_ACCEPTED: _of("IntentResolution", "intent state confidence scores by unknownState"),
    Stage.INTENT_RESOLVED_BY_CLASSIFIER: _of("IntentResolution", "resolvedIntent source classifierIntent agentIntent"),
    Stage.INTENT_RESOLVED_BY_AGENT: _of("IntentResolution", "resolvedIntent source classifierIntent agentIntent"),
    Stage.INTENT_MISSING: _of("FallbackIntentState", "intent state context userText fallbackIntent"),
    Stage.STATE_MISSING: _of("FallbackIntentState", "intent state context userText fallbackState"),
    Stage.INTENT_UNRESOLVED: _of("FallbackIntentState", "userText reason"),
    Stage.INTENT_COLLISION_DETECTED: _of("ResponseResolution", "intent state"),
    Stage.INTENT_COLLISION_RESOLVED: _of("ResponseResolution", "output intent state context schemaJson"),
}
