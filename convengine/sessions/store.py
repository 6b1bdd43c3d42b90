"""Reading and writing a conversation around its turn, in few statements (R78)."""

import uuid
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from django.db import connection

from convengine.codec import dumps, in_order, loaded
from convengine.domain import settings
from convengine.domain.catalogue.memory import ENABLED as MEMORY_ENABLED
from convengine.domain.catalogue.memory import HISTORY_MAX_TURNS
from convengine.domain.conversation import Loaded
from convengine.domain.enums import TurnStatus
from convengine.domain.params import facts_of_turn, persistent
from convengine.domain.payload import spoken
from convengine.domain.session import Exchange, Session
from convengine.domain.snapshot import Snapshot
from convengine.domain.turn import Turn, TurnRequest
from convengine.errors import ConvEngineError
from convengine.rules.redacting import Redaction
from convengine.sessions.lease import Lease
from convengine.sessions.memory import recall
from convengine.sessions.sealing import sealed_turn
from convengine.sessions.sql import dialect
from convengine.sessions.writes import Write

#: Columns of a turn record whose values stand in the statement.
_LITERAL = frozenset({"status", "source", "audit_incomplete", "replayable"})
#: The newest committed turns of an epoch.
_HISTORY = """
    SELECT user_input, assistant_output FROM ce_conversation_history
     WHERE conversation_id = %s AND status = 'OK' AND context_epoch = %s
     ORDER BY turn_no DESC LIMIT %s"""


@dataclass
class LiveConversations:
    """The conversations port on the database. Reads once; a turn asks as often as it likes."""

    lease: Lease
    request: TurnRequest
    snapshot: Snapshot
    _loaded: Loaded | None = field(default=None, repr=False)

    def load(self) -> Loaded:
        """The conversation as the lease read it, and its recent history, oldest first."""
        if self._loaded is None:
            self._loaded = Loaded(
                self.lease.conversation,
                self._history(),
                self.lease.previous_turn,
                self._recalled(),
                self.lease.created,
            )
        return self._loaded

    def store(self) -> None:
        """The lease made the row; without a row there would be no lease to run on."""

    def _recalled(self) -> str | None:
        """What an earlier session left, looked for until a turn of this one is committed, and keeps it (R78)."""
        if self.lease.conversation.turn_count or not settings.read(self.snapshot, MEMORY_ENABLED).value:
            return None
        return recall(self.lease.conversation)

    def _history(self) -> tuple[Exchange, ...]:
        """The recent turns; rows with a blank side are no history (R61)."""
        return tuple(
            [
                Exchange(user, said)
                for user, answer in reversed(self._past())
                if user and user.strip() and (said := spoken(answer))
            ]
        )

    def _past(self) -> Sequence[tuple[str | None, Any]]:
        limit = settings.read(self.snapshot, HISTORY_MAX_TURNS).value
        if limit <= self.lease.past_limit:
            return self.lease.past[:limit]
        # The limit was raised since this process pinned a release: the lease did not read that far.
        row = self.lease.conversation
        with connection.cursor() as cursor:
            cursor.execute(_HISTORY, [dialect().uuid(row.conversation_id), row.context_epoch, limit])
            return [(user, loaded(answer)) for user, answer in cursor.fetchall()]


@dataclass(frozen=True)
class TurnRecord:
    """The row of `ce_conversation_history` that a turn leaves."""

    status: TurnStatus
    session: Session
    #: Null for a turn that cannot be run again.
    recording: bytes | None
    replayable: bool = True
    replay_note: str | None = None
    error: ConvEngineError | None = None
    audit_incomplete: bool = False
    #: TURN, or EXTERNAL for a turn handled elsewhere.
    source: str = "TURN"


def conversation_written(lease: Lease, session: Session, head: bytes, *, whatever_came: bool = False) -> Write:
    """The conversation row after the turn; it gives the lease back. `head` is the hash of the turn's seal.

    It meets no row when the lease was lost, the row changed under the turn or was deleted, or a newer message
    interrupted the turn; with `whatever_came` that does not count (R29).
    """
    here, before = dialect(), lease.conversation
    rare: dict[str, Any] = {"status = %s": session.status} if session.status != before.status else {}
    if session.preferences != before.preferences:
        rare[f"preferences = {here.json}"] = dumps(session.preferences)
    if session.mounted_kb_id != before.mounted_kb_id:
        rare["mounted_kb_id = %s"] = session.mounted_kb_id
    stands = (session.lifecycle, session.lifecycle_detail)
    if whatever_came or stands != (before.lifecycle, before.lifecycle_detail):
        rare |= {"lifecycle = %s": session.lifecycle, f"lifecycle_detail = {here.json}": dumps(stands[1])}
    unless = "" if whatever_came else " AND lease_interrupted_by IS NULL"
    return Write(
        f"""UPDATE ce_conversation
SET intent_code = %s, state_code = %s, context_json = {here.json}, input_params_json = {here.json}, last_user_text = %s,
    last_assistant_json = {here.json}, context_epoch = %s, context_summary = %s, {"".join(f"{one}, " for one in rare)}
    updated_at = {here.now()}, version = version + 1, turn_count = turn_count + 1, chain_head = %s,
    lease_token = NULL, lease_expires_at = NULL, lease_info = NULL, lease_interrupted_by = NULL
WHERE conversation_id = %s AND lease_token = %s AND version = %s{unless}""",
        [
            session.intent or "UNKNOWN",
            session.state or "UNKNOWN",
            dumps(session.context),
            dumps(persistent(session.input_params)),
            session.user_text,
            dumps(session.last_assistant),
            session.epoch,
            session.context_summary,
            *rare.values(),
            head,
            here.uuid(session.conversation_id),
            here.uuid(lease.token),
            before.version,
        ],
        must=True,
    )


