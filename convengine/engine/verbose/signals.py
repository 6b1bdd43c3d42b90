"""The names of stages for progress texts."""

from collections.abc import Callable, Iterator, Mapping

from convengine.engine.clarification.stages import (
    RESOLVE_RESPONSE_LLM_ERROR,
    RESOLVE_RESPONSE_LLM_INPUT,
    RESOLVE_RESPONSE_LLM_OUTPUT,
)
from convengine.engine.pipeline.stages import STEP_ENTER, STEP_ERROR, STEP_EXIT
from convengine.engine.rules import vocabulary
from convengine.engine.rules.stages import RULE_APPLIED, RULE_MATCH, RULE_NO_MATCH
from convengine.engine.rules.verdict import PATTERN, ROW_INVALID, STOPPED
from convengine.engine.stages import STAGES
from convengine.engine.steps.correction.stages import (
    CORRECTION_STEP_CONFIRM_ACCEPT,
    CORRECTION_STEP_CORRECTION_PATCH_APPLIED,
    CORRECTION_STEP_RETRY_REQUESTED,
)
from convengine.engine.steps.dialogue_act.stages import (
    DIALOGUE_ACT_LLM_ERROR,
    DIALOGUE_ACT_LLM_INPUT,
    DIALOGUE_ACT_LLM_OUTPUT,
)
from convengine.engine.steps.forms.stages import (
    SCHEMA_EXTRACTION_LLM_ERROR,
    SCHEMA_EXTRACTION_LLM_INPUT,
    SCHEMA_EXTRACTION_LLM_OUTPUT,
    SCHEMA_EXTRACTION_START,
    SCHEMA_STATUS,
)
from convengine.engine.steps.intents.stages import (
    INTENT_AGENT_ACCEPTED,
    INTENT_AGENT_COLLISION,
    INTENT_AGENT_LLM_ERROR,
    INTENT_AGENT_LLM_INPUT,
    INTENT_AGENT_LLM_OUTPUT,
    INTENT_AGENT_NEEDS_CLARIFICATION,
    INTENT_AGENT_REJECTED,
    INTENT_RESOLVED_BY_AGENT,
    INTENT_RESOLVED_BY_CLASSIFIER,
)
from convengine.engine.steps.responses.stages import RESOLVE_RESPONSE, RESOLVE_RESPONSE_SELECTED
from convengine.engine.steps.tools.stages import (
    MCP_DB_SQL_EXECUTION,
    MCP_DUPLICATE_TOOL_CALL_SUPPRESSED,
    MCP_FINAL_ANSWER,
    MCP_PLAN_LLM_ERROR,
    MCP_PLAN_LLM_INPUT,
    MCP_PLAN_LLM_OUTPUT,
    MCP_TOOL_CALL,
    MCP_TOOL_ERROR,
    MCP_TOOL_RESULT,
    TOOL_ORCHESTRATION_ERROR,
    TOOL_ORCHESTRATION_REQUEST,
    TOOL_ORCHESTRATION_RESULT,
)
from convengine.engine.turn import rows
from convengine.engine.turn.enums import OutputFormat, ResponseType
from convengine.engine.turn.snapshot import Snapshot
from convengine.engine.turn.stage import Stage
from convengine.engine.turn.trail import AuditEvent
from convengine.engine.verbose.select import Signal

