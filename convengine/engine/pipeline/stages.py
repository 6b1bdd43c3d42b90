"""Stages of the runner: steps, failures, timings."""

from convengine.engine.turn.stage import Family, SentenceTemplate, Tone, declare_stage

STEP_ENTER = declare_stage(
    "STEP_ENTER",
    Family.FRAME,
    "A step begins.",
    keys="step stepClass",
    common=True,
)
STEP_EXIT = declare_stage(
    "STEP_EXIT",
    Family.FRAME,
    "A step ended: whether the turn goes on, and how long it took.",
    keys="step stepClass outcome durationMs",
    common=True,
)
STEP_ERROR = declare_stage(
    "STEP_ERROR",
    Family.FRAME,
    "A step failed, and the turn with it: which step, and with what.",
    keys="step stepClass durationMs errorType errorMessage _errorMeta",
    always_recorded=True,
    whole_meta=True,
    sentences=(SentenceTemplate("The step {step:step} failed: {errorMessage}", tone=Tone.ERROR),),
)
STEP_HOOK_ERROR = declare_stage(
    "STEP_HOOK_ERROR",
    Family.FRAME,
    "A hook of the deployment failed during a step. The turn continues.",
    keys="step phase hookClass errorType errorMessage",
    sentences=(
        SentenceTemplate(
            "The hook {hookClass} failed during {step:step}: {errorMessage}. The turn continued.", tone=Tone.ERROR
        ),
    ),
)
PIPELINE_TIMING = declare_stage(
    "PIPELINE_TIMING",
    Family.FRAME,
    "How long the turn took, step by step, and how long models and tools took.",
    steps="PipelineEndGuardStep",
    keys="totalMs steps stepList wallMs llmMs llmCalls toolMs status auditFiltered sqlCount",
    common=True,
)
ENGINE_KNOWN_FAILURE = declare_stage(
    "ENGINE_KNOWN_FAILURE",
    Family.FRAME,
    "The turn failed with a known error code. Only its record is stored.",
    keys="errorCode message recoverable _errorMeta",
    always_recorded=True,
    whole_meta=True,
    sentences=(
        SentenceTemplate(
            "A newer message stopped the turn. Nothing was saved, and the user got no answer to this message.",
            {"errorCode": "TURN_INTERRUPTED"},
            Tone.WARNING,
        ),
        SentenceTemplate("The turn failed with {errorCode}. Nothing was saved.", tone=Tone.ERROR),
    ),
)
ENGINE_UNKNOWN_FAILURE = declare_stage(
    "ENGINE_UNKNOWN_FAILURE",
    Family.FRAME,
    "The turn failed unexpectedly, or the process that ran it ended.",
    keys="exception message recoverable incidentId reason",
    always_recorded=True,
    whole_meta=True,
    sentences=(
        SentenceTemplate(
            "The turn failed: {reason:phrase failure}. Nothing was saved.",
            {"reason": frozenset({"LEASE_EXPIRED", "TURN_TIMEOUT"})},
            Tone.ERROR,
        ),
        SentenceTemplate(
            "The turn failed unexpectedly with {exception}[: {message}]. Nothing was saved.", tone=Tone.ERROR
        ),
    ),
)
AUDIT_EVENT_LOST = declare_stage(
    "AUDIT_EVENT_LOST",
    Family.FRAME,
    "The database rejected an event. This event replaces it.",
    keys="stage reason bytes",
    sentences=(
        SentenceTemplate(
            "The database rejected the event {stage}[: {reason}]; it is missing from the audit trail.", tone=Tone.ERROR
        ),
    ),
)
EVENTS_UNREADABLE = declare_stage(
    "EVENTS_UNREADABLE",
    Family.FRAME,
    "Shown in place of stored events that cannot be read: why, and what to do. It is never stored.",
    keys="reason remedy",
    common=True,
    sentences=(SentenceTemplate("Stored events of this turn cannot be read: {reason}. {remedy}", tone=Tone.ERROR),),
)
TURN_FAILED = declare_stage(
    "TURN_FAILED",
    Family.FRAME,
    "Sent to live viewers: what they saw of this turn was not stored.",
    keys="turnNo status errorCode message",
    sentences=(SentenceTemplate("What live viewers saw of this turn was not saved.", tone=Tone.ERROR),),
)
DATA_ERASED = declare_stage(
    "DATA_ERASED",
    Family.SESSION,
    "What the conversation held was erased: by whom, and why.",
    keys="by reason turnNo turns additions tests",
    sentences=(SentenceTemplate("The content of the conversation was erased by {by}[: {reason}].", tone=Tone.WARNING),),
)
