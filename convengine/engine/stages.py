"""Every audit stage, by family and about in the order of a turn, and the names under which events store them."""

from collections.abc import Mapping
from importlib import import_module

from convengine.engine.turn.stage import Stage, declared_stages

for _module in (
    "turn.stages",
    "pipeline.stages",
    "steps.conversation.stages",
    "steps.buttons.step",
    "pending_actions.stages",
    "steps.dialogue_act.stages",
    "steps.interaction.stages",
    "steps.correction.stages",
    "steps.actions.stages",
    "forms.stages",
    "steps.responses.stages",
    "clarification.stages",
    "steps.intents.stages",
    "steps.containers.step",
    "steps.forms.stages",
    "steps.tools.stages",
    "rules.stages",
    "steps.policy.step",
    "steps.state_graph.step",
    "steps.hand_over.step",
    "steps.language.step",
    "threads.stages",
    "state_graph.allowed_moves",
    "memory.stages",
):
    import_module(f"convengine.engine.{_module}")

#: By name, grouped by family.
STAGES: Mapping[str, Stage] = {str(stage): stage for stage in declared_stages()}
ALWAYS_RECORDED = frozenset(stage for stage in STAGES.values() if stage.always_recorded)
COMMON = frozenset(stage for stage in STAGES.values() if stage.common)
WHOLE_META = frozenset(stage for stage in STAGES.values() if stage.whole_meta)
AFTER_THE_ANSWER = frozenset(stage for stage in STAGES.values() if stage.after_answer)
_FAMILY_BY_NAME = {str(stage): stage.family.value for stage in STAGES.values()}


def base_name(stage: str) -> str:
    """The stage without its source: `RULE_APPLIED (RulesStep)` is `RULE_APPLIED`."""
    return stage.split(" (", 1)[0]


def family_of(stage: str) -> str:
    """The part of a turn of a stored stage; blank for the deployment's own stages."""
    return _FAMILY_BY_NAME.get(base_name(stage), "")


#: The sources of passes of rules.
RULE_SOURCES = (
    *("DialogueActStep", "AgentIntentResolver", "IntentResolutionStep Classifier", "SchemaExtractionStep"),
    *("McpToolStep PreMcp", "McpToolStep", "ToolOrchestrationStep PostTool", "RulesStep"),
)


def stored_names(stage: str) -> list[str]:
    """The names of a stage in events: plain, and for rules with the source of the pass."""
    return [stage, *(f"{stage} ({source})" for source in RULE_SOURCES if stage.startswith("RULE_"))]
