"""A trail as rows: of the session only what changed, without what follows from the rest, keys masked (R16, R33)."""

from collections.abc import Callable, Mapping, Sequence
from datetime import timedelta
from functools import partial
from typing import Any, NamedTuple
from uuid import UUID

from audit.filters import AuditFilter
from audit.implied import repeats_text, shortened
from audit.left_out import KEY, Leaving
from audit.models import CeAudit
from convengine.codec import in_order, loads
from convengine.domain import folding
from convengine.domain.session import Session
from convengine.domain.stages import Stage
from convengine.domain.trail import FOLDED, FOLDED_KEYS, AuditEvent
from convengine.domain.turn import Turn
from convengine.rules.redacting import Redaction

#: Names of the trail itself, at the top of a payload: a key to be redacted may be called so too, further down.
STRUCTURE = frozenset({"_meta", "changed", "set", "unset", "stepList", "candidates", "operands", "key"})
_STEP_ENTER = Stage.STEP_ENTER.value
_STEP_ERROR, _TIMING = Stage.STEP_ERROR.value, Stage.PIPELINE_TIMING.value
_FRAME = frozenset({_STEP_ENTER, Stage.STEP_EXIT.value})


class AuditRow(NamedTuple):
    """An event as it is stored."""

    seq: int
    stage: str
    #: Not masked yet; see `masked`.
    payload: Mapping[str, Any]
    #: Whole milliseconds since the turn began: events of one moment are one entry of the index by time.
    at_ms: int


#: The constructor of a named tuple is written in Python.
_row = partial(tuple.__new__, AuditRow)


def audit_rows(
    turn: Turn, after_seq: int = 0, admits: Callable[[str, str], bool] | None = None, *, every: bool = False
) -> list[AuditRow]:
    """The events beyond `after_seq` as they are stored, after filters; with `every`, those too that need no row.

    A turn that is stored step by step has a row for each: nobody knows yet whether it comes to tell its timing.

    The rate limit is asked once for each event, however often the turn is stored: step by step, or again with care.
    `admits` says what it lets pass; null is no limit, as in a replay.
    """
    wanted = AuditFilter.of(turn.snapshot)
    everything = wanted.keeps_everything and admits is None
    persist_meta = wanted.persist_meta
    # Of a turn of which something was filtered, a reader cannot tell what was left out from what was dropped.
    told_apart = everything and persist_meta and not (every or after_seq or turn.flush_step)
    leaving = Leaving(turn) if told_apart else None
    rows: list[AuditRow] = []
    filtered = 0
    told: Session | None = None
    step: str | None = None
    for event in turn.trail.events:
        if not everything and not _admitted(event, turn, wanted, admits):
            filtered += 1
            continue
        seq, stage, payload, session, running, at_ms = event
        # With STEP flushing, events that are stored already still move the state that later ones are told against.
        meta: dict[str, Any] = {}
        # A reader knows the step from its STEP_ENTER. The first event says it all the same: that there is `_meta`.
        if running != step:
            if told is None or stage != _STEP_ENTER:
                meta["step"] = running
            step = running
        if session is not told and (told is None or not told.told_alike(session)):
            if change := folding.changes(told, session):
                meta["changed"] = change
            told = session
        if leaving:
            # Half of all events: a step begins, or it ended and nothing is to be said of it.
            if stage in _FRAME:
                if meta:
                    leaving.passes()
                elif leaving.takes(seq, stage, payload, int(at_ms)):
                    continue
            elif stage == _STEP_ERROR:
                leaving.passes()
            elif stage == _TIMING:
                meta |= leaving.told
        if seq > after_seq:
            rows.append(_row((seq, stage, _payload(event, meta, wanted, filtered), int(at_ms))))
    return rows


def texts(rows: Sequence[AuditRow], redaction: Redaction) -> tuple[Sequence[bytes], Sequence[bytes]]:
    """The payloads of rows as JSON texts without what must not be written: as stored, and as hashed."""
    stored, hashed = in_order([row.payload for row in rows])
    # Nearly always there is nothing to mask: one look at everything is cheaper than one at each row.
    if not redaction.touches(b"\n".join(stored).decode()):
        return stored, hashed
    return in_order([_redacted(row.stage, one, redaction) for row, one in zip(rows, map(loads, stored), strict=True)])


