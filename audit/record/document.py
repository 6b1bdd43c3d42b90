"""The events of a turn as one JSON list, which is stored verbatim in the turn's row.

An entry is `{seq, stage, step, ms, payload}`: the number, the stage, the running step, the milliseconds since the turn
began, and the payload as readers are shown it. Where there is more, the entry also has

- `session`: the whole session, at the first event; `changed`: what this event changed in it (`session_state`);
- `rows`: the configuration rows that decided something after this event, as [table, key, role];
- `calls`: the model calls after this event, with the columns of `ce_llm_call_log`.

Stored, the beginnings and ends of the steps are one list (`step_times`); readers get them as events.

An entry without a stage holds rows and calls of a turn none of whose events is stored.

The recording options of the release and the rate limit of the deployment say which events are stored; evidence always
is.
"""

import threading
import time
from bisect import bisect_left
from collections import OrderedDict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from fnmatch import fnmatchcase
from types import SimpleNamespace
from typing import Any, NamedTuple, Self
from uuid import UUID

from audit.record import session_state
from audit.record.document_parts import encode_document
from audit.record.events import StoredEvent, list_events, read_document
from audit.record.model_calls import call_columns
from audit.record.prompts import PromptRedaction
from audit.record.step_times import StepList, fold_steps
from convengine.engine.pipeline.stages import AUDIT_EVENT_LOST, PIPELINE_TIMING, STEP_ENTER, STEP_EXIT
from convengine.engine.redaction import Redaction
from convengine.engine.stages import ALWAYS_RECORDED, base_name
from convengine.engine.turn import audit_settings as catalogue
from convengine.engine.turn import live_settings
from convengine.engine.turn.codec import dumps
from convengine.engine.turn.session import Session
from convengine.engine.turn.snapshot import Snapshot
from convengine.engine.turn.stage import is_error
from convengine.engine.turn.trail import AuditEvent
from convengine.engine.turn.turn import Turn
from convengine.json_value import Json
from convengine.server.deployment import conf


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
            """Read the options; names and patterns in upper case."""

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
        return self.level == "ALL" and not (
            self.include_stages or self.exclude_stages or self.include_intents or self.exclude_intents
        )

    def keeps(self, event: AuditEvent) -> bool:
        """True when the event is stored: for evidence, or when level and patterns of stages and intents admit it."""
        if self.keeps_everything or base_name(event.stage) in ALWAYS_RECORDED:
            return True
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
    """Counts the events of a time window: by conversation, by stage, by both, or all together."""

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._lock = threading.Lock()
        #: (window number, events so far) by bucket; the oldest bucket is dropped when there are too many.
        self._buckets: OrderedDict[tuple[str, str], tuple[int, int]] = OrderedDict()

    @property
    def on(self) -> bool:
        return bool(conf.get("AUDIT_RATE_LIMIT"))

    def admits(self, conversation_id: str, stage: str) -> bool:
        """Count an event. True when it is within the limit; always for stages that are always written."""
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


def is_admitted(event: AuditEvent, turn: Turn, wanted: AuditFilter, *, limited: bool = True) -> bool:
    """True when an event is stored. The rate limit counts each event once, however often the turn is stored.

    Without `limited`, as in a replay, there is no rate limit.
    """
    if event.seq not in turn.admitted:
        unlimited = not limited or not limiter.on
        turn.admitted[event.seq] = wanted.keeps(event) and (
            unlimited or limiter.admits(event.session.conversation_id, event.stage)
        )
    return turn.admitted[event.seq]


Entry = dict[str, Json]
#: Keys of the record itself in payloads and changes; a redacted key may have the same name deeper.
_STRUCTURE = frozenset({"set", "unset", "candidates", "operands", "key"})


class TurnDocument(NamedTuple):
    """The events of a turn, ready to be stored."""

    text: str
    entries: Sequence[Mapping[str, Json]]
    #: The sealed bytes of each part.
    parts: Sequence[bytes]
    #: Events that could not be stored, and are marked.
    lost_events: int = 0

    @classmethod
    def of(cls, entries: Sequence[Mapping[str, Json]], lost_events: int = 0) -> Self:
        """Encode entries as they are stored, with their steps as one list. Raises RecursionError, ValueError."""
        text, parts = encode_document(entries)
        return cls(text, entries, parts, lost_events)


def encode_turn(turn: Turn, after_seq: int = 0, *, limited: bool = True, continued: bool = False) -> TurnDocument:
    """The events of a turn after `after_seq`, filtered and masked.

    `limited`: the rate limit applies. A document that is `continued` does not begin with the whole session.
    """
    entries = _build_entries(turn, after_seq, limited=limited, continued=continued)
    try:
        document = TurnDocument.of(entries)
    except (RecursionError, ValueError):
        document = TurnDocument.of(*_mark_lost(entries))
    redaction = Redaction.of(turn.snapshot)
    # Nearly always there is nothing to mask: one test of everything is cheaper than a walk.
    if redaction.touches(document.text):
        masked = [_mask_entry(entry, redaction) for entry in read_document(document.text)]
        document = TurnDocument.of(fold_steps(masked), document.lost_events)
    return document


def list_unstored_events(turn: Turn) -> list[StoredEvent]:
    """The events of a turn that is replayed or tried, as readers would get them if it were stored."""
    last = turn.trail.events[-1].session
    row = SimpleNamespace(
        conversation_id=UUID(last.conversation_id),
        turn_id=UUID(turn.turn_id),
        turn_no=last.turn_no,
        config_version=turn.snapshot.config_version,
        created_at=turn.ports.clock.now(),
    )
    return list(list_events(row, read_document(encode_turn(turn, limited=False).text)))


