"""Stages of rendering prompts."""

from convengine.engine.turn.stage import Family, declare_stage

#: Keys of an event about a prompt that could not be rendered.
PROMPT_FAULT = "omitted missingPromptVars promptSelected system_prompt user_prompt session promptVars"

PROMPT_RENDERING = declare_stage(
    "PROMPT_RENDERING",
    Family.RESPONSE,
    "A prompt as it was filled in, with the names that it used.",
    keys="rendered_template promptVars",
)
