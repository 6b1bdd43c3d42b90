"""The record of a turn, which is also the history row (R17), its seal, and its recording.

Checks compute the seal again from stored data. The recording holds everything that the turn read and was answered:
enough to run it again (R32, law 3).
"""

import os
import uuid
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Any, NamedTuple

import orjson

from convengine.engine.errors import ConvEngineError
from convengine.engine.redaction import Redaction
from convengine.engine.text.compare import storable
from convengine.engine.turn.codec import compress, decompress, dump_in_order, dumps, loads
from convengine.engine.turn.conversation import Conversation, Loaded
from convengine.engine.turn.enums import TurnStatus
from convengine.engine.turn.params import select_turn_facts
from convengine.engine.turn.recording import Recording
from convengine.engine.turn.seal import GENESIS, SALT, WORDS, Batch, Pieces, Seal, collect_pieces
from convengine.engine.turn.session import Exchange, Session
from convengine.engine.turn.turn import Turn, TurnRequest
from convengine.server.database.sql import Statement, dialect

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
    literals = {
        "status": f"'{record.status.value}'",
        "source": f"'{record.source}'",
        "modified_at": sql.now(),
        "audit_incomplete": sql.boolean_literal(record.audit_incomplete),
        "replayable": sql.boolean_literal(record.replayable),
    }
    values_sql = [*["%s"] * len(params), *[sql.json] * len(documents), *literals.values()]
    insert = Statement(
        f"INSERT INTO ce_conversation_history ({', '.join([*params, *documents, *literals])}) "
        f"VALUES ({', '.join(values_sql)})",
        [*params.values(), *documents.values()],
    )
    return insert, seal.hash


_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_MICROSECOND = timedelta(microseconds=1)
#: Columns of a turn record that stay after an erasure. Not included: `modified_at`, which the database sets, and the
#: explainability log, which is trimmed.
FRAME = (
    *("conversation_id", "turn_id", "turn_no", "created_at", "status", "source", "error_code", "intent_code"),
    *("state_code", "config_version", "duration_ms", "context_epoch", "replayable", "audit_incomplete"),
)
#: Columns with words of the turn. Documents are hashed as any database returns them.
SAID = ("user_input", "error_message", "replay_note")
DOCUMENTS = ("assistant_output", "facts")


class NewSeal(NamedTuple):
    """A stored seal, and its hash for the next one."""

    data: bytes
    hash: bytes


def encode_frame(record: Mapping[str, Any]) -> bytes:
    """The permanent part of a turn record as bytes, by column name."""
    return orjson.dumps([_plain(record[name]) for name in FRAME])


def encode_words(record: Mapping[str, Any], documents: Sequence[bytes]) -> list[bytes]:
    """The words of the turn, in pieces; `documents` are DOCUMENTS in hashed form."""
    columns = [(name, orjson.dumps(_plain(record.get(name)))) for name in SAID]
    known = [*columns, *zip(DOCUMENTS, documents, strict=True)]
    # The last piece may contain line breaks.
    return [*(b"%b %b" % (name.encode(), text) for name, text in known), b"recording " + (record["recording"] or b"")]


def make_seal(previous: bytes | None, record: Mapping[str, Any], last_seq: int, pieces: Pieces) -> NewSeal:
    """A new seal over a turn record and the turn's other data; `pieces` includes the record's words."""
    seal = Seal.create(previous or GENESIS, last_seq, pieces, os.urandom(SALT))
    return NewSeal(seal.to_bytes(), seal.hash(encode_frame(record)))


def make_turn_seal(
    previous: bytes | None, record: Mapping[str, Any], documents: Sequence[bytes], batches: Iterable[Batch]
) -> NewSeal:
    """The seal of a turn that was stored in these batches."""
    last_seq, pieces = collect_pieces(batches)
    return make_seal(previous, record, last_seq, {**pieces, WORDS: encode_words(record, documents)})


def encode_documents(record: Mapping[str, Any]) -> Sequence[bytes]:
    """DOCUMENTS of a stored record in hashed form."""
    return dump_in_order([record[name] for name in DOCUMENTS])[1]


def _plain(value: Any) -> Any:
    if isinstance(value, str):
        return storable(value)
    if isinstance(value, datetime):
        return (value - _EPOCH) // _MICROSECOND
    return str(value) if isinstance(value, uuid.UUID) else value


