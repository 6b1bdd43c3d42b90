"""Stages of the whole turn, and of texts that are filled in."""

from convengine.engine.turn.stage import Family, SentenceTemplate, Tone, declare_stage

ENGINE_RETURN = declare_stage(
    "ENGINE_RETURN",
    Family.FRAME,
    "The intent, state and answer at the end of the turn.",
    steps="PersistConversationStep PolicyEnforcementStep",
    keys="intent state final_result",
    common=True,
    whole_meta=True,
    sentences=(
        SentenceTemplate(
            "The turn left the conversation at intent {intent}, state {state}; the bot asks whether to stop the form.",
            given="FORM_LEAVE_ASKED",
        ),
        SentenceTemplate(
            "The turn left the conversation at intent {intent}, state {state}; the bot asks whether "
            "{_meta.contextDict.dialogue.offered:data} is meant."
        ),
        SentenceTemplate(
            "The turn left the conversation at intent {intent}, state {state}; the bot asks "
            "{_meta.session.pendingClarificationQuestion:said}."
        ),
        SentenceTemplate(
            "The turn left the conversation at intent {intent}, state {state}"
            "[; the bot asks for {_meta.contextDict.dialogue.asked_field:field}]."
        ),
    ),
)
DECISION = declare_stage(
    "DECISION",
    Family.FRAME,
    "The chosen rows and the reasons why other rows were not chosen.",
    keys="kind key winner candidates cut",
    common=True,
)
CONFIG_VALUE_INVALID = declare_stage(
    "CONFIG_VALUE_INVALID",
    Family.FRAME,
    "The value of a setting is invalid, so its default was used.",
    keys="configType configKey value usedDefault reason",
    sentences=(
        SentenceTemplate(
            "The setting {configType} / {configKey} has an invalid value[: {reason}]; its default was used.",
            tone=Tone.WARNING,
        ),
    ),
)
CONFIG_ROW_INVALID = declare_stage(
    "CONFIG_ROW_INVALID",
    Family.FRAME,
    "A row is invalid, so the turn ignored it.",
    keys="table rowId reason field value remedy",
    sentences=(SentenceTemplate("Row {rowId} of {table} is invalid, so the turn ignored it.", tone=Tone.WARNING),),
)
CONVERSATION_RESET = declare_stage(
    "CONVERSATION_RESET",
    Family.OPENING,
    "The conversation was reset, with the reason.",
    steps="ResetConversationStep ResetResolvedIntentStep",
    keys=(
        "reason intent state context previousIntent previousState previousContext epoch "
        "matchedResetIntentCodes matchedIntent"
    ),
    always_recorded=True,
    sentences=(
        SentenceTemplate(
            "The conversation was reset, because {reason:phrase reset}[: {matchedIntent}][. Before, it was "
            "at intent {previousIntent}, state {previousState}][. Cleared {cleared}]."
        ),
    ),
)
ASSISTANT_OUTPUT = declare_stage(
    "ASSISTANT_OUTPUT",
    Family.RESPONSE,
    "What the user is answered.",
    steps="ResponseResolutionStep PolicyEnforcementStep",
    keys="output outputFormat responseType responseId intent state context schemaJson source policyId",
    common=True,
)
RESPONSE_TRANSFORMED = declare_stage(
    "RESPONSE_TRANSFORMED",
    Family.RESPONSE,
    "Code changed the answer: `by` names it, `kind` says what it is.",
    keys="by kind before after stage responseId",
    sentences=(
        SentenceTemplate("Then the open question was added to the answer[: {after:end}].", {"kind": "DIGRESSION"}),
        SentenceTemplate(
            "Then the question of the form that goes on was added to the answer[: {after:end}].",
            {"kind": "FORM_RESUMED"},
        ),
        SentenceTemplate(
            "Then the answer was changed[ to {after:said}], because the answer begins a new session in place of an "
            "old one.",
            {"kind": "STALE"},
        ),
        SentenceTemplate("Then {kind:phrase changed_by} {by} changed the answer[ to {after:said}]."),
    ),
)
FACTS_CHANGED = declare_stage(
    "FACTS_CHANGED",
    Family.DATA,
    "Code of the deployment changed facts: `by` names it, `kind` says what it is.",
    keys="by kind facts parameters removed fields",
    sentences=(
        SentenceTemplate(
            "{kind:phrase code} {by} set {facts:data}[ and the parameters {parameters:data}]"
            "[ and removed {removed:names}][ and changed {fields:data}]."
        ),
        SentenceTemplate(
            "{kind:phrase code} {by} set the parameters {parameters:data}"
            "[ and removed {removed:names}][ and changed {fields:data}]."
        ),
        SentenceTemplate("{kind:phrase code} {by} removed {removed:names}[ and changed {fields:data}]."),
        SentenceTemplate("{kind:phrase code} {by} changed {fields:data}."),
    ),
)

#: Keys of an event about a prompt that could not be rendered.
PROMPT_FAULT = "omitted missingPromptVars promptSelected system_prompt user_prompt session promptVars"

PROMPT_RENDERING = declare_stage(
    "PROMPT_RENDERING",
    Family.RESPONSE,
    "A prompt as it was filled in, with the names that it used.",
    keys="rendered_template promptVars",
)
TEXT_CHOSEN = declare_stage(
    "TEXT_CHOSEN",
    Family.RESPONSE,
    "One of several texts of a template was chosen by lot. The conversation always gets the same one.",
    keys="number count table row field",
    sentences=(
        SentenceTemplate("Chose text {number} of {count} of {row:row ce_response}.", {"table": "ce_response"}),
        SentenceTemplate("Chose text {number} of {count}[ for the field {field:field}]."),
    ),
)
TEMPLATE_VALUE_EMPTY = declare_stage(
    "TEMPLATE_VALUE_EMPTY",
    Family.RESPONSE,
    "Names in a text had no value, so the user sees gaps.",
    keys="names table row field",
    sentences=(
        SentenceTemplate(
            "The text of {row:row ce_response} has gaps, because these names had no value: {names:names}.",
            {"table": "ce_response"},
            tone=Tone.WARNING,
        ),
    ),
)
