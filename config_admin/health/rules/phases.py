"""What is possible in a turn when a phase of rules runs: the steps before it, and what they may have set."""

import re
from collections.abc import Mapping, Sequence
from functools import cache
from typing import Any

from convengine.engine.pipeline.order import DEFAULT_PIPELINE
from convengine.engine.rules.phase_events import build_flags
from convengine.engine.turn.enums import (
    ActionStatus,
    DialogueAct,
    Lifecycle,
    MessageIntent,
    PolicyDecision,
    ResetReason,
    RoutingDecision,
    RulePhase,
)
from convengine.engine.turn.params import PARAMS
from convengine.engine.turn.session import StepTiming

Json = Any
#: The engine's name of a phase's caller, and its step.
SOURCES: Mapping[RulePhase, str] = {
    RulePhase.POST_DIALOGUE_ACT: "DialogueActStep",
    RulePhase.POST_CLASSIFIER_INTENT: "IntentResolutionStep Classifier",
    RulePhase.POST_AGENT_INTENT: "AgentIntentResolver",
    RulePhase.POST_SCHEMA_EXTRACTION: "SchemaExtractionStep",
    RulePhase.POST_TOOL_EXECUTION: "ToolOrchestrationStep PostTool",
    RulePhase.PRE_AGENT_MCP: "McpToolStep PreMcp",
    RulePhase.POST_AGENT_MCP: "McpToolStep",
    RulePhase.PRE_RESPONSE_RESOLUTION: "RulesStep",
}
_STEPS = tuple(path.rpartition(".")[2] for path in DEFAULT_PIPELINE)
_STEP_OF = {phase: source.split(" ")[0] for phase, source in SOURCES.items()} | {
    RulePhase.POST_AGENT_INTENT: "IntentResolutionStep"
}
#: Callers that are no steps, by the step in which they run.
_WITHIN = {"AgentIntentResolver": "IntentResolutionStep", "classifier": "IntentResolutionStep"}
_WRITER = re.compile(r"[A-Z]\w+Step\b|AgentIntentResolver")
_BOOLEANS = (True, False)
#: The documented values of params that the engine sets (settings 5).
PARAM_VALUES: Mapping[str, Sequence[Json]] = {
    "dialogue_act": tuple(act.value for act in DialogueAct),
    "dialogue_act_regex": tuple(act.value for act in DialogueAct),
    "dialogue_act_llm_candidate": (*(act.value for act in DialogueAct), None),
    "dialogue_act_guard_applied": _BOOLEANS,
    "dialogue_act_guard_reason": ("REGEX_GUARD_RESET", "REGEX_GUARD_CONFIRMATION"),
    "message_intent": tuple(meaning.value for meaning in MessageIntent),
    "policy_decision": tuple(decision.value for decision in PolicyDecision),
    "routing_decision": tuple(decision.value for decision in RoutingDecision),
    "skip_intent_resolution": _BOOLEANS,
    "skip_schema_extraction": _BOOLEANS,
    "correction_applied": _BOOLEANS,
    "intent_resolved_by": ("CLASSIFIER", "AGENT"),
    "agentResolver": _BOOLEANS,
    "form_leave": ("ASK", "LEAVE", "STAY"),
    "state_graph_valid": _BOOLEANS,
    "state_graph_soft_block": _BOOLEANS,
    "reset_reason": tuple(reason.value for reason in ResetReason),
    "pending_action_result": ("EXECUTED", "REJECTED", "FAILED", "EXPIRED"),
    "pending_action_runtime_status": tuple(status.value for status in ActionStatus),
    "pending_action_disambiguation_required": _BOOLEANS,
    "guardrail_blocked": _BOOLEANS,
    "guardrail_reason": ("SENSITIVE_ACTION_APPROVAL_REQUIRED",),
    "skip_tool_execution": _BOOLEANS,
    "skip_pending_action_execution": _BOOLEANS,
    "tool_status": ("SUCCESS", "ERROR", "SKIPPED_SCOPE_MISMATCH", "SKIPPED_BY_GUARDRAIL"),
    "mcp_action": ("CALL_TOOL", "ANSWER"),
    "mcp_status": (
        "SKIPPED_BY_GUARDRAIL",
        "SKIPPED_DIALOGUE_ACT",
        "SKIPPED_GREETING",
        "SKIPPED_SCHEMA_INCOMPLETE",
        "NO_TOOLS_FOR_SCOPE",
        "MAX_LOOPS",
        "ANSWER",
        "FALLBACK",
        "TOOL_RESULT",
        "TOOL_ERROR",
        "GUARDRAIL_BLOCKED_NEXT_TOOL",
        "PLANNER_ERROR",
        "NO_MODEL",
    ),
}
#: Facts that are neither context nor params and follow from nothing else here.
FREE_FACTS = frozenset(
    {"turnNo", "lifecycle", "contextSummary", "standaloneQuery", "lastLlmStage", "lastLlmOutput", "containerData"}
    | {"pendingClarificationQuestion", "previousTurn", "intentLocked", "intentLockReason"}
)
LIFECYCLES = tuple(word.value for word in Lifecycle)