#: Stages that rows know by their own name, by the step that rows name.
_SAME: Mapping[str, tuple[Stage, ...]] = {
    "DialogueActStep": (
        DIALOGUE_ACT_LLM_INPUT,
        DIALOGUE_ACT_LLM_OUTPUT,
        DIALOGUE_ACT_LLM_ERROR,
    ),
    "AgentIntentResolver": (
        INTENT_AGENT_LLM_OUTPUT,
        INTENT_AGENT_LLM_ERROR,
    ),
    "RulesStep": (RULE_APPLIED,),
    "SchemaExtractionStep": (
        SCHEMA_EXTRACTION_START,
        SCHEMA_EXTRACTION_LLM_INPUT,
        SCHEMA_EXTRACTION_LLM_OUTPUT,
        SCHEMA_EXTRACTION_LLM_ERROR,
        SCHEMA_STATUS,
    ),
    "ToolOrchestrationStep": (TOOL_ORCHESTRATION_REQUEST, TOOL_ORCHESTRATION_ERROR),
    "McpPlanner": (MCP_PLAN_LLM_INPUT, MCP_PLAN_LLM_OUTPUT, MCP_PLAN_LLM_ERROR),
    "McpToolStep": (MCP_TOOL_CALL, MCP_TOOL_RESULT, MCP_DUPLICATE_TOOL_CALL_SUPPRESSED),
    "McpDbExecutor": (MCP_DB_SQL_EXECUTION,),
    "ResponseResolutionStep": (RESOLVE_RESPONSE_SELECTED,),
}
#: Stages that rows know by another name.
_RENAMED: Mapping[Stage, tuple[str, str]] = {
    INTENT_RESOLVED_BY_CLASSIFIER: ("IntentResolutionStep", "INTENT_RESOLVED"),
    INTENT_RESOLVED_BY_AGENT: ("IntentResolutionStep", "INTENT_RESOLVED"),
    INTENT_AGENT_ACCEPTED: ("AgentIntentResolver", "AGENT_INTENT_ACCEPTED"),
    INTENT_AGENT_REJECTED: ("AgentIntentResolver", "AGENT_INTENT_REJECTED"),
    INTENT_AGENT_COLLISION: ("AgentIntentResolver", "AGENT_INTENT_COLLISION"),
    INTENT_AGENT_NEEDS_CLARIFICATION: ("AgentIntentResolver", "AGENT_INTENT_NEEDS_CLARIFICATION"),
    CORRECTION_STEP_CONFIRM_ACCEPT: ("CorrectionStep", "CONFIRM_ACCEPT"),
    CORRECTION_STEP_CORRECTION_PATCH_APPLIED: ("CorrectionStep", "CORRECTION_PATCH_APPLIED"),
    CORRECTION_STEP_RETRY_REQUESTED: ("CorrectionStep", "RETRY_REQUESTED"),
}
_OF_STEPS = frozenset({STEP_ENTER, STEP_EXIT, STEP_ERROR})


def list_signals(event: AuditEvent, snapshot: Snapshot) -> Iterator[Signal]:
    """The signals of an event, in order; most events have none."""
    name = event.stage.partition(" (")[0]
    if name in _OF_STEPS:
        yield _build_step_signal(event, name)
    elif name in _PLAIN:
        step, determinant = _PLAIN[name]
        yield _build_signal(event, step, determinant, error=name.endswith("_ERROR"))
    elif read := _SPECIAL.get(name):
        yield from read(event, snapshot)


def _build_step_signal(event: AuditEvent, name: str) -> Signal:
    params = event.session.params
    tool = event.session.tools.mcp_tool_code or params.get("tool_code")
    return Signal(
        str(event.payload.get("step")),
        name,
        name == STEP_ERROR,
        params.get("rule_id"),
        tool if isinstance(tool, str) else None,
    )


def _build_signal(
    event: AuditEvent, step: str, determinant: str, *, error: bool = False, generic: bool = True
) -> Signal:
    return Signal(step, determinant, error, event.payload.get("ruleId"), event.payload.get("tool_code"), generic)


def _rule_match(event: AuditEvent, snapshot: Snapshot) -> Iterator[Signal]:
    yield _build_signal(event, "RulesStep", "RULE_MATCH")
    known = vocabulary.get_action(event.payload.get("action")) is not None
    yield _build_resolver_signal(event, "RuleActionResolverFactory", "RULE_ACTION_RESOLVER", known)


def _rule_no_match(event: AuditEvent, snapshot: Snapshot) -> Iterator[Signal]:
    """Only when no rule was eligible: none was tested, and none in scope was excluded."""
    payload = event.payload
    in_scope = payload.get("candidates") or {PATTERN, STOPPED, ROW_INVALID} & (payload.get("cut") or {}).keys()
    if "ruleId" not in payload and not in_scope:
        yield _build_signal(event, "RulesStep", "RULE_NO_MATCH")


