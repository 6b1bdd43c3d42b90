"""The one place from which progress is told: a listener on the trail of a turn (pipeline-2 14.3)."""

from collections.abc import Callable, Mapping
from typing import Any

from convengine.domain import rows, settings
from convengine.domain.catalogue.verbose import ENABLED
from convengine.domain.stages import Stage
from convengine.domain.trail import FOLDED, AuditEvent
from convengine.domain.turn import Turn
from convengine.verbose.publish import publish
from convengine.verbose.signals import MAY_BE_ERRORS, signals

Json = Any
_STATUS = {Stage.STEP_ENTER.value: "IN_PROGRESS", Stage.STEP_EXIT.value: "SUCCESS", Stage.STEP_ERROR.value: "ERROR"}


def listen(turn: Turn, on_fault: Callable[[Exception], None]) -> None:
    """Let the turn tell its progress, unless that is switched off. A fault here never reaches the turn."""
    if not settings.read(turn.snapshot, ENABLED).value:
        return
    silent = not turn.snapshot.enabled(rows.Verbose)

    def heard(event: AuditEvent) -> None:
        try:
            for signal in signals(event, turn.snapshot):
                if signal.error or not silent:
                    publish(event.session, turn, signal, lambda: details(event))
        except Exception as fault:
            on_fault(fault)

    if silent:
        # Without rows only errors are told.
        turn.trail.watchers = dict.fromkeys(MAY_BE_ERRORS, heard)
    else:
        turn.trail.listeners = (*turn.trail.listeners, heard)


def details(event: AuditEvent) -> Mapping[str, Json]:
    """What JSON_PATH rows and templates may look at: the event's payload, where the turn stands, the step's record."""
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
