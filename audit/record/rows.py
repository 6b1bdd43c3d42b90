"""Events as rows: the wanted ones, with changes of the session only, without recomputable keys, masked (R16, R33).

Evidence is stored whatever the settings say (api-and-audit 10, settings 2.11).
"""

import threading
import time
from collections import OrderedDict
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import timedelta
from fnmatch import fnmatchcase
from typing import Any, NamedTuple
from uuid import UUID

from audit.models import CeAudit
from audit.record.elision import KEY, Leaving, repeats_text, strip_implied
from convengine.engine.pipeline.stages import PIPELINE_TIMING, STEP_ENTER, STEP_ERROR, STEP_EXIT
from convengine.engine.redaction import Redaction
from convengine.engine.stages import ALWAYS_RECORDED, base_name
from convengine.engine.turn import audit_settings as catalogue
from convengine.engine.turn import folding, live_settings
from convengine.engine.turn.codec import dump_in_order, loads
from convengine.engine.turn.session import Session
from convengine.engine.turn.snapshot import Snapshot
from convengine.engine.turn.stage import is_error
from convengine.engine.turn.trail import FOLDED, FOLDED_KEYS, AuditEvent
from convengine.engine.turn.turn import Turn
from convengine.server.deployment import conf

#: Keys of the record itself, at the top of a payload; a redacted key may have the same name deeper.
STRUCTURE = frozenset({"_meta", "changed", "set", "unset", "stepList", "candidates", "operands", "key"})
_STEP_ENTER = STEP_ENTER
_STEP_ERROR, _TIMING = STEP_ERROR, PIPELINE_TIMING
_FRAME = frozenset({_STEP_ENTER, STEP_EXIT})


@dataclass(frozen=True)
class AuditFilter:
    """The recording options of one release."""

    level: str
    include_stages: Sequence[str]
    exclude_stages: Sequence[str]
    include_intents: Sequence[str]
    exclude_intents: Sequence[str]
    persist_meta: bool

    @classmethod
    def of(cls, snapshot: Snapshot) -> "AuditFilter":
        """The options of a snapshot, cached."""

        def build() -> AuditFilter:
            def value(setting: live_settings.Setting[Any]) -> Any:
                return live_settings.read(snapshot, setting).value

            return cls(
                value(catalogue.LEVEL),
                _to_upper(value(catalogue.INCLUDE_STAGES)),
                _to_upper(value(catalogue.EXCLUDE_STAGES)),
                _to_upper(value(catalogue.INCLUDE_INTENTS)),
                _to_upper(value(catalogue.EXCLUDE_INTENTS)),
                value(catalogue.PERSIST_META),
            )

        return snapshot.memo.get("audit filter", build)

    @property
    def keeps_everything(self) -> bool:
        """True when no event is left out."""
        return self.level == "ALL" and not (
            self.include_stages or self.exclude_stages or self.include_intents or self.exclude_intents
        )

    def keeps(self, event: AuditEvent) -> bool:
        """True when the event is stored."""
        return self.keeps_everything or base_name(event.stage) in ALWAYS_RECORDED or self._admits(event)

    def _admits(self, event: AuditEvent) -> bool:
        name, intent = event.stage.upper(), (event.session.intent or "").upper()
        if self.level == "NONE" or (self.level == "ERROR_ONLY" and not is_error(name)):
            return False
        if self.level == "STANDARD" and base_name(name) in (STEP_ENTER, STEP_EXIT):
            return False
        names = (name, base_name(name))
        return (
            (not self.include_stages or _matches_any(names, self.include_stages))
            and not _matches_any(names, self.exclude_stages)
            and (not self.include_intents or _matches_any((intent,), self.include_intents))
            and not _matches_any((intent,), self.exclude_intents)
        )


def _to_upper(values: Sequence[str]) -> tuple[str, ...]:
    return tuple(value.upper() for value in values)