def _build_entries(turn: Turn, after_seq: int, *, limited: bool, continued: bool) -> list[Mapping[str, Json]]:
    """The entries of the stored events after `after_seq`, with rows and calls.

    `limited` and `continued`: see `encode_turn`. The events before it are filtered again, because the first entry says
    only what changed since the last stored one.
    """
    wanted = AuditFilter.of(turn.snapshot)
    additions = _list_rows_and_calls(turn, after_seq)
    holding = {seq for _, seq, _ in additions}
    entries, steps = list[Entry](), StepList()
    session, is_first = None, not continued
    for event, filtered in _iterate_stored(turn, wanted, limited=limited):
        if event.seq > after_seq:
            more = _build_state(event, session, is_first=is_first) if wanted.persist_meta else {}
            # Nearly every beginning and end of a step says nothing else: two thirds of the events.
            holds_more = bool(more) or event.seq in holding
            if holds_more or not steps.add(event.seq, event.stage, event.step, int(event.at_ms), event.payload):
                entries.append(_build_entry(event, wanted, filtered) | more)
            is_first = False
        session = event.session
    # Each addition goes to the first entry that does not come before it, else to the last.
    if additions and not entries:
        entries.append({"seq": len(turn.trail.events), "stage": None, "step": None, "ms": 0, "payload": {}})
    seqs = [entry["seq"] for entry in entries]
    for name, seq, value in additions:
        entry = entries[min(bisect_left(seqs, seq), len(entries) - 1)]
        entry[name] = [*entry.get(name, ()), value]
    return steps.put_before(entries)


def list_deciding_rows(entries: Iterable[Mapping[str, Json]]) -> list[tuple[str, str, str]]:
    """The rows that decided something, as (table, key, role), in order."""
    return [(table, key, role) for entry in entries if "rows" in entry for table, key, role in entry["rows"]]


def _build_entry(event: AuditEvent, wanted: AuditFilter, filtered: int) -> Entry:
    """The entry of an event, without its session.

    `filtered` events of the turn were not stored so far; the timing record says how many.
    """
    seq, stage, payload, _, step, at_ms = event
    if filtered and stage == PIPELINE_TIMING:
        payload = {**payload, "auditFiltered": filtered}
    else:
        payload = (session_state.refer_to_session if wanted.persist_meta else session_state.copy_session)(event)
    return {"seq": seq, "stage": stage, "step": step, "ms": int(at_ms), "payload": payload}


def _build_state(event: AuditEvent, before: Session | None, *, is_first: bool) -> Entry:
    """What an entry holds of the session: all of it in the first entry, in others what changed since `before`.

    `before` is the session at the last stored event, None for the first. Empty if nothing changed.
    """
    if is_first:
        return {"session": session_state.build_document(event.session)}
    if event.session is before or (before is not None and before.has_same_state(event.session)):
        return {}
    change = session_state.diff_sessions(before, event.session)
    return {"changed": change} if change else {}


def _iterate_stored(turn: Turn, wanted: AuditFilter, *, limited: bool) -> Iterator[tuple[AuditEvent, int]]:
    everything, filtered = wanted.keeps_everything and not (limited and limiter.on), 0
    for event in turn.trail.events:
        if everything or is_admitted(event, turn, wanted, limited=limited):
            yield event, filtered
        else:
            filtered += 1


def _list_rows_and_calls(turn: Turn, after_seq: int) -> list[tuple[str, int, Json]]:
    """The deciding rows and the model calls of a turn: the key of each, the last event before it, and its value."""
    redaction, started = PromptRedaction.of(turn.snapshot), turn.ports.clock.now()
    rows = [("rows", seq, [row.table, row.row_pk, row.role]) for row, seq in turn.decided_rows.items()]
    calls = [
        ("calls", call.seq, {"no": number, **call_columns(call, started, redaction)})
        for number, call in enumerate(turn.model_calls, start=1)
    ]
    return [addition for addition in (*rows, *calls) if addition[1] > after_seq or not after_seq]


def _mark_lost(entries: Sequence[Mapping[str, Json]]) -> tuple[list[Mapping[str, Json]], int]:
    """The entries, with a marker in place of each event that cannot be encoded, and how many these are."""
    encodable, lost_count = [], 0
    for entry in entries:
        try:
            dumps(entry)
            encodable.append(entry)
        except (RecursionError, ValueError) as refused:
            marker = {"stage": entry["stage"], "reason": str(refused).split("\n")[0], "bytes": None}
            encodable.append({**entry, "stage": str(AUDIT_EVENT_LOST), "payload": marker})
            lost_count += 1
    return encodable, lost_count


def _mask_entry(entry: Entry, redaction: Redaction) -> Entry:
    """An entry with masks in its payload and its session. Rows and calls stay: calls have masks of their own."""
    masked = dict(entry)
    # The durations of steps are not secret, and readers compute with them.
    if entry["stage"] != PIPELINE_TIMING:
        masked["payload"] = redaction.document(entry["payload"], _STRUCTURE)
    if "changed" in entry:
        masked["changed"] = redaction.document(entry["changed"], _STRUCTURE)
    if "session" in entry:
        # The names of the session's parts are the product's own.
        parts = ((name, redaction.document({name: value})) for name, value in entry["session"].items())
        masked["session"] = {name: next(iter(part.values())) for name, part in parts}
    return masked
