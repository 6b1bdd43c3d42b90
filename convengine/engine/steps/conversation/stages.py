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
RELEASE_CHOSEN = declare_stage(
    "RELEASE_CHOSEN",
    Family.OPENING,
    "The release that the turn ran on, and why, when it is not simply the newest one.",
    steps="LoadOrCreateConversationStep",
    keys="configVersion newest reason",
    always_recorded=True,
    sentences=(
        SentenceTemplate(
            "The turn ran on release {configVersion} and not on {newest}, because the conversation was waiting for an "
            "answer.",
            {"reason": "END_OF_FORM"},
        ),
        SentenceTemplate(
            "The turn ran on release {configVersion} and not on {newest}, because the session began on it.",
            {"reason": "END_OF_SESSION"},
        ),
        SentenceTemplate(
            "The turn ran on release {configVersion}, because {newest} has no answer for the state of the "
            "conversation.",
            {"reason": "NO_ANSWER"},
        ),
        SentenceTemplate(
            "The turn ran on release {configVersion}, because {newest} has the intent switched off, and the "
            "conversation finishes it.",
            {"reason": "SWITCHED_OFF"},
        ),
        SentenceTemplate(
            "The turn ran on release {configVersion}, which a part of the conversations gets.", {"reason": "AUDIENCE"}
        ),
        SentenceTemplate(
            "The turn ran on release {configVersion}; only a part of the conversations gets {newest}.",
            {"reason": "NOT_IN_AUDIENCE"},
        ),
    ),
)
CONVERSATION_MOVED = declare_stage(
    "CONVERSATION_MOVED",
    Family.OPENING,
    "A release moved the conversation from an intent and state that it removed.",
    steps="LoadOrCreateConversationStep",
    keys="fromIntent fromState intent state",
    always_recorded=True,
    sentences=(
        SentenceTemplate(
            "The release moved the conversation from intent {fromIntent}, state {fromState} to intent {intent}, "
            "state {state}."
        ),
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