def _agent_start(event: AuditEvent, snapshot: Snapshot) -> Iterator[Signal]:
    yield _build_signal(event, "AgentIntentResolver", "AGENT_INTENT_START")
    yield _build_signal(event, "AgentIntentResolver", INTENT_AGENT_LLM_INPUT)


def _tool_result(event: AuditEvent, snapshot: Snapshot) -> Iterator[Signal]:
    mismatch = event.payload.get("status") == "SKIPPED_SCOPE_MISMATCH"
    stage = TOOL_ORCHESTRATION_ERROR if mismatch else TOOL_ORCHESTRATION_RESULT
    yield _build_signal(event, "ToolOrchestrationStep", str(stage), error=mismatch)


def _mcp_error(event: AuditEvent, snapshot: Snapshot) -> Iterator[Signal]:
    """A failed call; rows for the call may have an error text too."""
    yield _build_signal(event, "McpToolStep", MCP_TOOL_CALL, error=True, generic=False)
    yield _build_signal(event, "McpToolStep", MCP_TOOL_ERROR, error=True)


def _mcp_answer(event: AuditEvent, snapshot: Snapshot) -> Iterator[Signal]:
    """The final answer; one with a reason is a fallback."""
    yield _build_signal(event, "McpToolStep", MCP_FINAL_ANSWER, error=event.payload.get("reason") is not None)


def _response(event: AuditEvent, snapshot: Snapshot) -> Iterator[Signal]:
    yield _build_signal(event, "ResponseResolutionStep", RESOLVE_RESPONSE)
    row = snapshot.row(rows.Response, event.payload.get("responseId"))
    if row:
        known = ResponseType.read(row.response_type) is not None
        yield _build_resolver_signal(event, "ResponseTypeResolverFactory", "RESPONSE_TYPE_RESOLVER", known)
        known = OutputFormat.read(row.output_format) is not None
        yield _build_resolver_signal(event, "OutputFormatResolverFactory", "OUTPUT_FORMAT_RESOLVER", known)


def _list_answer_signals(event: AuditEvent, snapshot: Snapshot) -> Iterator[Signal]:
    """A model writes the answer: a text, or a document if the call has a schema or says so."""
    as_json = event.payload.get("outputFormat") == OutputFormat.JSON or event.payload.get("schema") is not None
    step = "JsonOutputFormatResolver" if as_json else "TextOutputFormatResolver"
    name = event.stage
    yield _build_signal(event, step, name, error=name.endswith("_ERROR"))


def _build_resolver_signal(event: AuditEvent, step: str, name: str, known: bool) -> Signal:
    return _build_signal(event, step, f"{name}_{'SELECTED' if known else 'NOT_FOUND'}", error=not known)


_PLAIN: Mapping[str, tuple[str, str]] = {
    **{str(stage): (step, str(stage)) for step, stages in _SAME.items() for stage in stages},
    **{str(stage): names for stage, names in _RENAMED.items()},
}
_SPECIAL: Mapping[str, Callable[[AuditEvent, Snapshot], Iterator[Signal]]] = {
    RULE_MATCH: _rule_match,
    RULE_NO_MATCH: _rule_no_match,
    INTENT_AGENT_LLM_INPUT: _agent_start,
    TOOL_ORCHESTRATION_RESULT: _tool_result,
    MCP_TOOL_ERROR: _mcp_error,
    MCP_FINAL_ANSWER: _mcp_answer,
    RESOLVE_RESPONSE: _response,
    RESOLVE_RESPONSE_LLM_INPUT: _list_answer_signals,
    RESOLVE_RESPONSE_LLM_OUTPUT: _list_answer_signals,
    RESOLVE_RESPONSE_LLM_ERROR: _list_answer_signals,
}
#: Stages whose signals may be errors.
MAY_BE_ERRORS = frozenset(
    {
        RULE_MATCH,
        TOOL_ORCHESTRATION_RESULT,
        MCP_FINAL_ANSWER,
        RESOLVE_RESPONSE,
        *(stage for stage in STAGES.values() if stage.endswith("_ERROR")),
    }
)
