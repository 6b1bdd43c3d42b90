"""Stage names as stored: a stage, with the calling step in brackets where several call the same code."""

from convengine.domain.stages import Stage

_FAMILIES = {stage.value: stage.family.value for stage in Stage}


def base_name(stage: str) -> str:
    """The stage without its source: `RULE_APPLIED (RulesStep)` is `RULE_APPLIED`."""
    return stage.split(" (", 1)[0]


def family_of(stage: str) -> str:
    """The part of a turn that a stored stage belongs to; blank for one of the deployment's own."""
    return _FAMILIES.get(base_name(stage), "")


def source_name(stage: str) -> str:
    """The source in the brackets; blank when there is none."""
    return stage.partition(" (")[2].removesuffix(")")


#: Who makes the passes of rules (api-and-audit 9).
RULE_SOURCES = (
    *("DialogueActStep", "AgentIntentResolver", "IntentResolutionStep Classifier", "SchemaExtractionStep"),
    *("McpToolStep PreMcp", "McpToolStep", "ToolOrchestrationStep PostTool", "RulesStep"),
)


def stored_names(stage: str) -> list[str]:
    """How a stage stands in events: bare, and those of rules with whose pass it was."""
    return [stage, *(f"{stage} ({source})" for source in RULE_SOURCES if stage.startswith("RULE_"))]
