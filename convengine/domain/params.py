"""The one table of input-param lifetimes and owners (settings 5, pipeline-1 1.10, pipeline-2 0.5).

A key that is not listed is a fact of the caller or of a rule: it persists, and anybody may write it.
"""

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

#: What a key may look like.
KEY_SHAPE = re.compile(r"^[A-Za-z0-9_.-]{1,120}$")


@dataclass(frozen=True)
class Param:
    """A known key. `owner`: E engine, C caller, R rules; `lives`: "turn" or "conv"."""

    key: str
    owner: str
    lives: str
    writers: str
    readers: str


def _params(lives: str, *entries: tuple[str, str, str, str]) -> dict[str, Param]:
    return {
        key: Param(key, owner, lives, writers, readers)
        for keys, owner, writers, readers in entries
        for key in keys.split()
    }


PARAMS: Mapping[str, Param] = {
    **_params(
        "turn",
        # turn understanding
        ("dialogue_act dialogue_act_confidence", "ER", "DialogueActStep, SET_DIALOGUE_ACT", "interaction steps, rules"),
        ("dialogue_act_source", "ER", "DialogueActStep, SET_DIALOGUE_ACT", "rules"),
        (
            "dialogue_act_regex dialogue_act_regex_confidence dialogue_act_llm_candidate dialogue_act_llm_confidence "
            "dialogue_act_llm_standalone_query dialogue_act_guard_applied dialogue_act_guard_reason",
            "E",
            "DialogueActStep",
            "rules",
        ),
        ("standalone_query", "ER", "DialogueActStep, SET_DIALOGUE_ACT", "prompts, AddContainerDataStep"),
        ("resolved_user_input", "E", "whenever text or standalone query change", "prompts"),
        ("sanitized_user_text", "E", "GuardrailStep", "GuardrailStep, rules"),
        ("action_type", "E", "a turn handled elsewhere", "rules, audit"),
        ("message_intent", "E", "session layer", "rules, audit"),
        ("interrupted_user_message", "E", "session layer", "prompts, rules"),
        # routing
        ("policy_decision", "ER", "InteractionPolicyStep, DisambiguationStep, GuardrailStep", "action steps, audit"),
        ("skip_intent_resolution", "ER", "InteractionPolicyStep, CorrectionStep", "IntentResolutionStep"),
        ("routing_decision", "ER", "CorrectionStep", "McpToolStep, rules"),
        ("skip_schema_extraction", "ER", "CorrectionStep, rules", "SchemaExtractionStep"),
        ("correction_applied correction_target_field correction_fields", "E", "CorrectionStep", "rules, prompts"),
        ("reset restart conversation_reset", "C", "caller", "ResetConversationStep"),
        (
            "force_intent_resolution resolve_intent switch_intent switch_flow switch_mode",
            "CR",
            "caller, rules",
            "IntentResolutionStep",
        ),
        ("intent_resolved_by", "E", "IntentResolutionStep: CLASSIFIER or AGENT, absent when kept", "rules"),
        ("agentResolver", "E", "AgentIntentResolver", "rules"),
        ("intent_scores intent_top3 followups", "E", "AgentIntentResolver", "prompts, rules"),
        ("intent_collision_candidates", "E", "AgentIntentResolver, classifier", "prompts"),
        (
            "post_intent_rule rule_execution_source rule_execution_origin rule_phase rule_agent_post_intent "
            "rule_agent_post_mcp rule_tool_post_execution",
            "E",
            "rule runner",
            "rules, audit",
        ),
        ("rule_task_error", "E", "rule runner", "rules"),
        ("state_graph_valid state_graph_soft_block state_graph_reason", "E", "StateGraphStep", "responses, callers"),
        ("session_complete_proposed", "R", "rules", "session layer"),
        ("response_hint", "ER", "SET_RESPONSE_HINT", "ResponseResolutionStep"),
        ("reset_reason", "E", "reset steps", "responses"),
        # schema and prompt material
        (
            "schema_id missing_fields missing_field_options",
            "E",
            "CorrectionStep, SchemaExtractionStep",
            "prompts, rules",
        ),
        (
            "schema_description schema_field_details schema_invalid_fields",
            "E",
            "CorrectionStep, SchemaExtractionStep",
            "prompts, rules",
        ),
        ("schema_extracted_fields", "E", "SchemaExtractionStep", "responses, rules"),
        ("schema_json context session", "ER", "before prompts; GET_SCHEMA_JSON, GET_CONTEXT, GET_SESSION", "prompts"),
        # pending actions and approval
        ("pending_action pendingAction pending_action_task", "CR", "caller, rules", "InteractionPolicyStep"),
        ("pending_action_result", "E", "ActionLifecycleStep, PendingActionStep", "rules, templates"),
        ("pending_action_runtime_status", "E", "the steps that keep the record of the action", "rules"),
        ("pending_action_disambiguation_required", "E", "DisambiguationStep", "rules, callers"),
        ("approval_granted approvalGranted", "C", "caller", "GuardrailStep"),
        ("guardrail_blocked", "ER", "GuardrailStep", "PendingActionStep, McpToolStep, rules"),
        ("guardrail_reason", "E", "GuardrailStep", "rules, templates"),
        ("skip_tool_execution skip_pending_action_execution", "ER", "GuardrailStep, rules", "tool and action steps"),
        # tools
        ("tool_request", "CR", "caller, rules", "ToolOrchestrationStep"),
        ("tool_result tool_status", "E", "ToolOrchestrationStep", "rules, prompts"),
        (
            "mcp_action mcp_tool_code mcp_tool_group mcp_tool_args mcp_operation_tag mcp_observations "
            "mcp_final_answer mcp_status mcp_tool_execution_error",
            "E",
            "McpToolStep",
            "rules, templates",
        ),
        # memory and the rest
        ("memory_recall", "E", "turn start", "prompts"),
        ("memory_session_summary", "E", "MemoryStep", "prompts"),
        ("extracted_units", "E", "MemoryStep", "the commit"),
        ("rule_id tool_code", "C", "caller", "verbose matching"),
        ("previousTurn", "E", "turn start", "rules, templates"),
    ),
    **_params("conv", ("pending_action_key", "CR", "caller, rules", "interaction and action steps")),
}

