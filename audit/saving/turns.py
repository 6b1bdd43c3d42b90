"""Saved turns as a file says them: what was sent, when, and what must come of it."""

from collections import Counter
from datetime import UTC, datetime, timedelta
from typing import Any

from audit.saving.outside import calls
from audit.saving.recorded import Taken
from audit.saving.world import edits
from convengine.api.failures import turn_failures
from convengine.domain.enums import TurnStatus
from convengine.domain.scope import UNKNOWN
from convengine.scenarios.purposes import scenario_purpose
from convengine.scenarios.runner import BEGINNING
from convengine.sessions.models import CeConversation
from convengine.sessions.recording import Recorded

Json = Any
Entry = dict[str, Json]
_PLAIN = "api"


def turn(one: Taken, before: Taken | None, conversation: CeConversation) -> Entry:
    """One turn with what was edited in front of it."""
    request = one.recorded.request
    edited = edits(before.recorded.config_version, one.recorded.config_version) if before else []
    found: Entry = {"before": edited} if edited else {}
    if request.channel != _PLAIN:
        found["thread"] = {
            "workspace_id": conversation.workspace_id,
            "channel": conversation.channel,
            "remote_jid": conversation.remote_jid,
        }
    found |= _clock(one.recorded.now)
    found["user"] = request.message
    params = {**dict(request.input_params), **dict.fromkeys(request.ignored_params)}
    if params:
        found["input_params"] = params
    found["expect"] = _expected(one)
    return found


def start(first: Recorded) -> Entry:
    """Where the conversation stood in front of the first turn; empty for one that began with it."""
    row = first.loaded.conversation
    history = [{"user": past.user, "assistant": past.assistant} for past in first.loaded.history]
    found: Entry = {
        "intent_code": row.intent_code,
        "state_code": row.state_code,
        "status": row.status,
        "context": dict(row.context_json),
        "input_params": dict(row.input_params_json),
        "history": history,
    }
    return {name: value for name, value in found.items() if value and value not in (UNKNOWN, "RUNNING")}


def _clock(now: datetime) -> Entry:
    """The moment of the turn, to the millisecond: what is said of tomorrow stays true."""
    since = now.astimezone(UTC) - BEGINNING
    if since < timedelta():
        return {}
    hours, rest = divmod(since.seconds, 3600)
    minutes, seconds = divmod(rest, 60)
    parts = ((since.days, "d"), (hours, "h"), (minutes, "m"), (seconds, "s"), (since.microseconds // 1000, "ms"))
    return {"at": " ".join(f"{number}{unit}" for number, unit in parts if number) or "0s"}


def _expected(one: Taken) -> Entry:
    record = one.record
    found: Entry = {}
    if record.status in (TurnStatus.OK.value, TurnStatus.BLOCKED.value):
        found["intent"], found["state"] = record.intent_code, record.state_code
        found["response"] = _response(record.assistant_output)
    else:
        known = next((failure for failure in turn_failures() if failure.code == record.error_code), None)
        found["error"] = {"code": record.error_code}
        found["http_status"] = known.status if known else 500
    found["llm_calls"] = _llm_calls(one)
    found["tool_calls"] = [
        {"tool_code": request["tool"], "args": request["args"]} for request, _ in calls(one.recorded, "tool")
    ]
    found["task_calls"] = [
        {"bean": request["task"], "method": request["method"]}
        for request, answer in calls(one.recorded, "task")
        if answer["error_type"] != "NOT_REGISTERED"
    ]
    if one.stages:
        found["audit_stages_in_order"] = list(one.stages)
    return found


def _llm_calls(one: Taken) -> Json:
    asked = [request["purpose"] for request, _ in calls(one.recorded, "model")]
    asked += [purpose for purpose, _, _ in one.afterwards]
    return dict(Counter(scenario_purpose(purpose) for purpose in asked)) or 0


def _response(payload: Json) -> Entry:
    """What was answered, from the form in which conversations keep it."""
    kind = payload.get("type") if isinstance(payload, dict) and payload.keys() == {"type", "value"} else None
    if kind in ("TEXT", "JSON_TEXT"):
        return {"type": kind.removesuffix("_TEXT"), "equals": payload["value"]}
    return {"type": "JSON", "json": {"$": {"equals": payload}}}
