"""Every audit stage, in the order of a turn, and the names under which events store them."""

from collections.abc import Mapping
from importlib import import_module

from convengine.engine.turn.stage import Stage, declared_stages

for _room in (
    "pipeline",
    "turn",
    "steps.conversation",
    "threads",
    "steps.hand_over",
    "steps.policy",
    "steps.dialogue_act",
    "steps.interaction",
    "steps.correction",
    "steps.actions",
    "pending_actions",
    "steps.intents",
    "clarification",
    "steps.containers",
    "forms",
    "steps.forms",
    "prompts",
    "steps.tools",
    "rules",
    "steps.state_graph",
    "state_graph",
    "steps.responses",
    "steps.memory",
    "memory",
):
    import_module(f"convengine.engine.{_room}.stages")
import_module("convengine.engine.rules.actions")

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
