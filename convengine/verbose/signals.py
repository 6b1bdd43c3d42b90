"""What each stage of the trail is called by verbose rows: the table of pipeline-2 14.3."""

from collections.abc import Callable, Iterator, Mapping
from typing import Any

from convengine.domain import rows
from convengine.domain.enums import OutputFormat, ResponseType
from convengine.domain.snapshot import Snapshot
from convengine.domain.stages import Stage
from convengine.domain.trail import AuditEvent
from convengine.rules import vocabulary
from convengine.rules.cuts import PATTERN, STOPPED
from convengine.rules.verdict import ROW_INVALID
from convengine.verbose.select import Signal

Json = Any
#: Stages that rows know by their own name, by the step that rows know them under.
_SAME: Mapping[str, tuple[Stage, ...]] = {
    "DialogueActStep": (
        Stage.DIALOGUE_ACT_LLM_INPUT,
        Stage.DIALOGUE_ACT_LLM_OUTPUT,
        Stage.DIALOGUE_ACT_LLM_ERROR,
    ),
    "AgentIntentResolver": (
        Stage.INTENT_AGENT_LLM_OUTPUT,
        Stage.INTENT_AGENT_LLM_ERROR,
    ),
    "RulesStep": (Stage.RULE_APPLIED,),
    "SchemaExtractionStep": (
        Stage.SCHEMA_EXTRACTION_START,
        Stage.SCHEMA_EXTRACTION_LLM_INPUT,
        Stage.SCHEMA_EXTRACTION_LLM_OUTPUT,
        Stage.SCHEMA_EXTRACTION_LLM_ERROR,
        Stage.SCHEMA_STATUS,
    ),
    "ToolOrchestrationStep": (Stage.TOOL_ORCHESTRATION_REQUEST, Stage.TOOL_ORCHESTRATION_ERROR),
    "McpPlanner": (Stage.MCP_PLAN_LLM_INPUT, Stage.MCP_PLAN_LLM_OUTPUT, Stage.MCP_PLAN_LLM_ERROR),
    "McpToolStep": (Stage.MCP_TOOL_CALL, Stage.MCP_TOOL_RESULT, Stage.MCP_DUPLICATE_TOOL_CALL_SUPPRESSED),
    "McpDbExecutor": (Stage.MCP_DB_SQL_EXECUTION,),
    "ResponseResolutionStep": (Stage.RESOLVE_RESPONSE_SELECTED,),
}
#: Stages that rows know by another name.
_RENAMED: Mapping[Stage, tuple[str, str]] = {
    Stage.INTENT_RESOLVED_BY_CLASSIFIER: ("IntentResolutionStep", "INTENT_RESOLVED"),
    Stage.INTENT_RESOLVED_BY_AGENT: ("IntentResolutionStep", "INTENT_RESOLVED"),
    Stage.INTENT_AGENT_ACCEPTED: ("AgentIntentResolver", "AGENT_INTENT_ACCEPTED"),
    Stage.INTENT_AGENT_REJECTED: ("AgentIntentResolver", "AGENT_INTENT_REJECTED"),
    Stage.INTENT_AGENT_COLLISION: ("AgentIntentResolver", "AGENT_INTENT_COLLISION"),
    Stage.INTENT_AGENT_NEEDS_CLARIFICATION: ("AgentIntentResolver", "AGENT_INTENT_NEEDS_CLARIFICATION"),
    Stage.CORRECTION_STEP_CONFIRM_ACCEPT: ("CorrectionStep", "CONFIRM_ACCEPT"),
    Stage.CORRECTION_STEP_CORRECTION_PATCH_APPLIED: ("CorrectionStep", "CORRECTION_PATCH_APPLIED"),
    Stage.CORRECTION_STEP_RETRY_REQUESTED: ("CorrectionStep", "RETRY_REQUESTED"),
}
_OF_STEPS = frozenset({Stage.STEP_ENTER.value, Stage.STEP_EXIT.value, Stage.STEP_ERROR.value})


def signals(event: AuditEvent, snapshot: Snapshot) -> Iterator[Signal]:
    """What an event is to verbose rows, in order; most events are nothing."""
    name = event.stage.partition(" (")[0]
    if name in _OF_STEPS:
        yield _of_step(event, name)
    elif name in _PLAIN:
        step, determinant = _PLAIN[name]
        yield _signal(event, step, determinant, error=name.endswith("_ERROR"))
    elif read := _SPECIAL.get(name):
        yield from read(event, snapshot)


def _of_step(event: AuditEvent, name: str) -> Signal:
    params = event.session.input_params
    tool = params.get("mcp_tool_code") or params.get("tool_code")
    return Signal(
        str(event.payload.get("step")),
        name,
        name == Stage.STEP_ERROR,
        params.get("rule_id"),
        tool if isinstance(tool, str) else None,
    )


def _signal(event: AuditEvent, step: str, determinant: str, *, error: bool = False, generic: bool = True) -> Signal:
    return Signal(step, determinant, error, event.payload.get("ruleId"), event.payload.get("tool_code"), generic)


