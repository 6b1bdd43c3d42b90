"""Lifetime and owner of every known input param (settings 5, pipeline-1 1.10, pipeline-2 0.5).

An unknown key belongs to the caller or a rule: it persists, and anybody may write it.
"""

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

#: The allowed form of a key.
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
        ("reset _reset restart conversation_reset", "C", "caller", "ResetConversationStep"),
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
        ("not_understood not_understood_count", "E", "ResponseResolutionStep", "responses"),
        ("form_refused", "E", "SchemaExtractionStep: the intent whose form was refused", "rule runner, rules"),
        ("form_leave", "E", "IntentResolutionStep, SchemaExtractionStep", "responses, rules"),
        ("small_talk", "E", "ResponseResolutionStep", "responses"),
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

#: Keys that would nest the whole session inside itself; left out when input params are shown or stored.
NESTING = frozenset(
    {"session", "context", "schema_json", "schema_field_details", "missing_field_options", "mcp_observations"}
)
#: Keys that the context or the previous turn's record also has; a turn's events and its record do not repeat them.
REPEATED = frozenset({"memory_recall", "memory_session_summary", "previousTurn"})
#: A caller approves a sensitive action with one of them.
APPROVAL_KEYS = frozenset({"approval_granted", "approvalGranted"})
RESET_KEYS = ("reset", "_reset", "restart", "conversation_reset")


def is_engine_owned(key: str) -> bool:
    """True for a key that callers may not set; such a param is dropped and reported (pipeline-1 1.10)."""
    known = PARAMS.get(key)
    return known is not None and "C" not in known.owner


_ONE_TURN = frozenset(key for key, known in PARAMS.items() if known.lives == "turn")
_IN_NO_RECORD = NESTING | REPEATED


def is_turn_param(key: str) -> bool:
    """True for a key that is never written to `input_params_json`, and ignored if found there."""
    return key in _ONE_TURN


def keep_persistent(params: Mapping[str, Any]) -> dict[str, Any]:
    """The params for `input_params_json`."""
    return {key: value for key, value in params.items() if key not in _ONE_TURN}


def select_turn_facts(params: Mapping[str, Any]) -> dict[str, Any]:
    """The turn-lifetime params for the turn record, which the next turn reads as `previousTurn`; without nulls."""
    return {
        key: value
        for key, value in params.items()
        if value is not None and key in _ONE_TURN and key not in _IN_NO_RECORD
    }


def hide_internal(params: Mapping[str, Any]) -> dict[str, Any]:
    """The params for rules, prompts and audit."""
    return drop_keys(params, NESTING)


def drop_keys(params: Mapping[str, Any], keys: Iterable[str]) -> dict[str, Any]:
    remaining = dict(params)
    for key in keys:
        remaining.pop(key, None)
    return remaining


def remove_reserved(params: Mapping[str, Any], *, may_approve: bool) -> tuple[dict[str, Any], list[str]]:
    """A caller's params without the engine's keys and, unless the caller `may_approve`, without approvals; and the
    removed names.
    """
    refused = frozenset() if may_approve else APPROVAL_KEYS
    allowed = {key: value for key, value in params.items() if not is_engine_owned(key) and key not in refused}
    return allowed, sorted(params.keys() - allowed.keys())
