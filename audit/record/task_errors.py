"""Which turns have a failed task or tool: the turn goes on, and the user gets an answer."""

from collections.abc import Mapping, Set
from typing import Any

from convengine.engine.rules.stages import RULE_ERROR
from convengine.engine.stages import base_name
from convengine.engine.steps.actions.stages import PENDING_ACTION_EXECUTED, PENDING_ACTION_FAILED
from convengine.engine.steps.tools.stages import MCP_TOOL_ERROR, TOOL_ORCHESTRATION_ERROR
from convengine.engine.turn.enums import RuleAction

#: The stages that say so. RULE_ERROR says it of the rules that run a task, which is then its role in the index.
TASK_ERROR_STAGES = tuple(map(str, (PENDING_ACTION_FAILED, TOOL_ORCHESTRATION_ERROR, MCP_TOOL_ERROR)))
RULE_STAGE, RULE_TASK = str(RULE_ERROR), RuleAction.SET_TASK.value
#: The stages to read for `is_task_undone`.
TASK_STAGES = (*TASK_ERROR_STAGES, RULE_STAGE, str(PENDING_ACTION_EXECUTED))


def find_rule_role(stage: str, payload: Mapping[str, Any]) -> str:
    """The role of an event in the index: the action of a RULE_ERROR that ran a task, else blank."""
    return RULE_TASK if base_name(stage) == RULE_STAGE and payload.get("action") == RULE_TASK else ""


def is_task_undone(entries: Set[tuple[str, str]]) -> bool:
    """Whether a task or tool failed, by the stages of a turn with their roles. An action that ran was done."""
    stages = {stage for stage, _ in entries}
    has_error = not stages.isdisjoint(TASK_ERROR_STAGES) or (RULE_STAGE, RULE_TASK) in entries
    return has_error and PENDING_ACTION_EXECUTED not in stages
