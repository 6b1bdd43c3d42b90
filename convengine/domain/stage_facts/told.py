"""What is said of a stage: its name in words, who writes it, and what its payload holds."""

from typing import NamedTuple

from convengine.domain.stages import Stage

#: Steps that run phases of rules.
RULES = "DialogueAct IntentResolution SchemaExtraction ToolOrchestration McpTool Rules"
#: Keys that each event of a rule has.
RULE_FLAGS = (
    " ruleExecutionSource ruleExecutionOrigin rulePhase ruleAgentPostIntent ruleAgentPostMcp ruleToolPostExecution"
)
#: Keys of an event that tells of a prompt that could not be filled in.
PROMPT_FAULT = " omitted missingPromptVars promptSelected system_prompt user_prompt session promptVars"
#: What ends the name of a stage that tells of a question to a model.
_ASKED = {"_LLM_INPUT": "model asked", "_LLM_OUTPUT": "model answered", "_LLM_ERROR": "model failed"}
_SHORT = frozenset({"JSON", "SQL", "DB", "MCP", "KB"})


class Told(NamedTuple):
    """What is said of a stage."""

    #: The steps that write it; none where any step does, or none runs.
    steps: tuple[str, ...]
    #: The keys that its payload may have, beside `_meta`.
    keys: tuple[str, ...]


def of(steps: str, keys: str, *blank: str) -> Told:
    """From names with blanks between; those of steps without what they all end with. `blank` are keys that have one."""
    return Told(tuple(f"{step}Step" for step in steps.split()), (*blank, *keys.split()))


def label(stage: Stage) -> str:
    """The name in words: `INTENT_AGENT_LLM_INPUT` is "Intent agent: model asked"."""
    name, end = stage.value, ""
    for ending, words in _ASKED.items():
        if name.endswith(ending):
            name, end = name.removesuffix(ending), f": {words}"
    said = " ".join(word if word in _SHORT else word.lower() for word in name.split("_"))
    return said[0].upper() + said[1:] + end
