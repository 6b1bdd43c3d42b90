"""Model calls to rows of the call log, inside the turn's own commit (R60, pipeline-2 15.2; tables 6.4)."""

import uuid
from collections.abc import Sequence
from datetime import timedelta
from typing import Any

import structlog
from django.db import DataError, transaction

from audit.chain.pieces import of_calls
from audit.keeping import Keeping
from audit.models import CeLlmCallLog
from convengine.codec import dumps, loads
from convengine.domain.ports import LlmAnswer, ModelCall
from convengine.domain.scope import UNKNOWN
from convengine.domain.text import blank
from convengine.domain.turn import Turn
from convengine.sessions.sql import dialect
from convengine.sessions.writes import Write, execute

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


def waiting(turn: Turn) -> bool:
    """True when the turn has asked a model and not every call is stored."""
    return len(turn.model_calls) > turn.model_calls_stored


def stored(turn: Turn) -> tuple[Write, list[bytes]]:
    """One statement for all calls that are not stored yet, and their pieces of the seal."""
    return _write(turn, turn.model_calls[turn.model_calls_stored :])


def store_with_care(turn: Turn) -> list[bytes]:
    """Store the same one by one. A row that the database refuses is told in the log and never fails the turn."""
    pieces = []
    for call in turn.model_calls[turn.model_calls_stored :]:
        write, piece = _write(turn, [call])
        try:
            with transaction.atomic():
                execute(write)
            pieces += piece
        except DataError as refused:
            log.error("model call not logged", turn_id=turn.turn_id, purpose=call.request.purpose, error=str(refused))
    return pieces


def spent(conversation_id: str) -> float:
    """What the logged calls of a conversation have cost, as far back as the log is kept."""
    calls = CeLlmCallLog.objects.filter(conversation_id=conversation_id)
    return float(sum(cost for cost in calls.values_list("cost", flat=True) if cost))


def asked_for(turn_id: str, conversation_id: str, purposes: Sequence[str]) -> bool:
    """True when the log has a call of the turn for one of these purposes."""
    calls = CeLlmCallLog.objects.filter(conversation_id=conversation_id, turn_id=turn_id, purpose__in=purposes)
    return calls.exists()


def _write(turn: Turn, calls: Sequence[ModelCall]) -> tuple[Write, list[bytes]]:
    here, keeps = dialect(), Keeping.of(turn.snapshot)
    ids = {
        "conversation_id": uuid.UUID(turn.request.conversation_id),
        "turn_id": uuid.UUID(turn.turn_id),
        "turn_no": turn.turn_no,
        "config_version": turn.snapshot.config_version,
    }
    started = turn.ports.clock.now()
    times = [started + timedelta(milliseconds=int(call.at_ms)) for call in calls]
    rows = [_row(call, keeps) for call in calls]
    text = dumps([{"created_at": here.time(at), **row} for at, row in zip(times, rows, strict=True)])
    told = zip(times, loads(text), strict=True)
    params = [here.uuid(value) if isinstance(value, uuid.UUID) else value for value in ids.values()]
    write = Write(_INTO + (_FROM_RECORDS if here.vendor == "postgresql" else _FROM_JSON), [*params, text])
    return write, of_calls({**row, **ids, "created_at": at} for at, row in told)


def _row(call: ModelCall, keeps: Keeping) -> dict[str, Any]:
    request, answer = call.request, call.answer
    prompt = "\n\n".join(text for text in (request.system, request.user) if not blank(text))
    return {
        "intent_code": call.intent or UNKNOWN,
        "state_code": call.state or UNKNOWN,
        "provider": answer.provider or UNKNOWN,
        "model": answer.model or request.model or UNKNOWN,
        "temperature": request.temperature,
        "prompt_text": keeps.text(prompt) or "[missing prompt]",
        "user_context": "{}" if request.context_json in ("", "{}") else keeps.text(request.context_json),
        "response_text": keeps.text(answer.text) if answer.text else None,
        "success": answer.error_code is None,
        "error_message": _error(answer, keeps),
        "purpose": request.purpose,
        "attempt": call.attempt,
        "latency_ms": answer.latency_ms,
        "input_tokens": answer.input_tokens,
        "output_tokens": answer.output_tokens,
        "cost": answer.cost,
        "template_id": call.template_id,
    }


def _error(answer: LlmAnswer, keeps: Keeping) -> str | None:
    if answer.error_code is None:
        return None
    # What is wrong with an answer quotes it.
    quotes = bool(answer.text) and not keeps.texts
    return answer.error_code if quotes else keeps.masked(f"{answer.error_code}: {answer.error_message}")