def _rule_match(event: AuditEvent, snapshot: Snapshot) -> Iterator[Signal]:
    yield _signal(event, "RulesStep", "RULE_MATCH")
    known = vocabulary.action(event.payload.get("action")) is not None
    yield _resolver(event, "RuleActionResolverFactory", "RULE_ACTION_RESOLVER", known)


def _rule_no_match(event: AuditEvent, snapshot: Snapshot) -> Iterator[Signal]:
    """Told only when no rule was eligible: none was tested, and none of those in scope was cut."""
    payload = event.payload
    in_scope = payload.get("candidates") or {PATTERN, STOPPED, ROW_INVALID} & (payload.get("cut") or {}).keys()
    if "ruleId" not in payload and not in_scope:
        yield _signal(event, "RulesStep", "RULE_NO_MATCH")


def _agent_start(event: AuditEvent, snapshot: Snapshot) -> Iterator[Signal]:
    yield _signal(event, "AgentIntentResolver", "AGENT_INTENT_START")
    yield _signal(event, "AgentIntentResolver", Stage.INTENT_AGENT_LLM_INPUT.value)


def _tool_result(event: AuditEvent, snapshot: Snapshot) -> Iterator[Signal]:
    mismatch = event.payload.get("status") == "SKIPPED_SCOPE_MISMATCH"
    stage = Stage.TOOL_ORCHESTRATION_ERROR if mismatch else Stage.TOOL_ORCHESTRATION_RESULT
    yield _signal(event, "ToolOrchestrationStep", stage.value, error=mismatch)


def _mcp_error(event: AuditEvent, snapshot: Snapshot) -> Iterator[Signal]:
    """A call that failed: rows of the call may have an error text as well."""
    yield _signal(event, "McpToolStep", Stage.MCP_TOOL_CALL.value, error=True, generic=False)
    yield _signal(event, "McpToolStep", Stage.MCP_TOOL_ERROR.value, error=True)


def _mcp_answer(event: AuditEvent, snapshot: Snapshot) -> Iterator[Signal]:
    """The final answer; one with a reason is a fallback."""
    yield _signal(event, "McpToolStep", Stage.MCP_FINAL_ANSWER.value, error=event.payload.get("reason") is not None)


def _response(event: AuditEvent, snapshot: Snapshot) -> Iterator[Signal]:
    yield _signal(event, "ResponseResolutionStep", Stage.RESOLVE_RESPONSE.value)
    row = snapshot.row(rows.Response, event.payload.get("responseId"))
    if row:
        known = ResponseType.read(row.response_type) is not None
        yield _resolver(event, "ResponseTypeResolverFactory", "RESPONSE_TYPE_RESOLVER", known)
        known = OutputFormat.read(row.output_format) is not None
        yield _resolver(event, "OutputFormatResolverFactory", "OUTPUT_FORMAT_RESOLVER", known)


def _written(event: AuditEvent, snapshot: Snapshot) -> Iterator[Signal]:
    """A model writes the answer: a text, or a document where the call carries a schema or says so."""
    as_json = event.payload.get("outputFormat") == OutputFormat.JSON or event.payload.get("schema") is not None
    step = "JsonOutputFormatResolver" if as_json else "TextOutputFormatResolver"
    name = event.stage
    yield _signal(event, step, name, error=name.endswith("_ERROR"))


def _resolver(event: AuditEvent, step: str, name: str, known: bool) -> Signal:
    return _signal(event, step, f"{name}_{'SELECTED' if known else 'NOT_FOUND'}", error=not known)


_PLAIN: Mapping[str, tuple[str, str]] = {
    **{stage.value: (step, stage.value) for step, stages in _SAME.items() for stage in stages},
    **{stage.value: names for stage, names in _RENAMED.items()},
}
_SPECIAL: Mapping[str, Callable[[AuditEvent, Snapshot], Iterator[Signal]]] = {
    Stage.RULE_MATCH.value: _rule_match,
    Stage.RULE_NO_MATCH.value: _rule_no_match,
    Stage.INTENT_AGENT_LLM_INPUT.value: _agent_start,
    Stage.TOOL_ORCHESTRATION_RESULT.value: _tool_result,
    Stage.MCP_TOOL_ERROR.value: _mcp_error,
    Stage.MCP_FINAL_ANSWER.value: _mcp_answer,
    Stage.RESOLVE_RESPONSE.value: _response,
    Stage.RESOLVE_RESPONSE_LLM_INPUT.value: _written,
    Stage.RESOLVE_RESPONSE_LLM_OUTPUT.value: _written,
    Stage.RESOLVE_RESPONSE_LLM_ERROR.value: _written,
}
#: Stages of which a signal may be an error; all others never are, whatever they say.
MAY_BE_ERRORS = frozenset(
    {
        Stage.RULE_MATCH,
        Stage.TOOL_ORCHESTRATION_RESULT,
        Stage.MCP_FINAL_ANSWER,
        Stage.RESOLVE_RESPONSE,
        *(stage for stage in Stage if stage.value.endswith("_ERROR")),
    }
)
