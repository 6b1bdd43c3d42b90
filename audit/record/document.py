"""The events of a turn as one JSON list, which is stored verbatim in the turn's row.

An entry is `{seq, stage, step, ms, payload}`: the number, the stage, the running step, the milliseconds since the turn
began, and the payload as readers are shown it. Where there is more, the entry also has

- `session`: the whole session, at the first event; `changed`: what this event changed in it (`session_state`);
- `rows`: the configuration rows that decided something after this event, as [table, key, role];
- `calls`: the model calls after this event, with the columns of `ce_llm_call_log`.

Stored, the beginnings and ends of the steps are one list (`step_times`); readers get them as events.

An entry without a stage holds rows and calls of a turn none of whose events is stored.
"""

from bisect import bisect_left
from collections.abc import Iterable, Mapping, Sequence
from types import SimpleNamespace
from typing import NamedTuple, Self
from uuid import UUID

from audit.record import session_state
from audit.record.document_parts import encode_document
from audit.record.event_filter import AuditFilter, is_admitted, limiter
from audit.record.events import StoredEvent, list_events, read_document
from audit.record.model_calls import call_columns
from audit.record.prompt_redaction import PromptRedaction
from convengine.engine.pipeline.stages import AUDIT_EVENT_LOST, PIPELINE_TIMING
from convengine.engine.redaction import Redaction
from convengine.engine.turn.codec import dumps
from convengine.engine.turn.session import Session
from convengine.engine.turn.trail import AuditEvent
from convengine.engine.turn.turn import Turn
from convengine.json_value import Json

Entry = dict[str, Json]
#: Keys of the record itself in payloads and changes; a redacted key may have the same name deeper.
_STRUCTURE = frozenset({"set", "unset", "candidates", "operands", "key"})


class Document(NamedTuple):
    """The events of a turn, ready to be stored."""

    text: str
    entries: Sequence[Mapping[str, Json]]
    #: The sealed bytes of each part.
    parts: Sequence[bytes]
    #: Events that could not be stored, and are marked.
    lost_events: int = 0

    @classmethod
    def of(cls, entries: Sequence[Entry], lost_events: int = 0) -> Self:
        """Encode entries. Raises RecursionError, ValueError."""
        text, parts = encode_document(entries)
        return cls(text, entries, parts, lost_events)


def encode_turn(turn: Turn, after_seq: int = 0, *, limited: bool = True, continued: bool = False) -> Document:
    """The events of a turn after `after_seq`, filtered and masked.

    `limited`: the rate limit applies, as it does not to a replay. A document that is `continued` does not begin with
    the whole session.
    """
    entries = _build_entries(turn, after_seq, limited=limited, continued=continued)
    try:
        document = Document.of(entries)
    except (RecursionError, ValueError):
        document = Document.of(*_mark_lost(entries))
    redaction = Redaction.of(turn.snapshot)
    # Nearly always there is nothing to mask: one test of everything is cheaper than a walk.
    if redaction.touches(document.text):
        masked = [_mask_entry(entry, redaction) for entry in read_document(document.text)]
        document = Document.of(masked, document.lost_events)
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


def _build_entries(turn: Turn, after_seq: int, *, limited: bool, continued: bool) -> list[Entry]:
    """The entries of the stored events after `after_seq`, with rows and calls.

    `limited` and `continued`: see `encode_turn`. The events before it are filtered again, because the first entry says
    only what changed since the last stored one.
    """
    wanted = AuditFilter.of(turn.snapshot)
    everything = wanted.keeps_everything and not (limited and limiter.on)
    entries: list[Entry] = []
    filtered, session, is_first = 0, None, not continued
    for event in turn.trail.events:
        if not everything and not is_admitted(event, turn, wanted, limited=limited):
            filtered += 1
            continue
        if event.seq > after_seq:
            entries.append(_build_entry(event, session, wanted, filtered, is_first=is_first))
            is_first = False
        session = event.session
    _add_rows_and_calls(entries, turn, after_seq)
    return entries


def list_deciding_rows(entries: Iterable[Mapping[str, Json]]) -> list[tuple[str, str, str]]:
    """The rows that decided something, as (table, key, role), in order."""
    return [(table, key, role) for entry in entries if "rows" in entry for table, key, role in entry["rows"]]


def _build_entry(
    event: AuditEvent, before: Session | None, wanted: AuditFilter, filtered: int, *, is_first: bool
) -> Entry:
    """The entry of an event. `before` is the session at the last stored event, None if there is none.

    `filtered` events of the turn were not stored so far; the timing record says how many. The entry that `is_first` has
    the whole session, others its changes.
    """
    seq, stage, payload, session, step, at_ms = event
    entry = {"seq": seq, "stage": stage, "step": step, "ms": int(at_ms), "payload": payload}
    if filtered and stage == PIPELINE_TIMING:
        entry["payload"] = {**payload, "auditFiltered": filtered}
    elif wanted.persist_meta:
        entry["payload"] = session_state.refer_to_session(event)
    else:
        entry["payload"] = session_state.copy_session(event)
    if not wanted.persist_meta:
        return entry
    if is_first:
        entry["session"] = session_state.build_document(session)
    elif _is_changed(before, session) and (change := session_state.diff_sessions(before, session)):
        entry["changed"] = change
    return entry


def _is_changed(before: Session | None, session: Session) -> bool:
    return session is not before and (before is None or not before.has_same_state(session))


def _add_rows_and_calls(entries: list[Entry], turn: Turn, after_seq: int) -> None:
    """Add the deciding rows and the model calls of a turn, each to the first event after it; else to the last."""
    redaction, started = PromptRedaction.of(turn.snapshot), turn.ports.clock.now()
    rows = [("rows", seq, [row.table, row.row_pk, row.role]) for row, seq in turn.decided_rows.items()]
    calls = [
        ("calls", call.seq, {"no": number, **call_columns(call, started, redaction)})
        for number, call in enumerate(turn.model_calls, start=1)
    ]
    additions = [addition for addition in (*rows, *calls) if addition[1] > after_seq or not after_seq]
    if additions and not entries:
        entries.append({"seq": len(turn.trail.events), "stage": None, "step": None, "ms": 0, "payload": {}})
    seqs = [entry["seq"] for entry in entries]
    for name, seq, value in additions:
        entry = entries[min(bisect_left(seqs, seq), len(entries) - 1)]
        entry[name] = [*entry.get(name, ()), value]


def _mark_lost(entries: Sequence[Entry]) -> tuple[list[Entry], int]:
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
