"""The record of a turn, which is also the history row (R17)."""

import uuid
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from convengine.engine.errors import ConvEngineError
from convengine.engine.rules.redaction import Redaction
from convengine.engine.turn.codec import dump_in_order
from convengine.engine.turn.enums import TurnStatus
from convengine.engine.turn.params import select_turn_facts
from convengine.engine.turn.seal import Batch
from convengine.engine.turn.session import Session
from convengine.engine.turn.turn import Turn
from convengine.server.database.dialect import dialect
from convengine.server.database.statements import Statement
from convengine.server.turns.sealing import make_turn_seal

#: Columns of a turn record whose values are literals in the statement.
_LITERAL = frozenset({"status", "source", "audit_incomplete", "replayable"})


@dataclass(frozen=True)
class TurnRecord:
    """The row of `ce_conversation_history` for a turn."""

    status: TurnStatus
    session: Session
    #: Null for a turn that cannot be replayed.
    recording: bytes | None
    replayable: bool = True
    replay_note: str | None = None
    error: ConvEngineError | None = None
    audit_incomplete: bool = False
    #: TURN, or EXTERNAL for a turn handled elsewhere.
    source: str = "TURN"


def insert_turn_stmt(
    turn: Turn, record: TurnRecord, previous: bytes | None, batches: Sequence[Batch]
) -> tuple[Statement, bytes]:
    """The turn record, which is also the history row, and the hash of its seal (R17).

    The seal covers the record, the `batches` in which the log stored the turn, and `previous`, the seal before it.
    """
    sql, session = dialect(), record.session
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
    (spoken_as, facts), hashed = dump_in_order([answer, redaction.values(select_turn_facts(session.input_params))])
    seal = make_turn_seal(previous, values, hashed, batches)
    params = {
        **{name: value for name, value in values.items() if value is not None and name not in _LITERAL},
        "conversation_id": sql.uuid_param(values["conversation_id"]),
        "created_at": sql.time_param(now),
        "turn_id": sql.uuid_param(values["turn_id"]),
        "chain": seal.data,
    }
    documents = {"facts": facts.decode(), **({} if error else {"assistant_output": spoken_as.decode()})}
    said = {
        "status": f"'{record.status.value}'",
        "source": f"'{record.source}'",
        "modified_at": sql.now(),
        "audit_incomplete": sql.boolean_literal(record.audit_incomplete),
        "replayable": sql.boolean_literal(record.replayable),
    }
    places = [*["%s"] * len(params), *[sql.json] * len(documents), *said.values()]
    insert = Statement(
        f"INSERT INTO ce_conversation_history ({', '.join([*params, *documents, *said])}) VALUES ({', '.join(places)})",
        [*params.values(), *documents.values()],
    )
    return insert, seal.hash
