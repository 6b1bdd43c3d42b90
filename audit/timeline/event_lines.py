"""Every event of a turn as one line, and one of them completely: as stored, and as readers see it."""

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from django.http import HttpRequest
from django.utils.safestring import SafeString

from audit.record.elision import follows
from audit.record.expand import Event
from audit.timeline.turn_filter import TurnFilter
from convengine.engine.pipeline.stages import STEP_ENTER, STEP_EXIT
from convengine.engine.stages import family_of
from convengine.engine.text.compare import shorten
from convengine.engine.turn.stage import find_stage, is_error
from convengine.server.admin_site.record_columns import render_json

_SHOWN = 140
_META = "_meta"
#: Starts and ends of steps are half of all events, and the waterfall shows them: only unusual ones have details.
_FRAME = frozenset({STEP_ENTER, STEP_EXIT})
_USUAL_VALUES: Mapping[str, Any] = {"outcome": "Continue", "durationMs": 0}


@dataclass(frozen=True)
class EventLine:
    """One event."""

    seq: int
    at_ms: int
    step: str
    stage: str
    help: str
    says: str
    is_error: bool
    family: str


@dataclass(frozen=True)
class OpenedEvent:
    """One event whole."""

    seq: int
    stage: str
    stored: SafeString
    expanded: SafeString
    #: False if the stored form is the same.
    differs: bool
    #: True for an event without a row.
    follows: bool


def build_lines(events: Sequence[Event], turn_filter: TurnFilter) -> Iterator[EventLine]:
    """The wanted events, in order."""
    start = events[0].row.created_at if events else None
    for event in events:
        family = family_of(event.row.stage)
        payload = {key: value for key, value in event.payload.items() if key != _META}
        text = _payload_text(payload)
        if start is not None and turn_filter.admits(family, event.row.stage, event.step or "", text):
            yield EventLine(
                event.row.seq,
                round((event.row.created_at - start).total_seconds() * 1000),
                event.step or "",
                event.row.stage,
                find_stage(event.name).help if family else "",
                shorten(_payload_text(_drop_usual_values(payload)) if event.name in _FRAME else text, _SHOWN),
                is_error(event.row.stage),
                family,
            )


def _payload_text(payload: Mapping[str, Any]) -> str:
    return json.dumps(payload, ensure_ascii=False, default=str) if payload else ""


def _drop_usual_values(payload: Mapping[str, Any]) -> dict[str, Any]:
    """The details of a start or an end of a step."""
    return {key: value for key, value in payload.items() if key in _USUAL_VALUES and value != _USUAL_VALUES[key]}


def find_opened_event(events: Sequence[Event], request: HttpRequest) -> OpenedEvent | None:
    """The event of `?event=`, or null."""
    turn_filter: Any = request.GET.get("event", "")
    event = next((event for event in events if str(event.row.seq) == turn_filter), None)
    if event is None:
        return None
    return OpenedEvent(
        event.row.seq,
        event.row.stage,
        render_json(event.row.payload_json),
        render_json(event.payload),
        event.row.payload_json != event.payload,
        follows(event.row),
    )