def get_phase_params(phase: RulePhase) -> dict[str, Json]:
    """The input params at the start of every run of the phase."""
    flags = build_flags(phase, SOURCES[phase])
    params = {
        "post_intent_rule": flags["ruleAgentPostIntent"],
        "rule_execution_source": flags["ruleExecutionSource"],
        "rule_execution_origin": flags["ruleExecutionOrigin"],
        "rule_phase": flags["rulePhase"],
        "rule_agent_post_intent": flags["ruleAgentPostIntent"],
        "rule_agent_post_mcp": flags["ruleAgentPostMcp"],
        "rule_tool_post_execution": flags["ruleToolPostExecution"],
    }
    if phase in (RulePhase.POST_CLASSIFIER_INTENT, RulePhase.POST_AGENT_INTENT):
        params["intent_resolved_by"] = "CLASSIFIER" if phase == RulePhase.POST_CLASSIFIER_INTENT else "AGENT"
    if phase == RulePhase.POST_TOOL_EXECUTION:
        params["tool_status"] = "SUCCESS"
    return params


def list_fixed_params(phase: RulePhase) -> dict[str, Json]:
    """Those that are the same in every run; a tool may have failed."""
    return {key: value for key, value in get_phase_params(phase).items() if key != "tool_status"}


def is_possible_param(key: str, value: Json, phase: RulePhase, written: Mapping[str, Sequence[Json]]) -> bool:
    """Whether an input param can have a value when the phase runs.

    A param that only the engine sets has its documented values, once its step has run. `written` are the values that
    rules set.
    """
    known = PARAMS.get(key)
    if known is None or "C" in known.owner:
        return True
    fixed = list_fixed_params(phase)
    if key in fixed:
        return bool(value == fixed[key]) and type(value) is type(fixed[key])
    if "R" in known.owner and any(
        value == candidate and type(value) is type(candidate) for candidate in written.get(key, ())
    ):
        return True
    values = PARAM_VALUES.get(key)
    fits = values is None or any(value == candidate and type(value) is type(candidate) for candidate in values)
    return fits and "E" in known.owner and _has_run(key, phase)


@cache
def _has_run(key: str, phase: RulePhase) -> bool:
    """Whether one of the steps that set the param runs before the phase, or none of them is a step."""
    writers = {_WITHIN.get(name, name) for name in _WRITER.findall(PARAMS[key].writers)}
    named = [_STEPS.index(name) for name in writers if name in _STEPS]
    return not named or min(named) <= _STEPS.index(_STEP_OF[phase])


@cache
def knows_form(phase: RulePhase) -> bool:
    """Whether data are collected before or in the phase."""
    return _STEPS.index(_STEP_OF[phase]) >= _STEPS.index("SchemaExtractionStep")


@cache
def is_after(phase: RulePhase, other: RulePhase) -> bool:
    """Whether a phase runs in a later step of the turn than another."""
    return _STEPS.index(_STEP_OF[phase]) > _STEPS.index(_STEP_OF[other]) if phase in _STEP_OF else False


@cache
def knows_containers(phase: RulePhase) -> bool:
    """Whether container data are fetched before the phase."""
    return _STEPS.index(_STEP_OF[phase]) > _STEPS.index("AddContainerDataStep")


@cache
def steps_before(phase: RulePhase) -> tuple[StepTiming, ...]:
    """The steps before the phase."""
    return tuple(StepTiming(name, 0.0, 0.0, True) for name in _STEPS[: _STEPS.index(_STEP_OF[phase])])


def is_possible_fact(name: str, value: Json, phase: RulePhase) -> bool:
    """Whether a free fact can have a value; for a nested one the value is an object."""
    match name:
        case "turnNo":
            return isinstance(value, int) and not isinstance(value, bool) and value >= 1
        case "lifecycle":
            return value in LIFECYCLES
        case "contextSummary":
            return isinstance(value, str)
        case "standaloneQuery" | "lastLlmStage" | "pendingClarificationQuestion":
            return value is None or (isinstance(value, str) and value.strip() != "")
        case "lastLlmOutput" | "previousTurn":
            return isinstance(value, dict)
        case "containerData":
            return value is None or (isinstance(value, dict) and knows_containers(phase))
        case "intentLocked":
            return isinstance(value, bool) and not knows_form(phase)
        case _:
            return False
