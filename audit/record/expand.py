"""Expand stored events to whole ones, with what the writer did not repeat (R16, R33)."""

from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from audit.models import CeAudit
from audit.record import elision
from audit.record.elision import repeats_text, running, whole
from convengine.engine.pipeline.stages import STEP_ENTER, STEP_ERROR, STEP_EXIT
from convengine.engine.stages import WHOLE_META, base_name
from convengine.engine.turn import folding

Json = Any
_OF_THE_WRITER = frozenset({"step", "changed", elision.KEY})
_STEP_ENDS = frozenset({STEP_EXIT, STEP_ERROR})


@dataclass(frozen=True)
class Event:
    """An event with resolved references and the state of the turn."""

    row: CeAudit
    payload: dict[str, Json]
    #: The state of the turn at this event.
    state: Mapping[str, Json]
    step: str | None

    @property
    def name(self) -> str:
        """The stage without its source."""
        return base_name(self.row.stage)


def expand_events(rows: Iterable[CeAudit], full_meta: bool = False) -> Iterator[Event]:
    """Whole events from stored ones, which must come turn by turn, each turn from its first event and completed
    (`left_out.completed`).

    With `full_meta` every event has params, context and session.
    """
    turn_no: int | None = None
    state: Mapping[str, Json] = {}
    step: str | None = None
    has_meta = False
    for row in rows:
        if row.turn_no != turn_no or not state:
            turn_no, state, step, has_meta = row.turn_no, folding.build_empty_document(), None, False
        payload = dict(row.payload_json)
        meta = _pop_meta(payload)
        has_meta = has_meta or meta is not None
        if meta:
            state = folding.apply_change(state, meta.get("changed") or {})
        if has_meta:
            step = running(row.stage, payload, meta or {}, step)
            payload = whole(row.stage, payload, step)
            if repeats_text(row.stage) and "key" in payload:
                payload["key"] = {"userText": state.get("userText"), **payload["key"]}
        payload = {key: _resolve_reference(value, state) for key, value in payload.items()}
        if has_meta:
            payload["_meta"] = _build_meta(row, state, step, (meta or {}).get("changed"), full_meta)
        yield Event(row, payload, state, step)


def _pop_meta(payload: dict[str, Json]) -> Json:
    """The writer's `_meta`, removed. A payload may have one of its own, such as a tool's answer."""
    meta = payload.get("_meta")
    return payload.pop("_meta") if isinstance(meta, dict) and meta.keys() <= _OF_THE_WRITER else None


def _resolve_reference(value: Json, state: Mapping[str, Json]) -> Json:
    if isinstance(value, dict) and len(value) == 1 and "$folded" in value:
        return folding.read_folded(state, value["$folded"])
    return value


def select_steps(events: Iterable[Event], steps: Collection[str]) -> Iterator[Event]:
    """The events of some steps, from whole turns; even of turns that were stored without `_meta`."""
    turn_no: int | None = None
    entered: str | None = None
    for event in events:
        if event.row.turn_no != turn_no:
            turn_no, entered = event.row.turn_no, None
        if event.name == STEP_ENTER:
            entered = event.payload.get("step")
        if (event.step or entered) in steps:
            yield event
        if event.name in _STEP_ENDS:
            entered = None


def _build_meta(
    row: CeAudit, state: Mapping[str, Json], step: str | None, changed: Json, full_meta: bool
) -> dict[str, Json]:
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
    change = {"changed": changed} if changed else {}
    if base_name(row.stage) in WHOLE_META:
        return {**meta, **_large_parts(state)}
    return {**meta, **change, **(_large_parts(state) if full_meta else {})}


def _large_parts(state: Mapping[str, Json]) -> dict[str, Json]:
    return {
        "inputParams": folding.read_folded(state, "inputParams"),
        "userInputParams": state.get("userInputParams") or {},
        "contextDict": folding.read_folded(state, "context"),
        "session": folding.read_folded(state, "session"),
    }
