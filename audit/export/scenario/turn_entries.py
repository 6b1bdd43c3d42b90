"""Saved turns in the scenario format."""

from collections import Counter
from collections.abc import Collection
from datetime import UTC, datetime, timedelta

from audit.export.scenario.configuration import export_edits
from audit.export.scenario.recorded_turns import RecordedTurn, export_transformers
from convengine.engine.turn.conversation import PLAIN_CHANNEL
from convengine.engine.turn.enums import TurnStatus
from convengine.engine.turn.params import APPROVAL_KEYS
from convengine.engine.turn.scope import UNKNOWN
from convengine.engine.turn.stages import TEXT_CHOSEN
from convengine.json_value import Json
from convengine.play.scenario import BEGINNING
from convengine.play.seen_turn import PortCall, SeenTurn, scenario_purpose
from convengine.server.api.failures import list_turn_failures
from convengine.server.sessions.models import CeConversation
from convengine.server.turns.stored_recording import StoredRecording

Entry = dict[str, Json]


def export_turn(recorded_turn: RecordedTurn, before: RecordedTurn | None, conversation: CeConversation) -> Entry:
    request = recorded_turn.recorded.request
    edited = export_edits(before.recorded.config_version, recorded_turn.recorded.config_version) if before else []
    entry: Entry = {"before": edited} if edited else {}
    if request.channel != PLAIN_CHANNEL:
        entry["thread"] = {
            "workspace_id": conversation.workspace_id,
            "channel": conversation.channel,
            "remote_jid": conversation.remote_jid,
        }
    if (at := format_time(recorded_turn.recorded.now)) is not None:
        entry["at"] = at
    entry["user"] = request.message
    params = {**dict(request.input_params), **dict.fromkeys(request.ignored_params)}
    if params:
        entry["input_params"] = params
    if not APPROVAL_KEYS.isdisjoint(request.ignored_params):
        entry["may_approve"] = False
    if transformers := export_transformers(recorded_turn):
        entry["transformers"] = transformers
    entry["expect"] = _build_expectations(recorded_turn)
    return entry


def export_start(first: StoredRecording, message_before: datetime | None) -> Entry:
    """The conversation before the first saved turn; empty if the conversation begins with that turn.

    `message_before` is the time of the turn before it.
    """
    row = first.loaded.conversation
    history = [{"user": past.user, "assistant": past.assistant} for past in first.loaded.history]
    start: Entry = {
        "intent_code": row.intent_code,
        "state_code": row.state_code,
        "status": row.status,
        "context": dict(row.context_json),
        "input_params": dict(row.input_params_json),
        "previous_turn": dict(first.loaded.previous_turn),
        "last_user_text": row.last_user_text,
        "last_assistant": row.last_assistant_json,
        "context_epoch": row.context_epoch,
        "lifecycle": row.lifecycle,
        "lifecycle_detail": dict(row.lifecycle_detail),
        "context_summary": row.context_summary,
        "preferences": dict(row.preferences),
        "mounted_kb_id": row.mounted_kb_id,
        "history": history,
    }
    if first.turn_no > 1:
        start["last_turn_no"], start["turn_count"] = first.turn_no - 1, row.turn_count
        start["created_at"] = row.created_at and format_time(row.created_at)
        start["last_message_at"] = message_before and format_time(message_before)
    return {name: value for name, value in start.items() if value and value not in (UNKNOWN, "RUNNING")}


def format_time(time: datetime) -> str | None:
    """A time since the beginning of worlds, to the millisecond, such as `3d 2h`, so that relative dates stay true.

    Returns None for an earlier time.
    """
    since = time.astimezone(UTC) - BEGINNING
    if since < timedelta():
        return None
    hours, rest = divmod(since.seconds, 3600)
    minutes, seconds = divmod(rest, 60)
    parts = ((since.days, "d"), (hours, "h"), (minutes, "m"), (seconds, "s"), (since.microseconds // 1000, "ms"))
    return " ".join(f"{number}{unit}" for number, unit in parts if number) or "0s"


def _build_expectations(recorded_turn: RecordedTurn) -> Entry:
    """What a turn did: its answer or error, its calls with those of models after it, and its stages."""
    record = recorded_turn.record
    expectations: Entry = {}
    if record.status in (TurnStatus.OK.value, TurnStatus.BLOCKED.value):
        expectations["intent"], expectations["state"] = record.intent_code, record.state_code
        expectations["response"] = export_expected_response(record.assistant_output, recorded_turn.stages)
    else:
        known = next((failure for failure in list_turn_failures() if failure.code == record.error_code), None)
        expectations["error"] = {"code": record.error_code}
        expectations["http_status"] = known.status if known else 500
    turn = SeenTurn(calls=[PortCall(*entry) for entry in recorded_turn.recorded.tape])
    purposes = [*turn.model_calls, *(scenario_purpose(purpose) for purpose, _, _ in recorded_turn.late_answers)]
    expectations["llm_calls"] = dict(Counter(purposes)) or 0
    expectations["tool_calls"] = [{"tool_code": call["tool_code"], "args": call["args"]} for call in turn.tool_calls]
    expectations["task_calls"] = [{"bean": task, "method": method} for task, method in turn.task_calls]
    if recorded_turn.stages:
        expectations["audit_stages_in_order"] = list(recorded_turn.stages)
    return expectations


def export_expected_response(payload: Json, stages: Collection[str]) -> Entry:
    """The expectation of an answer, from its stored form; its words if each conversation gets them."""
    kind = payload.get("type") if isinstance(payload, dict) and payload.keys() == {"type", "value"} else None
    if TEXT_CHOSEN in stages:
        return {"type": "TEXT" if kind == "TEXT" else "JSON"}
    if kind in ("TEXT", "JSON_TEXT"):
        return {"type": kind.removesuffix("_TEXT"), "equals": payload["value"]}
    return {"type": "JSON", "json": {"$": {"equals": payload}}}
