"""The metrics of calls to models and tools, and their spans in the trace of a turn."""

import time

import structlog

from convengine.engine.turn.enums import ToolGroup
from convengine.engine.turn.ports import LlmAnswer, ToolAnswer
from convengine.server.observability import metrics
from convengine.server.observability.tracing import Attributes, OutsideCall, note_call, tracing

log = structlog.get_logger(__name__)
OK = "ok"
#: When a failure was logged last, by connection and code.
_warned: dict[tuple[str, str | None], float] = {}
_QUIET_SECONDS = 60.0
#: The service failed too often, and is not called for some time; too many calls wait already.
CIRCUIT_OPEN, OVERLOADED = "LLM_CIRCUIT_OPEN", "LLM_OVERLOADED"
#: Outcomes of tools that operators tell apart; all other faults are `failed`.
_TOOL_OUTCOMES = {"TOOL_TIMEOUT": "timeout", "CIRCUIT_OPEN": "circuit_open"}


def record_model_attempt(answer: LlmAnswer) -> None:
    connection = answer.provider
    kind, now = (connection, answer.error_code), time.monotonic()
    # An open circuit has its own lines; others come once in a while for each connection and code.
    is_quiet = answer.error_code in (None, CIRCUIT_OPEN) or now - _warned.get(kind, -_QUIET_SECONDS) < _QUIET_SECONDS
    if not is_quiet:
        _warned[kind] = now
        reason = answer.error_message
        log.warning("model call failed", connection=connection, model=answer.model, error=kind[1], reason=reason)
    metrics.MODEL_CALLS.add(connection, answer.error_code or OK)
    if answer.error_code not in (CIRCUIT_OPEN, OVERLOADED):
        metrics.MODEL_CALL_SECONDS.observe(answer.latency_ms / 1000, connection)
    for direction, tokens in (("in", answer.input_tokens), ("out", answer.output_tokens)):
        if tokens:
            metrics.MODEL_TOKENS.add(connection, direction, amount=tokens)
    if answer.cost:
        metrics.MODEL_COST.add(connection, amount=answer.cost)
    if tracing.is_on:
        attributes: Attributes = {
            "gen_ai.provider.name": connection,
            "gen_ai.request.model": answer.model,
            "gen_ai.usage.input_tokens": answer.input_tokens or 0,
            "gen_ai.usage.output_tokens": answer.output_tokens or 0,
        }
        note_call(OutsideCall("model call", answer.latency_ms / 1000, attributes, answer.error_code))


def record_tool_call(tool: str, group: str, answer: ToolAnswer, seconds: float) -> None:
    """Record one call of a tool. A group that is none of ours may be any text of a row, so it is no label."""
    error = answer.error_type
    label = group if ToolGroup.read(group) else "OTHER"
    metrics.TOOL_CALL_SECONDS.observe(seconds, label, _TOOL_OUTCOMES.get(error, "failed") if error else OK)
    if tracing.is_on:
        name = "MCP call" if label == ToolGroup.MCP_SERVER else "tool call"
        note_call(OutsideCall(name, seconds, {"convengine.tool": tool, "convengine.tool_group": label}, error))


def trace_call(kind: str, name: str, seconds: float, error: str | None) -> None:
    """Record the span of a call of registered code, which is a `task` or a `container`."""
    if tracing.is_on:
        note_call(OutsideCall(kind, seconds, {f"convengine.{kind}": name}, error))
