"""Publish the progress of a turn: a listener on its events (pipeline-2 14.3)."""

from collections.abc import Callable, Mapping
from typing import Any

from convengine.engine.pipeline.stages import STEP_ENTER, STEP_ERROR, STEP_EXIT
from convengine.engine.turn import live_settings, rows
from convengine.engine.turn.trail import FOLDED, AuditEvent
from convengine.engine.turn.turn import Turn
from convengine.engine.verbose.publish import publish
from convengine.engine.verbose.settings import ENABLED
from convengine.engine.verbose.signals import MAY_BE_ERRORS, list_signals

Json = Any
_STATUS: dict[str, str] = {STEP_ENTER: "IN_PROGRESS", STEP_EXIT: "SUCCESS", STEP_ERROR: "ERROR"}


def listen(turn: Turn, on_fault: Callable[[Exception], None]) -> None:
    """Publish the progress of the turn, unless that is disabled. A fault here never affects the turn."""
    if not live_settings.read(turn.snapshot, ENABLED).value:
        return
    silent = not turn.snapshot.enabled_rows(rows.Verbose)

    def publish_signals(event: AuditEvent) -> None:
        try:
            for signal in list_signals(event, turn.snapshot):
                if signal.error or not silent:
                    publish(event.session, turn, signal, lambda: collect_details(event))
        except Exception as fault:
            on_fault(fault)

    if silent:
        # Without rows, only errors are published.
        turn.trail.watchers = dict.fromkeys(MAY_BE_ERRORS, publish_signals)
    else:
        turn.trail.listeners = (*turn.trail.listeners, publish_signals)


def collect_details(event: AuditEvent) -> Mapping[str, Json]:
    """The document for JSON_PATH rows and templates: the event's payload, the scope, the step's record."""
    payload = {key: value for key, value in event.payload.items() if value is not FOLDED}
    about = {
        **payload,
        "conversationId": event.session.conversation_id,
        "intent": event.session.intent,
        "state": event.session.state,
    }
    if status := _STATUS.get(event.stage):
        about["result"] = payload.get("outcome")
        about["stepInfo"] = {
            "stepName": payload.get("step"),
            "determinant": event.stage,
            "status": status,
            "error": payload.get("errorMessage"),
            **{key: payload[key] for key in ("outcome", "durationMs", "errorType", "errorMessage") if key in payload},
        }
    return about
