"""Stages of states that a model set."""

from convengine.engine.turn.stage import Family, SentenceTemplate, Tone, declare_stage

RESPONSE_STATE_OVERRIDE = declare_stage(
    "RESPONSE_STATE_OVERRIDE",
    Family.RESPONSE,
    "The answer was chosen for another state than the conversation is in.",
    steps="ResponseResolutionStep",
    keys="fromIntent fromState toIntent toState applied reason",
    sentences=(
        SentenceTemplate(
            "The model's answer changed the intent to {toIntent} and the state to {toState}.", {"applied": True}
        ),
        SentenceTemplate(
            "The model's answer asked for intent {toIntent} and state {toState}, which was rejected[: {reason}].",
            tone=Tone.WARNING,
        ),
    ),
)
