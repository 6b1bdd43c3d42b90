"""Publish the progress of a turn. The texts come from rows, never from code."""

import weakref
from collections.abc import Callable, Mapping
from functools import partial

from convengine.engine.pipeline.stages import STEP_ENTER, STEP_ERROR, STEP_EXIT
from convengine.engine.prompts.render import has_expressions, render_lenient
from convengine.engine.prompts.variables import build_variables
from convengine.engine.text.compare import blank
from convengine.engine.turn import live_settings, rows
from convengine.engine.turn.labels import step_label
from convengine.engine.turn.live_settings import boolean, declare, template
from convengine.engine.turn.rows import Verbose
from convengine.engine.turn.session import Session
from convengine.engine.turn.trail import FOLDED, AuditEvent
from convengine.engine.turn.turn import Turn
from convengine.engine.turn.verbose import ERROR, INFO, VerboseLine
from convengine.engine.verbose.signals import MAY_BE_ERRORS, Signal, choose_best, list_candidates, list_signals
from convengine.json_value import Json

FAMILY = "Verbose"

ENABLED = declare(
    FAMILY,
    "ENABLED",
    boolean(),
    True,
    "Send the progress and error lines of the verbose rows.",
    label="Send progress texts",
)
GENERIC_ERROR = declare(
    FAMILY,
    "GENERIC_ERROR",
    template(),
    "Something went wrong while processing {{ stepLabel }}.",
    "The line for a failed step that no verbose row covers.",
    label="Error text without a progress text",
)

#: Metadata that may leave the server, besides counts and durations: no prompts, statements or rows.
_KEPT = ("severity", "theme", "icon")
_NUMBERS = ("Ms", "_ms", "Count", "_count")
_STATUS: dict[str, str] = {STEP_ENTER: "IN_PROGRESS", STEP_EXIT: "SUCCESS", STEP_ERROR: "ERROR"}


def publish(session: Session, turn: Turn, signal: Signal, metadata: Callable[[], Mapping[str, Json]] = dict) -> None:
    """Publish the text of the best row for an event. Without a row nothing is published, except a general text for a
    failure.

    `metadata` is for JSON_PATH rows and templates; it is computed only when a row needs it.
    """
    snapshot = turn.snapshot
    candidates = list_candidates(snapshot, signal, session.intent, session.state)
    if not candidates and not (signal.error and signal.generic):
        return

    details = partial(_add_names, metadata, signal)
    row = choose_best(candidates, signal, details) if candidates else None
    text: str | None = None
    if row:
        first, second = (row.error_message, row.message) if signal.error else (row.message, row.error_message)
        text = second if blank(first) else first
    elif signal.error and signal.generic:
        text = live_settings.read(turn.snapshot, GENERIC_ERROR).value
    _send(session, turn, signal, text, details, row)


def publish_text(
    session: Session, turn: Turn, signal: Signal, text: str, metadata: Callable[[], Mapping[str, Json]] = dict
) -> None:
    """Publish a text of code, rendered like that of a row."""
    _send(session, turn, signal, text, partial(_add_names, metadata, signal))


def _add_names(metadata: Callable[[], Mapping[str, Json]], signal: Signal) -> dict[str, Json]:
    return {
        **metadata(),
        "stepName": signal.step,
        "stepLabel": step_label(signal.step),
        "determinant": signal.determinant,
    }


def _send(
    session: Session,
    turn: Turn,
    signal: Signal,
    template: str | None,
    details: Callable[[], Mapping[str, Json]],
    row: Verbose | None = None,
) -> None:
    if template is None or not live_settings.read(turn.snapshot, ENABLED).value:
        return
    known = details()
    text = template
    if has_expressions(template):
        variables = {**known, **build_variables(session, turn), "metadata": known}
        text = render_lenient(template, variables).text
    if blank(text):
        return
    line = VerboseLine(
        signal.step,
        signal.determinant,
        session.intent,
        session.state,
        ERROR if signal.error else INFO,
        text,
        row.verbose_id if row else None,
        signal.rule_id,
        signal.tool_code,
        _select_client_metadata(session, signal, known),
    )
    turn.verbose.append(line)
    for listener in turn.verbose_listeners:
        listener(turn, line)


def _select_client_metadata(session: Session, signal: Signal, known: Mapping[str, Json]) -> dict[str, Json]:
    """The part of the metadata for clients, with its defaults."""
    looks = ("ERROR", "danger", "warning") if signal.error else ("INFO", "progress", "spark")
    numbers = {
        key: value
        for key, value in known.items()
        if isinstance(value, (int, float)) and not isinstance(value, bool) and key.endswith(_NUMBERS)
    }
    return {
        **dict(zip(_KEPT, looks, strict=True)),
        **{key: known[key] for key in _KEPT if isinstance(known.get(key), str)},
        **numbers,
        "conversationId": session.conversation_id,
        "stepName": signal.step,
        "determinant": signal.determinant,
    }


def listen(turn: Turn, on_fault: Callable[[Exception], None]) -> None:
    """Publish the progress of the turn, unless that is disabled. A fault here never affects the turn.

    The trail of the turn gets a listener that knows the turn, which is why this cannot be done before both exist.
    """
    if not live_settings.read(turn.snapshot, ENABLED).value:
        return
    silent = not turn.snapshot.enabled_rows(rows.Verbose)
    # Both are freed at once when the turn has ended: there is no cycle of references.
    running: Turn = weakref.proxy(turn)

    def publish_signals(event: AuditEvent) -> None:
        try:
            for signal in list_signals(event, running.snapshot):
                if signal.error or not silent:
                    publish(event.session, running, signal, lambda: collect_details(event))
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
