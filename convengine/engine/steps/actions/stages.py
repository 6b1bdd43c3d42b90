"""Stages of actions."""

from convengine.engine.turn.stage import Family, SentenceTemplate, Tone, declare_stage

GUARDRAIL_ALLOW = declare_stage(
    "GUARDRAIL_ALLOW",
    Family.POLICY,
    "The guardrail allowed the turn.",
    steps="GuardrailStep",
    keys="result sensitive approvalRequired approvalGranted intent state",
    common=True,
    sentences=(
        SentenceTemplate("The guardrail allowed a sensitive message, because it was approved.", {"sensitive": True}),
    ),
)
GUARDRAIL_DENY = declare_stage(
    "GUARDRAIL_DENY",
    Family.POLICY,
    "A sensitive action has no approval, so it does not run.",
    steps="GuardrailStep",
    keys="result reason sensitive approvalGranted userText intent state matchedOn patternIndex",
    always_recorded=True,
    sentences=(
        SentenceTemplate(
            "The guardrail denied {matchedOn:phrase matched_on}, because {reason:phrase guardrail}.", tone=Tone.WARNING
        ),
        SentenceTemplate(
            "The guardrail denied the request, because {reason:phrase guardrail}.",
            tone=Tone.WARNING,
        ),
    ),
)
PENDING_ACTION_SKIPPED = declare_stage(
    "PENDING_ACTION_SKIPPED",
    Family.ACTION,
    "No action runs in this turn, and why.",
    steps="PendingActionStep",
    keys="policyDecision pendingActionRef intent state context reason reasonText actionKey",
    sentences=(
        SentenceTemplate("{action} did not run: {reason:phrase skipped}.", tone=Tone.WARNING),
        SentenceTemplate("No action ran: {reason:phrase skipped}.", tone=Tone.WARNING),
    ),
)
PENDING_ACTION_REJECTED = declare_stage(
    "PENDING_ACTION_REJECTED",
    Family.ACTION,
    "The user said no; the action does not run.",
    steps="PendingActionStep",
    keys="policyDecision pendingActionRef intent state context pendingActionResult",
    sentences=(SentenceTemplate("{action} was cancelled[, because {cause}]."),),
)
PENDING_ACTION_EXECUTED = declare_stage(
    "PENDING_ACTION_EXECUTED",
    Family.ACTION,
    "The user said yes, and the action ran.",
    steps="PendingActionStep",
    keys=(
        "policyDecision pendingActionRef intent state context pendingActionResult durationMs taskBean "
        "taskMethods executionId reused sameRequest"
    ),
    always_recorded=True,
    sentences=(
        SentenceTemplate(
            "{action} did not run again: it has already run, and its stored result was used.",
            {"reused": True},
        ),
        SentenceTemplate(
            "{action} ran once[, by the task {taskBean}][, because {cause}][. It took {durationMs:ms}].", tone=Tone.GOOD
        ),
    ),
)
PENDING_ACTION_FAILED = declare_stage(
    "PENDING_ACTION_FAILED",
    Family.ACTION,
    "The action was confirmed and failed.",
    steps="PendingActionStep",
    keys=(
        "policyDecision pendingActionRef intent state context pendingActionResult reason errorType "
        "reasonText durationMs taskBean taskMethods executionId reused sameRequest"
    ),
    sentences=(
        SentenceTemplate("{action} failed[ in the task {taskBean}][: {reason}][ ({reasonText})].", tone=Tone.ERROR),
    ),
)
