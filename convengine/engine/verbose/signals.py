"""The names of stages for progress texts, and the `ce_verbose` row that is used for one."""

from collections.abc import Callable, Iterator, Mapping
from typing import Any, NamedTuple

from convengine.engine.clarification.stages import (
    RESOLVE_RESPONSE_LLM_ERROR,
    RESOLVE_RESPONSE_LLM_INPUT,
    RESOLVE_RESPONSE_LLM_OUTPUT,
)
from convengine.engine.pipeline.stages import STEP_ENTER, STEP_ERROR, STEP_EXIT
from convengine.engine.rules import vocabulary
from convengine.engine.rules.conditions.evaluate import compile_path
from convengine.engine.rules.conditions.nodes import PathError
from convengine.engine.rules.patterns import PatternError, compile_pattern
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
from convengine.engine.text.compare import blank, code
from convengine.engine.turn import rows
from convengine.engine.turn.enums import OutputFormat, ResponseType, StepMatch
from convengine.engine.turn.scope import ANY, list_buckets
from convengine.engine.turn.snapshot import Snapshot
from convengine.engine.turn.stage import Stage
from convengine.engine.turn.trail import AuditEvent
from convengine.json_value import Json

_STEP_POINTS: Mapping[str, int] = {StepMatch.REGEX: 150, StepMatch.JSON_PATH: 100}
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
_PLAIN: Mapping[str, tuple[str, str]] = {
    **{str(stage): (step, str(stage)) for step, stages in _SAME.items() for stage in stages},
    **{str(stage): names for stage, names in _RENAMED.items()},
}


class Signal(NamedTuple):
    """An event, by the names that rows match on."""

    step: str
    determinant: str
    error: bool = False
    rule_id: Any = None
    tool_code: str | None = None
    #: False for an event that another one also reports: without a row it publishes nothing, not even an error.
    generic: bool = True


def list_candidates(snapshot: Snapshot, signal: Signal, intent: str | None, state: str | None) -> list[rows.Verbose]:
    """The rows of the scope and the determinant. Blank codes have none."""
    if any(blank(name) for name in (intent, state, signal.step, signal.determinant)):
        return []
    by_event = snapshot.index(rows.Verbose, _event_key, _order_key)
    return [
        row
        for determinant in dict.fromkeys((code(signal.determinant), ANY))
        for bucket in dict.fromkeys(list_buckets(intent, state))
        if snapshot.is_active(bucket[0])
        for row in by_event.get((determinant, *bucket), ())
    ]


def choose_best(
    candidates: list[rows.Verbose], signal: Signal, metadata: Callable[[], Mapping[str, Json]]
) -> rows.Verbose | None:
    """The matching row with the most points; ties by priority, then id. Priority never outweighs a point."""
    matching = [row for row in candidates if _matches(row, signal, metadata)]
    return min(matching, key=lambda row: (-score_row(row), row.priority, row.verbose_id), default=None)


def score_row(row: rows.Verbose) -> int:
    match = code(row.step_match)
    step = _STEP_POINTS.get(match, 0 if code(row.step_value) == ANY else 225)
    return (
        400 * (code(row.intent_code) != ANY)
        + 300 * (code(row.state_code) != ANY)
        + 250 * (code(row.determinant) not in ("", ANY))
        + step
        + 200 * (row.rule_id is not None)
        + 150 * (not blank(row.tool_code))
    )


def _matches(row: rows.Verbose, signal: Signal, metadata: Callable[[], Mapping[str, Json]]) -> bool:
    if row.rule_id is not None and str(row.rule_id) != str(signal.rule_id):
        return False
    if not blank(row.tool_code) and code(row.tool_code) != code(signal.tool_code):
        return False
    match = code(row.step_match)
    try:
        if match == StepMatch.REGEX:
            return compile_pattern(row.step_value).occurs_in(signal.step)
        if match == StepMatch.JSON_PATH:
            return any(_says_yes(value) for value in compile_path(row.step_value).find(metadata()))
    except (PatternError, PathError):
        return False
    return code(row.step_value) in (code(signal.step), ANY)


def _says_yes(value: Json) -> bool:
    if value is None or isinstance(value, bool):
        return value is True
    return str(value).strip().lower() not in ("", "false")


def _event_key(row: rows.Verbose) -> tuple[str, str, str]:
    return code(row.determinant) or ANY, code(row.intent_code), code(row.state_code)


def _order_key(row: rows.Verbose) -> tuple[int, int]:
    return row.priority, row.verbose_id


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
