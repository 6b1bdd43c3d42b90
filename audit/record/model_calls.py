"""Write model calls to the call log, in the turn's own commit (R60, pipeline-2 15.2; tables 6.4)."""

import uuid
from collections.abc import Sequence
from datetime import timedelta
from typing import Any

import structlog
from django.db import DataError, transaction

from audit.models import CeLlmCallLog
from audit.record.prompt_retention import PromptRetention
from audit.record.seal.pieces import encode_calls
from convengine.engine.text.compare import blank
from convengine.engine.turn.codec import dumps, loads
from convengine.engine.turn.ports import LlmAnswer, ModelCall
from convengine.engine.turn.scope import UNKNOWN
from convengine.engine.turn.turn import Turn
from convengine.server.database.sql import Statement, dialect, execute

log = structlog.get_logger(__name__)

#: Column: its type on PostgreSQL.
_COLUMNS = {
    "created_at": "timestamptz",
    "intent_code": "text",
    "state_code": "text",
    "provider": "text",
    "model": "text",
    "temperature": "numeric",
    "prompt_text": "text",
    "user_context": "text",
    "response_text": "text",
    "success": "boolean",
    "error_message": "text",
    "purpose": "text",
    "attempt": "int",
    "latency_ms": "int",
    "input_tokens": "int",
    "output_tokens": "int",
    "cost": "numeric",
    "template_id": "bigint",
}
_INTO = f"""INSERT INTO ce_llm_call_log (conversation_id, turn_id, turn_no, config_version, {", ".join(_COLUMNS)})
SELECT %s, %s, %s, %s, """
_FROM_RECORDS = f"""{", ".join(_COLUMNS)}
FROM jsonb_to_recordset(%s::jsonb) AS model_call({", ".join(f"{name} {kind}" for name, kind in _COLUMNS.items())})"""
_FROM_JSON = ", ".join(f"json_extract(value, '$.{name}')" for name in _COLUMNS) + " FROM json_each(%s)"


def has_waiting_calls(turn: Turn) -> bool:
    """True when the turn has model calls that are not stored."""
    return len(turn.model_calls) > turn.model_calls_stored


def insert_calls_stmt(turn: Turn) -> tuple[Statement, list[bytes]]:
    """One statement for all unstored calls, and their pieces of the seal."""
    return _insert_stmt(turn, turn.model_calls[turn.model_calls_stored :])


def store_with_care(turn: Turn) -> list[bytes]:
    """Store them one by one. A row that the database refuses is logged and never fails the turn."""
    pieces = []
    for call in turn.model_calls[turn.model_calls_stored :]:
        write, piece = _insert_stmt(turn, [call])
        try:
            with transaction.atomic():
                execute(write)
            pieces += piece
        except DataError as refused:
            log.error("model call not logged", turn_id=turn.turn_id, purpose=call.request.purpose, error=str(refused))
    return pieces


def sum_cost(conversation_id: str) -> float:
    """The cost of a conversation's logged calls."""
    calls = CeLlmCallLog.objects.filter(conversation_id=conversation_id)
    return float(sum(cost for cost in calls.values_list("cost", flat=True) if cost))


def has_model_call(turn_id: str, conversation_id: str, purposes: Sequence[str]) -> bool:
    """True when the log has a call of the turn for one of these purposes."""
    calls = CeLlmCallLog.objects.filter(conversation_id=conversation_id, turn_id=turn_id, purpose__in=purposes)
    return calls.exists()


def _insert_stmt(turn: Turn, calls: Sequence[ModelCall]) -> tuple[Statement, list[bytes]]:
    sql_dialect, retention = dialect(), PromptRetention.of(turn.snapshot)
    ids = {
        "conversation_id": uuid.UUID(turn.request.conversation_id),
        "turn_id": uuid.UUID(turn.turn_id),
        "turn_no": turn.turn_no,
        "config_version": turn.snapshot.config_version,
    }
    started = turn.ports.clock.now()
    times = [started + timedelta(milliseconds=int(call.at_ms)) for call in calls]
    rows = [_call_columns(call, retention) for call in calls]
    text = dumps([{"created_at": sql_dialect.time_param(at), **row} for at, row in zip(times, rows, strict=True)])
    timed_rows = zip(times, loads(text), strict=True)
    params = [sql_dialect.uuid_param(value) if isinstance(value, uuid.UUID) else value for value in ids.values()]
    write = Statement(_INTO + (_FROM_RECORDS if sql_dialect.vendor == "postgresql" else _FROM_JSON), [*params, text])
    return write, encode_calls({**row, **ids, "created_at": at} for at, row in timed_rows)


def _call_columns(call: ModelCall, retention: PromptRetention) -> dict[str, Any]:
    request, answer = call.request, call.answer
    prompt = "\n\n".join(text for text in (request.system, request.user) if not blank(text))
    return {
        "intent_code": call.intent or UNKNOWN,
        "state_code": call.state or UNKNOWN,
        "provider": answer.provider or UNKNOWN,
        "model": answer.model or request.model or UNKNOWN,
        "temperature": request.temperature,
        "prompt_text": retention.text(prompt) or "[missing prompt]",
        "user_context": "{}" if request.context_json in ("", "{}") else retention.text(request.context_json),
        "response_text": retention.text(answer.text) if answer.text else None,
        "success": answer.error_code is None,
        "error_message": _error_text(answer, retention),
        "purpose": request.purpose,
        "attempt": call.attempt,
        "latency_ms": answer.latency_ms,
        "input_tokens": answer.input_tokens,
        "output_tokens": answer.output_tokens,
        "cost": answer.cost,
        "template_id": call.template_id,
    }


def _error_text(answer: LlmAnswer, retention: PromptRetention) -> str | None:
    if answer.error_code is None:
        return None
    # The error of an answer quotes it.
    quotes = bool(answer.text) and not retention.texts
    return answer.error_code if quotes else retention.mask(f"{answer.error_code}: {answer.error_message}")
