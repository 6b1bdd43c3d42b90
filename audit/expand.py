"""Stored events to whole ones: every reader sees what the writer did not repeat (R16, R33)."""

from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from audit import left_out
from audit.implied import repeats_text, running, whole
from audit.models import CeAudit
from audit.stage_names import base_name
from convengine.domain import folding
from convengine.domain.stages import FULL_META, Stage

Json = Any
_OF_THE_WRITER = frozenset({"step", "changed", left_out.KEY})
_STEP_ENDS = frozenset({Stage.STEP_EXIT, Stage.STEP_ERROR})


@dataclass(frozen=True)
class Event:
    """An event with its references resolved and the state of the turn at that moment."""

    row: CeAudit
    payload: dict[str, Json]
    #: The folded document of the turn at this event.
    state: Mapping[str, Json]
    step: str | None

    @property
    def name(self) -> str:
        """The stage without its source."""
        return base_name(self.row.stage)


def expanded(rows: Iterable[CeAudit], full_meta: bool = False) -> Iterator[Event]:
    """Whole events from stored ones, which must come turn by turn, each turn from its first event and with those that
    are no rows (`left_out.completed`).

    With `full_meta` params, context and session are shown at every event, not only where R16 wants them.
    """
    turn_no: int | None = None
    state: Mapping[str, Json] = {}
    step: str | None = None
    has_meta = False
    for row in rows:
        if row.turn_no != turn_no or not state:
            turn_no, state, step, has_meta = row.turn_no, folding.empty(), None, False
        payload = dict(row.payload_json)
        meta = _writers(payload)
        has_meta = has_meta or meta is not None
        if meta:
            state = folding.apply(state, meta.get("changed") or {})
        if has_meta:
            step = running(row.stage, payload, meta or {}, step)
            payload = whole(row.stage, payload, step)
            if repeats_text(row.stage) and "key" in payload:
                payload["key"] = {"userText": state.get("userText"), **payload["key"]}
        payload = {key: _resolved(value, state) for key, value in payload.items()}
        if has_meta:
            payload["_meta"] = _meta(row, state, step, (meta or {}).get("changed"), full_meta)
        yield Event(row, payload, state, step)


def _writers(payload: dict[str, Json]) -> Json:
    """The writer's `_meta`, taken out. A payload may have one of its own, as what a tool answered."""
    meta = payload.get("_meta")
    return payload.pop("_meta") if isinstance(meta, dict) and meta.keys() <= _OF_THE_WRITER else None


def _resolved(value: Json, state: Mapping[str, Json]) -> Json:
    if isinstance(value, dict) and len(value) == 1 and "$folded" in value:
        return folding.folded(state, value["$folded"])
    return value


def in_steps(events: Iterable[Event], steps: Collection[str]) -> Iterator[Event]:
    """The events of some steps, from whole turns; also of turns that were stored without `_meta`."""
    turn_no: int | None = None
    entered: str | None = None
    for event in events:
        if event.row.turn_no != turn_no:
            turn_no, entered = event.row.turn_no, None
        if event.name == Stage.STEP_ENTER:
            entered = event.payload.get("step")
        if (event.step or entered) in steps:
            yield event
        if event.name in _STEP_ENDS:
            entered = None


def _meta(row: CeAudit, state: Mapping[str, Json], step: str | None, changed: Json, full_meta: bool) -> dict[str, Json]:
    meta = {
        "stage": row.stage,
        "conversationId": str(row.conversation_id),
        "turnId": str(row.turn_id) if row.turn_id else None,
        "turnNo": row.turn_no,
        "seq": row.seq,
        "emittedAt": row.created_at.isoformat(),
        "intent": state.get("intent"),
        "state": state.get("state"),
        "configVersion": row.config_version,
        "step": step,
    }
    told = {"changed": changed} if changed else {}
    if base_name(row.stage) in FULL_META:
        return {**meta, **_large_parts(state)}
    return {**meta, **told, **(_large_parts(state) if full_meta else {})}


def _large_parts(state: Mapping[str, Json]) -> dict[str, Json]:
    return {
        "inputParams": folding.folded(state, "inputParams"),
        "userInputParams": state.get("userInputParams") or {},
        "contextDict": folding.folded(state, "context"),
        "session": folding.folded(state, "session"),
    }