_FORMAT = 1
#: Common text of recordings. Never changed: a recording is read with the text that it was written with.
_WORDS = (
    b'"dialogue_act_guard_applied":false,"dialogue_act_regex_confidence":0.7,"resolved_user_input":"","awaiting":"FORM",'
    b'"collected":{},"action_key":"","status":"OPEN","DERIVED","TEMPLATE","JSON","tool","task","container","memory_store",'
    b'{"format":1,"turn":{"id":"","no":1,"configVersion":1,"now":"2026-01-01T00:00:00.000000+00:00"},"request":{'
    b'"conversation_id":"","message":"","input_params":{},"ignored_params":[],"channel":"api","workspace_id":"default",'
    b'"new":false},"loaded":{"conversation":{"conversation_id":"","workspace_id":"default","channel":"api",'
    b'"remote_jid":"","status":"RUNNING","intent_code":"UNKNOWN","state_code":"IDLE","context_json":{"mcp":{"previous":{'
    b'"error":false,"status":"NO_TOOLS_FOR_SCOPE","turnId":"","outcome":"NO_TOOLS","lastToolCode":null},"lifecycle":{'
    b'"error":false,"phase":"POST_AGENT_MCP","status":"NO_TOOLS_FOR_SCOPE","turnId":"","blocked":false,'
    b'"outcome":"NO_TOOLS","finished":true,"toolExecuted":false}},"memory":{"session_summary":"intent=UNKNOWN, '
    b'state=IDLE, user=, recentTurns=[{u=,a=}, {u=,a=}], response="},"intent_lock":{"locked":false,"reason":null},'
    b'"pending_clarification":{"reason":null,"question":null}},"input_params_json":{},"last_user_text":"",'
    b'"last_assistant_json":{"type":"TEXT","value":""},"version":1,"turn_count":1,"context_epoch":0,'
    b'"lifecycle":"RUNNING","lifecycle_detail":{},"context_summary":"GOAL: \\nENTITIES: none\\nDECISIONS: none\\n'
    b'PENDING: none\\nTURNS: ","preferences":{},"mounted_kb_id":null,"created_at":"2026-01-01T00:00:00.000000+00:00"},'
    b'"history":[["",""],["",""]],"previous_turn":{"mcp_status":"NO_TOOLS_FOR_SCOPE",'
    b'"rule_phase":"PRE_RESPONSE_RESOLUTION","dialogue_act":"QUESTION","policy_decision":"RECLASSIFY_INTENT",'
    b'"post_intent_rule":false,"routing_decision":"CONTINUE_STANDARD_FLOW","guardrail_blocked":false,'
    b'"correction_applied":false,"dialogue_act_regex":"QUESTION","intent_resolved_by":"CLASSIFIER",'
    b'"dialogue_act_source":"REGEX","resolved_user_input":"","rule_agent_post_mcp":false,"sanitized_user_text":"",'
    b'"rule_execution_origin":"RULES_STEP","rule_execution_source":"RulesStep","rule_agent_post_intent":false,'
    b'"skip_intent_resolution":false,"skip_schema_extraction":false,"dialogue_act_confidence":0.7,'
    b'"rule_tool_post_execution":false,"dialogue_act_guard_applied":false,"dialogue_act_regex_confidence":0.7},'
    b'"memory_recall":null,"created":false},"tape":[["memory.read",null,{"text":null,"stores":[],"faults":[]}],'
    b'["model.configured",null,false],["transform","LLM",{"payload":null,"transformer":null,"errorType":null,'
    b'"errorMessage":null}],["transform","FINAL",{"payload":null,"transformer":null,"errorType":null,'
    b'"errorMessage":null}],["memory.write",null,{"text":null,"stores":[],"faults":[]}]]}'
)


@dataclass(frozen=True)
class StoredRecording:
    """A parsed recording."""

    turn_id: str
    turn_no: int
    config_version: int
    now: datetime
    request: TurnRequest
    loaded: Loaded
    tape: list[list[Any]]


def write_recording(turn: Turn, tape: Recording, redaction: Redaction) -> tuple[bytes, str | None]:
    """The turn's recording as compressed bytes, and why it cannot be replayed, if something was redacted."""
    request, turn_no = turn.start
    loaded = turn.ports.conversations.load()
    document = {
        "format": _FORMAT,
        "turn": {
            "id": turn.turn_id,
            "no": turn_no,
            "configVersion": turn.snapshot.config_version,
            "now": turn.ports.clock.now().isoformat(),
        },
        "request": request,
        # Other sequences than lists cost a Python call each.
        "loaded": {**vars(loaded), "history": list(map(list, loaded.history))},
        "tape": tape.entries,
    }
    text = dumps(document)
    if not redaction.touches(text):
        return compress(text, _WORDS), None
    masked = redaction.document(loads(text))
    note = None if masked == loads(text) else "Redaction masked a part of what the turn read or was answered."
    return compress(dumps(masked), _WORDS), note


def read_recording(data: bytes | memoryview) -> StoredRecording:
    """Parse a recording. Raises ValueError for another format."""
    document = decompress(data, _WORDS)
    if document.get("format") != _FORMAT:
        raise ValueError(f"This recording has format {document.get('format')!r}; this version reads {_FORMAT}.")
    turn, request, loaded = document["turn"], document["request"], document["loaded"]
    row = loaded["conversation"]
    if row.get("created_at"):
        row["created_at"] = datetime.fromisoformat(row["created_at"])
    return StoredRecording(
        turn["id"],
        turn["no"],
        turn["configVersion"],
        datetime.fromisoformat(turn["now"]),
        TurnRequest(**{**request, "ignored_params": tuple(request["ignored_params"])}),
        Loaded(
            Conversation(**row),
            tuple(Exchange(*(past.values() if isinstance(past, dict) else past)) for past in loaded["history"]),
            loaded["previous_turn"],
            loaded["memory_recall"],
            loaded["created"],
        ),
        document["tape"],
    )
