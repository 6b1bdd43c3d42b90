"""A turn's answer as JSON (api-and-audit 1.1, 1.2)."""

import uuid
from collections.abc import Collection, Mapping
from typing import Any

from convengine.engine.rules.actions.contract import ENGINE_BRANCHES
from convengine.engine.turn.codec import dumps
from convengine.engine.turn.dialogue_state import DIALOGUE
from convengine.engine.turn.local_time import CLOCK
from convengine.engine.turn.session import Session
from convengine.server.interfaces.turn_reader import turn_reader
from convengine.server.turns.take_turn import TurnAnswer

#: What `?include=` may add to an answer.
PARTS = ("verbose", "trace")
#: What `?context=` may be.
CONTEXT_PARTS = ("none", "public", "all")
#: Branches of the context that steps keep for themselves.
INTERNAL_BRANCHES = ENGINE_BRANCHES | {CLOCK, DIALOGUE, "pending_slot", "pendingSlot"}


def build_body(answer: TurnAnswer, parts: Collection[str] = ()) -> dict[str, Any]:
    """The JSON body of a turn, with the requested parts except its trace."""
    turn = {
        "conversationId": answer.conversation_id,
        "turnId": answer.turn_id,
        "turnNo": answer.turn_no,
        "configVersion": answer.config_version,
        "ignoredInputParams": list(answer.ignored_params),
        **({"verbose": [line.as_json() for line in answer.verbose]} if "verbose" in parts else {}),
    }
    if answer.error is not None:
        error = {
            "errorCode": answer.error.code,
            "message": answer.error.message,
            "recoverable": answer.error.recoverable,
            **({"incidentId": answer.error.meta["incidentId"]} if "incidentId" in answer.error.meta else {}),
        }
        return {
            "success": False,
            **turn,
            "intent": "ERROR",
            "state": "ERROR",
            "payload": {"type": "ERROR", "value": error},
            "context": None,
            **error,
        }
    session, payload = answer.session, answer.payload
    return {
        "success": True,
        **turn,
        "intent": session.intent,
        "state": session.state,
        "payload": {"type": payload.type, "value": payload.value} if payload else None,
        "context": session.context,
        "errorCode": None,
        "recoverable": None,
        "message": None,
        "stateReport": build_state_report(session, answer.open_question),
    }


def select_context(body: dict[str, Any], part: str) -> dict[str, Any]:
    """A body with the requested part of its context: all, what rules and forms wrote, or null."""
    context = body.get("context")
    if part == "all" or context is None:
        return body
    public = {key: value for key, value in context.items() if key not in INTERNAL_BRANCHES and not key.startswith("_")}
    return {**body, "context": public if part == "public" else None}


def add_trace(answer: dict[str, Any]) -> dict[str, Any]:
    """A body with the stored trace of its turn, which may have run for an earlier call."""
    return {**answer, "trace": turn_reader().read_turn_trace(uuid.UUID(answer["conversationId"]), answer["turnNo"])}


def build_state_report(session: Session, open_question: Mapping[str, Any]) -> dict[str, Any]:
    """What an integrator needs to render a form."""
    clarification = session.clarification
    runtime = session.context.get("pending_action_runtime")
    return {
        "lifecycle": session.lifecycle,
        "missingFields": list(session.missing_required_fields),
        "pendingClarification": {
            "question": clarification.question,
            "reason": clarification.reason,
            "options": [option.get("label") for option in clarification.options if isinstance(option, dict)],
        }
        if clarification
        else None,
        "pendingAction": {"actionKey": runtime.get("action_key"), "status": runtime.get("status")}
        if isinstance(runtime, dict) and runtime.get("status") == "OPEN"
        else None,
        **open_question,
    }


def to_original_form(answer: dict[str, Any]) -> dict[str, Any]:
    """The same answer in the original's form: documents as JSON text (R4)."""
    payload = answer["payload"]
    if payload and payload["type"] != "TEXT":
        payload = {**payload, "value": dumps(payload["value"])}
    context = answer["context"]
    return {**answer, "payload": payload, "context": None if context is None else dumps(context)}
