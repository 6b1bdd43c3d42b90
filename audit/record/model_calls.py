"""The model calls of turns, in their documents: written, read, and their costs."""

import uuid
from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime, timedelta
from decimal import Decimal
from typing import Any

from django.db.models import Q

from audit.models import CeLlmCallLog
from audit.record.events import CALL_COLUMNS, EVENT_COLUMNS, IDS_PER_ROW, read_document
from audit.record.prompts import PromptRedaction
from audit.record.sql_views import has_in_document
from convengine.engine.text.compare import blank
from convengine.engine.turn.codec import dumps
from convengine.engine.turn.ports import LlmAnswer, ModelCall
from convengine.engine.turn.scope import UNKNOWN
from convengine.json_value import Json
from convengine.server.database.unreadable import read_rows
from convengine.server.sessions.models import CeConversationHistory

_PRECISION = Decimal("0.000000001")


def add_up_costs(costs: Iterable[float | None]) -> Decimal | None:
    """The cost of some calls. Returns None when none has a price."""
    known = [Decimal(str(cost)).quantize(_PRECISION) for cost in costs if cost is not None]
    return sum(known, Decimal(0)).quantize(_PRECISION) if known else None


def call_columns(call: ModelCall, started: datetime, redaction: PromptRedaction) -> dict[str, Any]:
    """The columns of a call, which the view `ce_llm_call_log` shows."""
    request, answer = call.request, call.answer
    prompt = "\n\n".join(text for text in (request.system, request.user) if not blank(text))
    return {
        "created_at": (started + timedelta(milliseconds=int(call.at_ms))).isoformat(),
        "intent_code": call.intent or UNKNOWN,
        "state_code": call.state or UNKNOWN,
        "provider": answer.provider or UNKNOWN,
        "model": answer.model or request.model or UNKNOWN,
        "temperature": request.temperature,
        "prompt_text": redaction.text(prompt) or "[missing prompt]",
        "user_context": "{}" if request.context_json in ("", "{}") else redaction.text(request.context_json),
        "response_text": redaction.text(answer.text) if answer.text else None,
        "success": answer.error_code is None,
        "error_message": _error_text(answer, redaction),
        "purpose": request.purpose,
        "attempt": call.attempt,
        "latency_ms": answer.latency_ms,
        "input_tokens": answer.input_tokens,
        "output_tokens": answer.output_tokens,
        "cost": answer.cost,
        "template_id": call.template_id,
    }


def _error_text(answer: LlmAnswer, redaction: PromptRedaction) -> str | None:
    """The error of a call with its code, masked; the code alone if the message may quote a text that is not stored."""
    if answer.error_code is None:
        return None
    # The error of an answer quotes it.
    quotes = bool(answer.text) and not redaction.texts
    return answer.error_code if quotes else redaction.mask(f"{answer.error_code}: {answer.error_message}")


def list_calls(entries: Iterable[Mapping[str, Json]]) -> list[Mapping[str, Json]]:
    """The model calls, by column of `ce_llm_call_log`, in order."""
    return [call for entry in entries for call in entry.get("calls", ())]


def name_model(call: Mapping[str, Json]) -> str:
    """The model of a call, with its connection: `connection/model`."""
    return f"{call['provider']}/{call['model']}"


def has_call_of(name: str) -> Q:
    """The condition on turns with a call of this model, `connection/model`.

    The columns of a call are in this order in the stored text.
    """
    provider, _, model = name.partition("/")
    columns = dumps({"provider": provider, "model": model})
    return Q(model_calls__gt=0) & Q(has_in_document(f'{columns[1:-1]},"temperature":'))


def read_calls(conversation_id: uuid.UUID, turn_nos: Iterable[int]) -> dict[int, list[CeLlmCallLog]]:
    """The model calls of some turns, with those after their commits, in order. One query."""
    by_turn: dict[int, list[CeLlmCallLog]] = {}
    rows = CeConversationHistory._base_manager.filter(
        conversation_id=conversation_id, turn_no__in=set(turn_nos), model_calls__gt=0
    )
    for row in read_rows(rows.only(*EVENT_COLUMNS).order_by("history_id")):
        for call in list_calls(read_document(row.events)):
            # As a row of the view.
            row_of_call = CeLlmCallLog(
                llm_call_id=row.pk * IDS_PER_ROW + int(call["no"]),
                conversation_id=row.conversation_id,
                turn_id=row.turn_id,
                turn_no=row.turn_no,
                config_version=row.config_version,
                created_at=datetime.fromisoformat(call["created_at"]),
                cost=None if call["cost"] is None else Decimal(str(call["cost"])),
                **{name: call[name] for name in CALL_COLUMNS if name != "cost"},
            )
            by_turn.setdefault(row.turn_no or 0, []).append(row_of_call)
    return by_turn


def sum_cost(conversation_id: str) -> float:
    """The cost of a conversation's model calls with a price, with those after turns; 0 without any."""
    key = uuid.UUID(str(conversation_id))
    rows = (
        manager.filter(conversation_id=key)
        for manager in (CeConversationHistory.objects, CeConversationHistory.additions)
    )
    return float(sum(cost for of_kind in rows for cost in of_kind.values_list("cost", flat=True) if cost))


def has_model_call(turn_id: str, conversation_id: str, purposes: Sequence[str]) -> bool:
    key = uuid.UUID(str(turn_id))
    rows = CeConversationHistory._base_manager.filter(turn_id=key, model_calls__gt=0)
    texts = [row.events for row in read_rows(rows.only("events"))]
    return any(call["purpose"] in purposes for text in texts for call in list_calls(read_document(text)))


def sum_call_costs(turns: Sequence[CeConversationHistory]) -> dict[uuid.UUID, Decimal]:
    """The cost of each turn's model calls with a price, with those after its commit. One query."""
    costs = {turn.turn_id: turn.cost for turn in turns if turn.cost is not None}
    later = CeConversationHistory.additions.filter(
        conversation_id__in={turn.conversation_id for turn in turns},
        turn_id__in=[turn.turn_id for turn in turns],
        cost__isnull=False,
    )
    for turn_id, cost in later.values_list("turn_id", "cost") if turns else ():
        costs[turn_id] = costs.get(turn_id, Decimal(0)) + (cost or 0)
    return costs
