"""What the engine and rules keep in `inputParams` for one turn: typed fields of the session, by topic.

Templates, rules, callers and the record read these values in `inputParams`, each under the name of its field. An
unknown key belongs to the caller or to a rule.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar, NoReturn, Self, dataclass_transform

from convengine.json_value import Json


@dataclass(frozen=True)
class Param:
    """A known key. `owner`: E engine, C caller, R rules."""

    owner: str
    writers: str
    readers: str
    #: Kept until the conversation ends, not only in its turn.
    persists: bool = False


def declare_param(owner: str, writers: str, readers: str) -> Any:
    """The declaration of a field; its value is null until it is given."""
    return Param(owner, writers, readers)


@dataclass_transform(frozen_default=True, kw_only_default=True)
class OwnedParams:
    """The values of one topic that were given so far; it never changes. The value of any other field is null."""

    declared: ClassVar[Mapping[str, Param]] = {}
    #: Values may be lists.
    __hash__ = None  # type: ignore[assignment]

    def __init_subclass__(cls) -> None:
        cls.declared = {name: value for name, value in vars(cls).items() if isinstance(value, Param)}
        for name in cls.declared:
            setattr(cls, name, None)

    def __init__(self, **given: Json) -> None:
        if unknown := given.keys() - self.declared.keys():
            raise TypeError(f"{type(self).__name__} has no field {', '.join(sorted(unknown))}")
        vars(self).update(given)

    def __setattr__(self, name: str, value: object) -> NoReturn:
        raise AttributeError(f"{type(self).__name__} never changes: make a new one")

    def __eq__(self, other: object) -> bool:
        return type(self) is type(other) and vars(self) == vars(other)

    def __repr__(self) -> str:
        return f"{type(self).__name__}({', '.join(f'{name}={value!r}' for name, value in vars(self).items())})"

    def having(self, changes: "OwnedParams") -> Self:
        """These values, and those that were given to `changes`."""
        return type(self)(**{**vars(self), **vars(changes)})

    def without(self, *names: str) -> Self:
        """These values, but the named ones."""
        return type(self)(**{name: value for name, value in vars(self).items() if name not in names})


_ACT, _FORM_STEPS = "DialogueActStep, SET_DIALOGUE_ACT", "CorrectionStep, SchemaExtractionStep"


class DialogueParams(OwnedParams):
    """What the message says, and how the answer takes it up."""

    dialogue_act: Json = declare_param("ER", _ACT, "interaction steps, rules")
    dialogue_act_confidence: Json = declare_param("ER", _ACT, "interaction steps, rules")
    dialogue_act_source: Json = declare_param("ER", _ACT, "rules")
    dialogue_act_regex: str | None = declare_param("E", "DialogueActStep", "rules")
    dialogue_act_regex_confidence: float | None = declare_param("E", "DialogueActStep", "rules")
    dialogue_act_llm_candidate: str | None = declare_param("E", "DialogueActStep", "rules")
    dialogue_act_llm_confidence: float | None = declare_param("E", "DialogueActStep", "rules")
    dialogue_act_llm_standalone_query: str | None = declare_param("E", "DialogueActStep", "rules")
    dialogue_act_llm_intents: list[Json] | None = declare_param("E", "DialogueActStep", "IntentResolutionStep, rules")
    dialogue_act_guard_applied: bool | None = declare_param("E", "DialogueActStep", "rules")
    dialogue_act_guard_reason: str | None = declare_param("E", "DialogueActStep", "rules")
    standalone_query: Json = declare_param("ER", _ACT, "prompts, AddContainerDataStep")
    resolved_user_input: str | None = declare_param("E", "whenever text or standalone query change", "prompts")
    action_type: Json = declare_param("E", "a turn handled elsewhere", "rules, audit")
    message_intent: str | None = declare_param("E", "session layer", "rules, audit")
    interrupted_user_message: str | None = declare_param("E", "session layer", "prompts, rules")
    response_hint: Json = declare_param("ER", "SET_RESPONSE_HINT", "ResponseResolutionStep")
    not_understood: bool | None = declare_param("E", "ResponseResolutionStep", "responses")
    not_understood_count: int | None = declare_param("E", "ResponseResolutionStep", "responses")
    small_talk: str | None = declare_param("E", "ResponseResolutionStep", "responses")


class RoutingParams(OwnedParams):
    """Where the turn goes: decisions of the policy, of corrections and of the resolvers of the intent."""

    policy_decision: Json = declare_param(
        "ER", "InteractionPolicyStep, DisambiguationStep, GuardrailStep", "action steps, audit"
    )
    skip_intent_resolution: Json = declare_param("ER", "InteractionPolicyStep, CorrectionStep", "IntentResolutionStep")
    routing_decision: Json = declare_param("ER", "CorrectionStep", "McpToolStep, rules")
    skip_schema_extraction: Json = declare_param("ER", "CorrectionStep, rules", "SchemaExtractionStep")
    correction_applied: bool | None = declare_param("E", "CorrectionStep", "rules, prompts")
    correction_target_field: str | None = declare_param("E", "CorrectionStep", "rules, prompts")
    correction_fields: list[str] | None = declare_param("E", "CorrectionStep", "rules, prompts")
    intent_resolved_by: str | None = declare_param(
        "E", "IntentResolutionStep: CLASSIFIER or AGENT, absent when kept", "rules"
    )
    agentResolver: bool | None = declare_param("E", "AgentIntentResolver", "rules")
    intent_scores: list[Json] | None = declare_param("E", "AgentIntentResolver", "prompts, rules")
    intent_top3: list[Json] | None = declare_param("E", "AgentIntentResolver", "prompts, rules")
    followups: list[Json] | None = declare_param("E", "AgentIntentResolver", "prompts, rules")
    intent_collision_candidates: list[Json] | None = declare_param("E", "AgentIntentResolver, classifier", "prompts")
    state_graph_valid: bool | None = declare_param("E", "StateGraphStep", "responses, callers")
    state_graph_soft_block: bool | None = declare_param("E", "StateGraphStep", "responses, callers")
    state_graph_reason: str | None = declare_param("E", "StateGraphStep", "responses, callers")
    reset_reason: str | None = declare_param("E", "reset steps", "responses")


class RuleParams(OwnedParams):
    """The last phase of rules, and what rules leave for later steps."""

    post_intent_rule: bool | None = declare_param("E", "rule runner", "rules, audit")
    rule_execution_source: str | None = declare_param("E", "rule runner", "rules, audit")
    rule_execution_origin: str | None = declare_param("E", "rule runner", "rules, audit")
    rule_phase: str | None = declare_param("E", "rule runner", "rules, audit")
    rule_agent_post_intent: bool | None = declare_param("E", "rule runner", "rules, audit")
    rule_agent_post_mcp: bool | None = declare_param("E", "rule runner", "rules, audit")
    rule_tool_post_execution: bool | None = declare_param("E", "rule runner", "rules, audit")
    rule_task_error: Json = declare_param("E", "rule runner", "rules")
    session_complete_proposed: Json = declare_param("R", "rules", "session layer")


class FormParams(OwnedParams):
    """The form that is being filled in."""

    schema_id: int | None = declare_param("E", _FORM_STEPS, "prompts, rules")
    missing_fields: list[str] | None = declare_param("E", _FORM_STEPS, "prompts, rules")
    missing_field_options: Mapping[str, Json] | None = declare_param("E", _FORM_STEPS, "prompts, rules")
    schema_description: str | None = declare_param("E", _FORM_STEPS, "prompts, rules")
    schema_field_details: Json = declare_param("E", _FORM_STEPS, "prompts, rules")
    schema_invalid_fields: Mapping[str, str] | None = declare_param("E", _FORM_STEPS, "prompts, rules")
    schema_json: Json = declare_param("ER", "SchemaExtractionStep, GET_SCHEMA_JSON", "prompts")
    context: Json = declare_param("ER", "SchemaExtractionStep, GET_CONTEXT", "prompts")
    session: Json = declare_param("ER", "SchemaExtractionStep, GET_SESSION", "prompts")
    schema_extracted_fields: list[str] | None = declare_param("E", "SchemaExtractionStep", "responses, rules")
    form_refused: str | None = declare_param(
        "E", "SchemaExtractionStep: the intent whose form was refused", "rule runner, rules"
    )
    form_leave: str | None = declare_param("E", "IntentResolutionStep, SchemaExtractionStep", "responses, rules")


class ActionParams(OwnedParams):
    """The action that waits, and what the guardrail says of it."""

    pending_action_result: str | None = declare_param("E", "ActionLifecycleStep, PendingActionStep", "rules, templates")
    pending_action_runtime_status: str | None = declare_param(
        "E", "the steps that keep the record of the action", "rules"
    )
    pending_action_disambiguation_required: bool | None = declare_param("E", "DisambiguationStep", "rules, callers")
    sanitized_user_text: str | None = declare_param("E", "GuardrailStep", "GuardrailStep, rules")
    guardrail_blocked: Json = declare_param("ER", "GuardrailStep", "PendingActionStep, McpToolStep, rules")
    guardrail_reason: str | None = declare_param("E", "GuardrailStep", "rules, templates")
    skip_tool_execution: Json = declare_param("ER", "GuardrailStep, rules", "tool and action steps")
    skip_pending_action_execution: Json = declare_param("ER", "GuardrailStep, rules", "tool and action steps")


class ToolParams(OwnedParams):
    """The call of a tool and the work of the planner."""

    tool_request: Json = declare_param("CR", "caller, rules", "ToolOrchestrationStep")
    tool_result: Json = declare_param("E", "ToolOrchestrationStep", "rules, prompts")
    tool_status: str | None = declare_param("E", "ToolOrchestrationStep", "rules, prompts")
    mcp_action: str | None = declare_param("E", "McpToolStep", "rules, templates")
    mcp_tool_code: str | None = declare_param("E", "McpToolStep", "rules, templates")
    mcp_tool_group: str | None = declare_param("E", "McpToolStep", "rules, templates")
    mcp_tool_args: Json = declare_param("E", "McpToolStep", "rules, templates")
    mcp_operation_tag: str | None = declare_param("E", "McpToolStep", "rules, templates")
    mcp_observations: Json = declare_param("E", "McpToolStep", "rules, templates")
    mcp_final_answer: str | None = declare_param("E", "McpToolStep", "rules, templates")
    mcp_status: str | None = declare_param("E", "McpToolStep", "rules, templates")
    mcp_tool_execution_error: Json = declare_param("E", "McpToolStep", "rules, templates")


class MemoryParams(OwnedParams):
    """What earlier turns left."""

    memory_recall: str | None = declare_param("E", "turn start", "prompts")
    memory_session_summary: str | None = declare_param("E", "MemoryStep", "prompts")
    extracted_units: list[Json] | None = declare_param("E", "MemoryStep", "the commit")
    previousTurn: Mapping[str, Json] | None = declare_param("E", "turn start", "rules, templates")


#: The topics, by the session's fields that hold them.
TOPICS: Mapping[str, type[OwnedParams]] = {
    "dialogue": DialogueParams,
    "routing": RoutingParams,
    "rules": RuleParams,
    "form": FormParams,
    "action": ActionParams,
    "tools": ToolParams,
    "memory": MemoryParams,
}
#: The session's field that holds a param.
TOPIC_OF: Mapping[str, str] = {key: name for name, topic in TOPICS.items() for key in topic.declared}
