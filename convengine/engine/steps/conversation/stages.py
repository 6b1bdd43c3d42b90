"""Stages of the first and last steps of a turn."""

from convengine.engine.turn.stage import Family, SentenceTemplate, Tone, declare_stage

CONVERSATION_CREATED = declare_stage(
    "CONVERSATION_CREATED",
    Family.OPENING,
    "The first message of a conversation.",
    steps="LoadOrCreateConversationStep",
    keys="conversationId reason",
    sentences=(SentenceTemplate("A new conversation began."),),
)
CONVERSATION_LOADED = declare_stage(
    "CONVERSATION_LOADED",
    Family.OPENING,
    "The intent and state at the start of the turn.",
    steps="LoadOrCreateConversationStep",
    keys="intent state status turnNo configVersion",
    common=True,
    sentences=(
        SentenceTemplate(
            "The conversation was at intent {intent}, state {state}. A policy had blocked it.", {"status": "BLOCKED"}
        ),
        SentenceTemplate("The conversation was at intent {intent}, state {state}."),
    ),
)
CONTEXT_REPAIRED = declare_stage(
    "CONTEXT_REPAIRED",
    Family.OPENING,
    "The stored context was not readable and was repaired.",
    steps="LoadOrCreateConversationStep",
    keys="reason raw_excerpt",
    sentences=(SentenceTemplate("Repaired the stored context, which was not readable: {reason}.", tone=Tone.WARNING),),
)
CACHE_INSPECTION = declare_stage(
    "CACHE_INSPECTION",
    Family.OPENING,
    "The configuration that the turn ran on, written on demand.",
    steps="CacheInspectAuditStep",
    keys="cache_snapshot config_version config_tables",
)
USER_INPUT = declare_stage(
    "USER_INPUT",
    Family.OPENING,
    "The message of the user, with the parameters of the caller.",
    steps="AuditUserInputStep",
    keys="text inputParamKeys channel turnNo truncated originalChars source",
    always_recorded=True,
    common=True,
    whole_meta=True,
    sentences=(
        SentenceTemplate("The user wrote {text:said}[, and the caller sent the parameters {inputParamKeys:names}]."),
        SentenceTemplate("The caller sent the parameters {inputParamKeys:names} without a message."),
        SentenceTemplate("The caller sent no message."),
    ),
)
INPUT_PARAM_IGNORED = declare_stage(
    "INPUT_PARAM_IGNORED",
    Family.OPENING,
    "The caller sent a reserved parameter. It was ignored.",
    steps="LoadOrCreateConversationStep",
    keys="keys",
    sentences=(
        SentenceTemplate(
            "Ignored {keys:names}: callers must not send these parameters, they are reserved for the engine.",
            tone=Tone.WARNING,
        ),
    ),
)
CONTEXT_TRIMMED = declare_stage(
    "CONTEXT_TRIMMED",
    Family.OPENING,
    "The context exceeded its limit, so old parts were removed.",
    steps="PersistConversationStep",
    keys="dropped bytes maxBytes",
    sentences=(
        SentenceTemplate(
            "Removed {dropped:names} from the context: its {bytes} bytes exceeded the limit of {maxBytes}.",
            tone=Tone.WARNING,
        ),
    ),
)
