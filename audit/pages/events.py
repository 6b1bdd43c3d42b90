"""Every event of a turn as one line, and one of them whole: as it is stored, and as readers see it."""

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from django.http import HttpRequest
from django.utils.safestring import SafeString

from audit.expand import Event
from audit.left_out import follows
from audit.pages.wanted import Wanted
from audit.stage_names import family_of
from convengine.domain.stage_help import HELP
from convengine.domain.stages import Stage, is_error
from convengine.domain.text import excerpt
from convengine.record_columns import as_json

_SHOWN = 140
_META = "_meta"
#: Half of all events say that a step begins or ends, with what the waterfall shows: told is what is not as usual.
_FRAME = frozenset({Stage.STEP_ENTER, Stage.STEP_EXIT})
_USUAL: Mapping[str, Any] = {"outcome": "Continue", "durationMs": 0}


@dataclass(frozen=True)
class Line:
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
class Opened:
    """One event whole."""

    seq: int
    stage: str
    stored: SafeString
    expanded: SafeString
    #: False where what is stored is all there is to say.
    differs: bool
    #: True where nothing is stored by itself.
    follows: bool


def lines(events: Sequence[Event], wanted: Wanted) -> Iterator[Line]:
    """The events that a reader looks for, in order."""
    start = events[0].row.created_at if events else None
    for event in events:
        family = family_of(event.row.stage)
        told = {key: value for key, value in event.payload.items() if key != _META}
        text = _text(told)
        if start is not None and wanted.admits(family, event.row.stage, event.step or "", text):
            yield Line(
                event.row.seq,
                round((event.row.created_at - start).total_seconds() * 1000),
                event.step or "",
                event.row.stage,
                HELP[Stage(event.name)] if family else "",
                excerpt(_text(_unusual(told)) if event.name in _FRAME else text, _SHOWN),
                is_error(event.row.stage),
                family,
            )


def _text(told: Mapping[str, Any]) -> str:
    return json.dumps(told, ensure_ascii=False, default=str) if told else ""


def _unusual(told: Mapping[str, Any]) -> dict[str, Any]:
    """What the beginning or the end of a step says beyond that it is one."""
    return {key: value for key, value in told.items() if key in _USUAL and value != _USUAL[key]}


def opened(events: Sequence[Event], request: HttpRequest) -> Opened | None:
    """The event that `?event=` names; null when it names none."""
    wanted: Any = request.GET.get("event", "")
    event = next((event for event in events if str(event.row.seq) == wanted), None)
    if event is None:
        return None
    return Opened(
        event.row.seq,
        event.row.stage,
        as_json(event.row.payload_json),
        as_json(event.payload),
        event.row.payload_json != event.payload,
        follows(event.row),
    )
