"""Stages of rendering prompts."""

from convengine.engine.turn.stage import Family, SentenceTemplate, Tone, declare_stage

#: Keys of an event about a prompt that could not be rendered.
PROMPT_FAULT = "omitted missingPromptVars promptSelected system_prompt user_prompt session promptVars"

PROMPT_RENDERING = declare_stage(
    "PROMPT_RENDERING",
    Family.RESPONSE,
    "A prompt as it was filled in, with the names that it used.",
    keys="rendered_template promptVars",
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
