"""Stages of the question which action is meant."""

from convengine.engine.turn.stage import Family, SentenceTemplate, Tone, declare_stage
from convengine.engine.turn.stages import PROMPT_FAULT

DISAMBIGUATION_REQUIRED = declare_stage(
    "DISAMBIGUATION_REQUIRED",
    Family.DIALOGUE,
    "Several actions are possible, so the user is asked which one is meant.",
    steps="DisambiguationStep",
    keys="reason question candidateCount options intent state questionSource truncated",
    sentences=(
        SentenceTemplate("The bot asks which action is meant, because {candidateCount} match: {options:names}."),
    ),
)
DISAMBIGUATION_LLM_INPUT = declare_stage(
    "DISAMBIGUATION_LLM_INPUT",
    Family.DIALOGUE,
    "The prompt for writing the question.",
    steps="DisambiguationStep",
    keys="system_prompt user_prompt",
)
DISAMBIGUATION_LLM_OUTPUT = declare_stage(
    "DISAMBIGUATION_LLM_OUTPUT",
    Family.DIALOGUE,
    "The question that the model wrote.",
    steps="DisambiguationStep",
    keys="output",
)
DISAMBIGUATION_LLM_ERROR = declare_stage(
    "DISAMBIGUATION_LLM_ERROR",
    Family.DIALOGUE,
    "The model could not write the question. The built-in question is used.",
    steps="DisambiguationStep",
    keys=f"errorCode message exception {PROMPT_FAULT}",
    sentences=(
        SentenceTemplate(
            "The model could not write the question[: {message}]; the built-in question was asked.", tone=Tone.WARNING
        ),
    ),
)
PENDING_ACTION_LIFECYCLE = declare_stage(
    "PENDING_ACTION_LIFECYCLE",
    Family.ACTION,
    "An action was proposed, confirmed, refused, or waited too long.",
    steps="ActionLifecycleStep GuardrailStep SchemaExtractionStep",
    keys="event status actionKey actionRef turn",
    sentences=(
        SentenceTemplate(
            "{action} waits for confirmation.",
            {"event": "OPEN"},
            # An action often opens in the turn of the yes itself; then nothing was waiting.
            unless=("PENDING_ACTION_EXECUTED", "PENDING_ACTION_FAILED", "PENDING_ACTION_REJECTED"),
        ),
        SentenceTemplate("{action} was not confirmed in time and is no longer open.", {"event": "EXPIRED"}),
        SentenceTemplate("{action} is open again.", {"event": "REVERTED"}),
    ),
)
