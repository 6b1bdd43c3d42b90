"""Stages of corrections."""

from convengine.engine.turn.stage import Family, SentenceTemplate, Tone, declare_stage

CORRECTION_STEP_CONFIRM_ACCEPT = declare_stage(
    "CORRECTION_STEP_CONFIRM_ACCEPT",
    Family.DIALOGUE,
    "The user confirmed a complete form.",
    steps="CorrectionStep",
    keys="intent state routingDecision",
    sentences=(SentenceTemplate("The user confirmed the collected data.", tone=Tone.GOOD),),
)
CORRECTION_STEP_RETRY_REQUESTED = declare_stage(
    "CORRECTION_STEP_RETRY_REQUESTED",
    Family.DIALOGUE,
    "The user asked to repeat the last step.",
    steps="CorrectionStep",
    keys="intent state routingDecision",
    sentences=(SentenceTemplate("The user asked to repeat the last step."),),
)
CORRECTION_STEP_CORRECTION_PATCH_APPLIED = declare_stage(
    "CORRECTION_STEP_CORRECTION_PATCH_APPLIED",
    Family.DIALOGUE,
    "The user corrected values of the form in place.",
    steps="CorrectionStep",
    keys="field value previousValue intent state routingDecision",
    sentences=(
        SentenceTemplate("Corrected {field:field}[ from {previousValue}] to {value}, as the user asked."),
        SentenceTemplate("Removed {field:field}[ ({previousValue})], as the user wants to change it."),
    ),
)
CORRECTION_STEP_CONFIRM_REFUSED = declare_stage(
    "CORRECTION_STEP_CONFIRM_REFUSED",
    Family.DIALOGUE,
    "The user said yes, but the form is not complete or the state does not accept it.",
    steps="CorrectionStep",
    keys="missingFields intent state routingDecision",
    sentences=(
        SentenceTemplate(
            "The yes does not count as a confirmation yet. Still missing: {missingFields:fields}.", tone=Tone.WARNING
        ),
        SentenceTemplate("The yes does not count as a confirmation here.", tone=Tone.WARNING),
    ),
)
CORRECTION_STEP_PATCH_NOT_APPLIED = declare_stage(
    "CORRECTION_STEP_PATCH_NOT_APPLIED",
    Family.DIALOGUE,
    "The user tried to correct a value, but no valid value was found.",
    steps="CorrectionStep",
    keys="reason field intent state routingDecision",
    sentences=(
        SentenceTemplate(
            "The correction was not applied[ to {field:field}]: {reason:phrase refused}.",
            tone=Tone.WARNING,
            unless=("FIELDS_READ",),
        ),
    ),
)