def unstored(turn: Turn, conversation_id: UUID, row: AuditRow, payload: Any) -> CeAudit:
    """The event as readers take it from the table, of a turn that is not stored, or not again. `payload` is masked."""
    return CeAudit(
        conversation_id=conversation_id,
        turn_id=turn.turn_id,
        turn_no=turn.turn_no,
        config_version=turn.snapshot.config_version,
        seq=row.seq,
        stage=row.stage,
        payload_json=payload,
        created_at=turn.ports.clock.now() + timedelta(milliseconds=row.at_ms),
    )


def masked(rows: Sequence[AuditRow], redaction: Redaction) -> str:
    """The same as one JSON text, a list."""
    return listed(texts(rows, redaction)[0])


def listed(payloads: Sequence[bytes]) -> str:
    """JSON texts as one, a list."""
    return f"[{b','.join(payloads).decode()}]"


def _admitted(event: AuditEvent, turn: Turn, wanted: AuditFilter, admits: Callable[[str, str], bool] | None) -> bool:
    if event.seq not in turn.admitted:
        kept = wanted.keeps(event) and (not admits or admits(turn.request.conversation_id, event.stage))
        turn.admitted[event.seq] = kept
    return turn.admitted[event.seq]


def _payload(event: AuditEvent, meta: dict[str, Any], wanted: AuditFilter, filtered: int) -> Mapping[str, Any]:
    payload = event.payload
    if filtered and event.stage == Stage.PIPELINE_TIMING:
        payload = {**payload, "auditFiltered": filtered}
    if not wanted.persist_meta:
        # Without `_meta` a reader has no state and no place: then payloads stay whole.
        return _in_full(event, payload)
    return _stored(event, payload, meta)


def _stored(event: AuditEvent, payload: Mapping[str, Any], meta: dict[str, Any]) -> Mapping[str, Any]:
    if repeats_text(event.stage) and "key" in payload:
        payload = {**payload, "key": _without_text(payload["key"], event.session.user_text)}
    if not FOLDED_KEYS.isdisjoint(payload):
        payload = {
            key: _reference(event, key, value) if key in FOLDED_KEYS else value for key, value in payload.items()
        }
    told = shortened(event.stage, payload)
    return {**told, "_meta": meta} if meta else told


def _in_full(event: AuditEvent, payload: Mapping[str, Any]) -> Mapping[str, Any]:
    """The payload with the folded state where it only says that it stands there."""
    if not any(value is FOLDED for value in payload.values()):
        return payload
    state = folding.document(event.session)
    return {key: folding.folded(state, key) if value is FOLDED else value for key, value in payload.items()}


def _redacted(stage: str, payload: dict[str, Any], redaction: Redaction) -> Any:
    """The payload without what must not be written."""
    if stage != _TIMING:
        return redaction.document(payload, STRUCTURE)
    # How long steps took is nobody's secret, and readers must be able to count with it. What changed may be one.
    meta = payload.get("_meta", {})
    numbers = {KEY: meta[KEY]} if KEY in meta else {}
    told = redaction.document({"_meta": meta}, STRUCTURE)["_meta"]
    return {**payload, "_meta": {**told, **numbers}} if meta else payload


def _without_text(key: Mapping[str, Any], text: str | None) -> Mapping[str, Any]:
    """The key of a phase of rules without the user's text, which each of them would repeat."""
    return {name: value for name, value in key.items() if name != "userText" or value != text}


def _reference(event: AuditEvent, key: str, value: Any) -> Any:
    """A large part is stored as a reference to the folded state at this event (R33)."""
    if value is FOLDED or (value is event.session.context and key in ("context", "schemaJson")):
        return {"$folded": key}
    return {"$folded": key} if value == folding.folded(folding.document(event.session), key) else value