def _matches_any(names: Sequence[str], patterns: Sequence[str]) -> bool:
    return any(fnmatchcase(name, pattern) for name in names for pattern in patterns)


class RateLimiter:
    """Counts events by conversation and stage. Stages that are always written are exempt."""

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._lock = threading.Lock()
        #: (window number, events so far) by bucket; the oldest bucket is dropped when there are too many.
        self._buckets: OrderedDict[tuple[str, str], tuple[int, int]] = OrderedDict()

    @property
    def on(self) -> bool:
        """True when the deployment has a limit."""
        return bool(conf.get("AUDIT_RATE_LIMIT"))

    def admits(self, conversation_id: str, stage: str) -> bool:
        """True when the event is within the limit."""
        limit = conf.get("AUDIT_RATE_LIMIT")
        if not limit or base_name(stage) in ALWAYS_RECORDED:
            return True
        key = (conversation_id if limit["per_conversation"] else "", base_name(stage) if limit["per_stage"] else "")
        window = int(self._clock() * 1000 // limit["window_ms"])
        with self._lock:
            started, count = self._buckets.pop(key, (window, 0))
            count = count + 1 if started == window else 1
            self._buckets[key] = (window, count)
            while len(self._buckets) > limit["max_tracked_buckets"]:
                self._buckets.popitem(last=False)
        return count <= int(limit["max_events"])


limiter = RateLimiter()


class AuditRow(NamedTuple):
    """A stored event."""

    seq: int
    stage: str
    #: Not masked yet; see `masked`.
    payload: Mapping[str, Any]
    #: Whole milliseconds since the turn began: simultaneous events share an entry of the index by time.
    at_ms: int


def build_audit_rows(
    turn: Turn, after_seq: int = 0, admits: Callable[[str, str], bool] | None = None, *, every: bool = False
) -> list[AuditRow]:
    """The events after `after_seq` as rows, after filters; with `every`, including those that need no row.

    A turn that is stored step by step has a row for each, because it is unknown whether it will write its timing.

    The rate limit is applied once per event, however often the turn is stored. `admits` is the limit; null is none, as
    in a replay.
    """
    wanted = AuditFilter.of(turn.snapshot)
    everything = wanted.keeps_everything and admits is None
    persist_meta = wanted.persist_meta
    # In a filtered turn, a reader could not distinguish omitted from dropped events.
    told_apart = everything and persist_meta and not (every or after_seq or turn.flush_step)
    leaving = Leaving(turn) if told_apart else None
    rows: list[AuditRow] = []
    filtered = 0
    last_session: Session | None = None
    step: str | None = None
    for event in turn.trail.events:
        if not everything and not _is_admitted(event, turn, wanted, admits):
            filtered += 1
            continue
        seq, stage, payload, session, running, at_ms = event
        # With STEP flushing, events that are stored already still change the state for later ones.
        meta: dict[str, Any] = {}
        # A reader knows the step from its STEP_ENTER. The first event has it anyway, to show that there is `_meta`.
        if running != step:
            if last_session is None or stage != _STEP_ENTER:
                meta["step"] = running
            step = running
        if session is not last_session and (last_session is None or not last_session.has_same_state(session)):
            if change := folding.diff_sessions(last_session, session):
                meta["changed"] = change
            last_session = session
        if leaving:
            # Half of all events: a step begins, or ended normally.
            if stage in _FRAME:
                if meta:
                    leaving.passes()
                elif leaving.takes(seq, stage, payload, int(at_ms)):
                    continue
            elif stage == _STEP_ERROR:
                leaving.passes()
            elif stage == _TIMING:
                meta |= leaving.meta_entry
        if seq > after_seq:
            rows.append(AuditRow(seq, stage, _build_payload(event, meta, wanted, filtered), int(at_ms)))
    return rows


def encode_payloads(rows: Sequence[AuditRow], redaction: Redaction) -> tuple[Sequence[bytes], Sequence[bytes]]:
    """The masked payloads of rows as JSON texts: as stored, and as hashed."""
    stored, hashed = dump_in_order([row.payload for row in rows])
    # Nearly always there is nothing to mask: one test of everything is cheaper than one per row.
    if not redaction.touches(b"\n".join(stored).decode()):
        return stored, hashed
    return dump_in_order(
        [_redact_payload(row.stage, payload, redaction) for row, payload in zip(rows, map(loads, stored), strict=True)]
    )


def build_unstored_event(turn: Turn, conversation_id: UUID, row: AuditRow, payload: Any) -> CeAudit:
    """The event as readers get it from the table, for a turn that is not stored. `payload` is masked."""
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


def mask_payloads(rows: Sequence[AuditRow], redaction: Redaction) -> str:
    """The same as one JSON list."""
    return join_json_list(encode_payloads(rows, redaction)[0])


def join_json_list(payloads: Sequence[bytes]) -> str:
    """JSON texts as one list."""
    return f"[{b','.join(payloads).decode()}]"


def _is_admitted(event: AuditEvent, turn: Turn, wanted: AuditFilter, admits: Callable[[str, str], bool] | None) -> bool:
    if event.seq not in turn.admitted:
        is_kept = wanted.keeps(event) and (not admits or admits(turn.request.conversation_id, event.stage))
        turn.admitted[event.seq] = is_kept
    return turn.admitted[event.seq]


def _build_payload(event: AuditEvent, meta: dict[str, Any], wanted: AuditFilter, filtered: int) -> Mapping[str, Any]:
    payload = event.payload
    if filtered and event.stage == PIPELINE_TIMING:
        payload = {**payload, "auditFiltered": filtered}
    if not wanted.persist_meta:
        # Without `_meta` a reader has no state, so payloads stay complete.
        return _restore_folded(event, payload)
    return _elide_payload(event, payload, meta)


def _elide_payload(event: AuditEvent, payload: Mapping[str, Any], meta: dict[str, Any]) -> Mapping[str, Any]:
    if repeats_text(event.stage) and "key" in payload:
        payload = {**payload, "key": _drop_user_text(payload["key"], event.session.user_text)}
    if not FOLDED_KEYS.isdisjoint(payload):
        payload = {
            key: _fold_value(event, key, value) if key in FOLDED_KEYS else value for key, value in payload.items()
        }
    stored = strip_implied(event.stage, payload)
    return {**stored, "_meta": meta} if meta else stored


def _restore_folded(event: AuditEvent, payload: Mapping[str, Any]) -> Mapping[str, Any]:
    """The payload with the state instead of references."""
    if not any(value is FOLDED for value in payload.values()):
        return payload
    state = folding.build_document(event.session)
    return {key: folding.read_folded(state, key) if value is FOLDED else value for key, value in payload.items()}


def _redact_payload(stage: str, payload: dict[str, Any], redaction: Redaction) -> Any:
    """The masked payload."""
    if stage != _TIMING:
        return redaction.document(payload, STRUCTURE)
    # The durations of steps are not secret, and readers compute with them. Changes may be secret.
    meta = payload.get("_meta", {})
    numbers = {KEY: meta[KEY]} if KEY in meta else {}
    redacted = redaction.document({"_meta": meta}, STRUCTURE)["_meta"]
    return {**payload, "_meta": {**redacted, **numbers}} if meta else payload


def _drop_user_text(key: Mapping[str, Any], text: str | None) -> Mapping[str, Any]:
    """The key of a phase of rules without the user's text, which each would repeat."""
    return {name: value for name, value in key.items() if name != "userText" or value != text}


def _fold_value(event: AuditEvent, key: str, value: Any) -> Any:
    """A large part is stored as a reference to the state at this event (R33)."""
    if value is FOLDED or (value is event.session.context and key in ("context", "schemaJson")):
        return {"$folded": key}
    return {"$folded": key} if value == folding.read_folded(folding.build_document(event.session), key) else value
