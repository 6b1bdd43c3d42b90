"""What the events of stages hold, and which steps write them: rules, the answer, and what the session keeps."""

from collections.abc import Mapping

from convengine.domain.stage_facts.told import PROMPT_FAULT, RULE_FLAGS, RULES, Told
from convengine.domain.stage_facts.told import of as _of
from convengine.domain.stages import Stage

ANSWERING: Mapping[Stage, Told] = {
    # rule
    Stage.RULE_MATCH: _of(
        RULES,
        "ruleId action ruleType ruleStateCode intent state context schemaJson pass key candidates" + RULE_FLAGS,
    ),
    Stage.RULE_APPLIED: _of(RULES, "ruleId intent type ruleStateCode pattern action actionValue" + RULE_FLAGS),
    Stage.RULE_NO_MATCH: _of(
        RULES,
        "intent state evaluatedState pass key candidates cut stoppedBy ruleId type ruleStateCode pattern "
        "action reason ruleDbPhase operands" + RULE_FLAGS,
    ),
    Stage.RULE_ERROR: _of(RULES, "ruleId action errorType errorMessage errorCode field value remedy" + RULE_FLAGS),
    Stage.RULE_PASS_CAP_REACHED: _of(RULES, "intent state passes" + RULE_FLAGS),
    Stage.SET_INTENT: _of(RULES, "ruleId fromIntent toIntent state context"),
    Stage.SET_STATE: _of(RULES, "ruleId fromState toState intent context"),
    Stage.SET_DIALOGUE_ACT: _of(RULES, "ruleId dialogueAct dialogueActConfidence dialogueActSource standaloneQuery"),
    Stage.SET_INPUT_PARAM: _of(RULES, "ruleId intent state appliedInputParams inputParams"),
    Stage.SET_JSON: _of(RULES, "ruleId key path intent state value sessionInputParams"),
    Stage.SET_TASK: _of(RULES, "ruleId beanName beanMethodNames intent state context inputParams"),
    Stage.GET_CONTEXT: _of(RULES, "ruleId key intent state context sessionInputParams"),
    Stage.GET_SCHEMA_JSON: _of(RULES, "ruleId key intent state schemaJson sessionInputParams"),
    Stage.GET_SESSION: _of(RULES, "ruleId key session sessionInputParams"),
    Stage.SET_CONTEXT: _of(RULES, "ruleId intent state values context"),
    Stage.CLEAR_CONTEXT: _of(RULES, "ruleId paths intent state context"),
    Stage.REMOVE_INPUT_PARAM: _of(RULES, "ruleId removed intent state inputParams"),
    Stage.SET_RESPONSE_HINT: _of(RULES, "ruleId responseHint intent state"),
    Stage.SET_PREFERENCE: _of(RULES, "ruleId kind fromId toId intent state"),
    Stage.STATE_GRAPH_VALID: _of("StateGraph", "fromState toState intent path validateOnly allowed"),
    Stage.STATE_GRAPH_VIOLATION: _of(
        "StateGraph",
        "fromState toState intent path validateOnly allowed softBlock reason",
    ),
    Stage.STATE_GRAPH_REVERTED: _of("StateGraph", "fromIntent toIntent fromState toState"),
    # response
    Stage.RESOLVE_RESPONSE: _of("ResponseResolution", "responseId intent state"),
    Stage.RESPONSE_MAPPING_NOT_FOUND: _of("ResponseResolution", "intent state"),
    Stage.RESOLVE_RESPONSE_SELECTED: _of("ResponseResolution", "templateId intent outputFormat resolver"),
    Stage.RESOLVE_RESPONSE_LLM_INPUT: _of(
        "ResponseResolution",
        "system_prompt user_prompt derivation_hint session schema",
    ),
    Stage.RESOLVE_RESPONSE_LLM_OUTPUT: _of("ResponseResolution", "output"),
    Stage.RESOLVE_RESPONSE_LLM_ERROR: _of("ResponseResolution", "errorCode message exception" + PROMPT_FAULT),
    Stage.RESPONSE_EXACT: _of("ResponseResolution", "text"),
    Stage.EXACT_RESPONSE_RENDERING: _of(
        "ResponseResolution",
        "component fallbackUsed errorClass errorMessage templatePreview responseId",
    ),
    Stage.PROMPT_RENDERING: _of("", "rendered_template promptVars"),
    Stage.RESPONSE_STATE_OVERRIDE: _of("ResponseResolution", "fromIntent fromState toIntent toState applied reason"),
    Stage.RESPONSE_TRANSFORM_FAILED: _of(
        "ResponseResolution PersistConversation",
        "stage transformer errorType errorMessage",
    ),
    Stage.ASSISTANT_OUTPUT: _of(
        "ResponseResolution PolicyEnforcement",
        "output outputFormat responseType responseId intent state context schemaJson source policyId",
    ),
    # session
    Stage.MEMORY_UPDATED: _of("Memory", "summaryChars recalled stores intent state"),
    Stage.MEMORY_STORE_ERROR: _of("LoadOrCreateConversation Memory", "store operation errorType errorMessage"),
    Stage.MEMORY_LLM_INPUT: _of("", "purpose system_prompt user_prompt"),
    Stage.MEMORY_LLM_OUTPUT: _of("", "output purpose"),
    Stage.MEMORY_LLM_ERROR: _of("", "errorCode message exception" + PROMPT_FAULT),
    Stage.SESSION_UNITS_LLM_INPUT: _of("Memory", "system_prompt user_prompt schema"),
    Stage.SESSION_UNITS_LLM_OUTPUT: _of("Memory", "json"),
    Stage.SESSION_UNITS_LLM_ERROR: _of("Memory", "errorCode message exception" + PROMPT_FAULT),
    Stage.SESSION_LIFECYCLE: _of(
        "LoadOrCreateConversation IntentResolution PersistConversation",
        "from to reason turn_no",
    ),
    Stage.DATA_ERASED: _of("", "by reason turnNo turns additions"),
    Stage.MESSAGE_INTENT_CLASSIFIED: _of("DialogueAct IntentResolution", "messageIntent lifecycle dialogueAct"),
}