def released(lease: Lease, session: Session, head: bytes) -> Write:
    """The lease given back after a failed turn; it meets no row when the lease was lost.

    The conversation stays as it was, but for a reset: the user asked to be freed from the old state (RST-7).
    """
    here = dialect()
    reset = ""
    params: list[Any] = []
    if session.reset_reason:
        reset = (
            "status = 'RUNNING', intent_code = 'UNKNOWN', state_code = 'UNKNOWN', context_json = '{}', "
            f"input_params_json = '{{}}', last_assistant_json = NULL, context_epoch = %s, updated_at = {here.now()}, "
            "version = version + 1, "
        )
        params.append(session.epoch)
    return Write(
        f"UPDATE ce_conversation SET {reset}chain_head = %s, lease_token = NULL, lease_expires_at = NULL, "
        "lease_info = NULL, lease_interrupted_by = NULL "
        "WHERE conversation_id = %s AND lease_token = %s",
        [*params, head, here.uuid(session.conversation_id), here.uuid(lease.token)],
        must=True,
    )


def headed(conversation_id: str, head: bytes) -> Write:
    """The row with the hash of its newest seal, where that was not known when the rest was written."""
    here = dialect()
    sql = "UPDATE ce_conversation SET chain_head = %s WHERE conversation_id = %s"
    return Write(sql, [head, here.uuid(conversation_id)], must=True)


def recorded(turn: Turn, record: TurnRecord, previous: bytes | None) -> tuple[Write, bytes]:
    """The turn record, which is also the history row (R17), and the hash of its seal, which holds `previous`."""
    here, session = dialect(), record.session
    error, now, redaction = record.error, turn.ports.clock.now(), Redaction.of(turn.snapshot)
    answer = None if error else session.last_assistant
    values: dict[str, Any] = {
        "conversation_id": uuid.UUID(session.conversation_id),
        "user_input": session.user_text,
        "created_at": now,
        "turn_id": uuid.UUID(turn.turn_id),
        "turn_no": turn.turn_no,
        "context_epoch": session.epoch,
        "intent_code": session.intent or "UNKNOWN",
        "state_code": session.state or "UNKNOWN",
        "config_version": turn.snapshot.config_version,
        "duration_ms": int(turn.ports.clock.elapsed_ms()),
        "recording": record.recording,
        "error_code": error.code if error else None,
        "error_message": redaction.text(error.message) if error else None,
        "replay_note": record.replay_note,
        "status": record.status.value,
        "source": record.source,
        "audit_incomplete": record.audit_incomplete,
        "replayable": record.replayable,
    }
    (spoken_as, facts), hashed = in_order([answer, redaction.values(facts_of_turn(session.input_params))])
    seal = sealed_turn(previous, values, hashed, turn.batches)
    params = {
        **{name: value for name, value in values.items() if value is not None and name not in _LITERAL},
        "conversation_id": here.uuid(values["conversation_id"]),
        "created_at": here.time(now),
        "turn_id": here.uuid(values["turn_id"]),
        "chain": seal.data,
    }
    documents = {"facts": facts.decode(), **({} if error else {"assistant_output": spoken_as.decode()})}
    said = {
        "status": f"'{record.status.value}'",
        "source": f"'{record.source}'",
        "modified_at": here.now(),
        "audit_incomplete": here.flag(record.audit_incomplete),
        "replayable": here.flag(record.replayable),
    }
    places = [*["%s"] * len(params), *[here.json] * len(documents), *said.values()]
    insert = Write(
        f"INSERT INTO ce_conversation_history ({', '.join([*params, *documents, *said])}) VALUES ({', '.join(places)})",
        [*params.values(), *documents.values()],
    )
    return insert, seal.hash


def new_id() -> str:
    """The id of a conversation that the caller did not name."""
    return str(uuid.uuid4())