#: Keys that would nest the whole session inside itself; left out wherever input params are shown or persisted.
NESTING = frozenset(
    {"session", "context", "schema_json", "schema_field_details", "missing_field_options", "mcp_observations"}
)
#: What the context, or the record of the turn before, holds as well; a turn's events and its record do not repeat it.
REPEATED = frozenset({"memory_recall", "memory_session_summary", "previousTurn"})
RESET_KEYS = ("reset", "restart", "conversation_reset")


def engine_owned(key: str) -> bool:
    """True for a key that callers may not set; what they send under it is dropped and reported (pipeline-1 1.10)."""
    known = PARAMS.get(key)
    return known is not None and "C" not in known.owner


_ONE_TURN = frozenset(key for key, known in PARAMS.items() if known.lives == "turn")
_IN_NO_RECORD = NESTING | REPEATED


def lives_one_turn(key: str) -> bool:
    """True for a key that is never written to `input_params_json` and ignored when found there."""
    return key in _ONE_TURN


def persistent(params: Mapping[str, Any]) -> dict[str, Any]:
    """What `input_params_json` keeps of the params of a turn."""
    return {key: value for key, value in params.items() if key not in _ONE_TURN}


def facts_of_turn(params: Mapping[str, Any]) -> dict[str, Any]:
    """The turn-lifetime params that the turn record keeps, and the next turn reads as `previousTurn`; no nulls."""
    return {
        key: value
        for key, value in params.items()
        if value is not None and key in _ONE_TURN and key not in _IN_NO_RECORD
    }


def shown(params: Mapping[str, Any]) -> dict[str, Any]:
    """The params as rules, prompts and audit see them."""
    return without(params, NESTING)


def without(params: Mapping[str, Any], keys: Iterable[str]) -> dict[str, Any]:
    """A copy without some keys."""
    left = dict(params)
    for key in keys:
        left.pop(key, None)
    return left


def split_reserved(params: Mapping[str, Any]) -> tuple[dict[str, Any], list[str]]:
    """A caller's params without the engine's keys, and the names that were left out."""
    kept = {key: value for key, value in params.items() if not engine_owned(key)}
    return kept, sorted(params.keys() - kept.keys())
