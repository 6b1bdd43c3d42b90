"""Stages of the question between intents, and of asking a model for an answer's text."""

from convengine.engine.turn.stage import Family, SentenceTemplate, Tone, declare_stage
from convengine.engine.turn.stages import PROMPT_FAULT

INTENT_COLLISION_DETECTED = declare_stage(
    "INTENT_COLLISION_DETECTED",
    Family.INTENT,
    "The answer of this turn asks which intent is meant.",
    steps="ResponseResolutionStep",
    keys="intent state",
)
INTENT_COLLISION_RESOLVED = declare_stage(
    "INTENT_COLLISION_RESOLVED",
    Family.INTENT,
    "The question which intent is meant was created.",
    steps="ResponseResolutionStep",
    keys="output intent state context schemaJson",
)
RESOLVE_RESPONSE_LLM_INPUT = declare_stage(
    "RESOLVE_RESPONSE_LLM_INPUT",
    Family.RESPONSE,
    "What the model was asked to write the answer.",
    steps="ResponseResolutionStep",
    keys="system_prompt user_prompt derivation_hint session schema",
)
RESOLVE_RESPONSE_LLM_OUTPUT = declare_stage(
    "RESOLVE_RESPONSE_LLM_OUTPUT",
    Family.RESPONSE,
    "The answer as the model wrote it.",
    steps="ResponseResolutionStep",
    keys="output",
)
RESOLVE_RESPONSE_LLM_ERROR = declare_stage(
    "RESOLVE_RESPONSE_LLM_ERROR",
    Family.RESPONSE,
    "The model could not write the answer.",
    steps="ResponseResolutionStep",
    keys=f"errorCode message exception {PROMPT_FAULT}",
    sentences=(
        SentenceTemplate(
            "The model could not write the text of the answer: {message}[ ({errorCode})].", tone=Tone.ERROR
        ),
    ),
)
