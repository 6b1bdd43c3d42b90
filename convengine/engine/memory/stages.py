"""Stages of memory."""

from convengine.engine.turn.stage import Family, SentenceTemplate, Tone, declare_stage
from convengine.engine.turn.stages import PROMPT_FAULT

MEMORY_STORE_ERROR = declare_stage(
    "MEMORY_STORE_ERROR",
    Family.SESSION,
    "A memory store of the deployment failed.",
    steps="LoadOrCreateConversationStep MemoryStep",
    keys="store operation errorType errorMessage",
    sentences=(SentenceTemplate("The memory store {store} failed at {operation}[: {errorMessage}].", tone=Tone.ERROR),),
)
MEMORY_LLM_INPUT = declare_stage(
    "MEMORY_LLM_INPUT",
    Family.SESSION,
    "What the model was asked to sum up.",
    keys="purpose system_prompt user_prompt",
    after_answer=True,
)
MEMORY_LLM_OUTPUT = declare_stage(
    "MEMORY_LLM_OUTPUT",
    Family.SESSION,
    "The summary as the model wrote it.",
    keys="output purpose",
    after_answer=True,
    sentences=(SentenceTemplate("A model rewrote the summary: {output:said}."),),
)
MEMORY_LLM_ERROR = declare_stage(
    "MEMORY_LLM_ERROR",
    Family.SESSION,
    "The model could not sum up; the built summary stays.",
    keys=f"errorCode message exception {PROMPT_FAULT}",
    after_answer=True,
    sentences=(
        SentenceTemplate(
            "The model could not write the summary[: {message}]; the built-in summary was kept.", tone=Tone.WARNING
        ),
    ),
)
SESSION_UNITS_LLM_INPUT = declare_stage(
    "SESSION_UNITS_LLM_INPUT",
    Family.SESSION,
    "What the model was asked to note for later turns.",
    steps="MemoryStep",
    keys="system_prompt user_prompt schema",
)
SESSION_UNITS_LLM_OUTPUT = declare_stage(
    "SESSION_UNITS_LLM_OUTPUT",
    Family.SESSION,
    "What the model noted.",
    steps="MemoryStep",
    keys="json",
)
SESSION_UNITS_LLM_ERROR = declare_stage(
    "SESSION_UNITS_LLM_ERROR",
    Family.SESSION,
    "The model could not note anything; what the engine noted stays.",
    steps="MemoryStep",
    keys=f"errorCode message exception {PROMPT_FAULT}",
    sentences=(SentenceTemplate("The model could not extract notes for later[: {message}].", tone=Tone.WARNING),),
)
MEMORY_UPDATED = declare_stage(
    "MEMORY_UPDATED",
    Family.SESSION,
    "What the conversation remembers was brought up to date.",
    steps="MemoryStep",
    keys="summaryChars recalled stores intent state",
    common=True,
)
