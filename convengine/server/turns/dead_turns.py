"""Records of turns that did not commit (sessions 7, R27)."""

import uuid
from collections.abc import Mapping
from datetime import datetime
from typing import Any

from django.db import connection, transaction

from convengine.engine.pipeline.stages import ENGINE_UNKNOWN_FAILURE
from convengine.engine.steps.conversation.stages import USER_INPUT
from convengine.engine.threads.lifecycle import INTERRUPTED, RUNNING, build_event
from convengine.engine.threads.stages import SESSION_LIFECYCLE
from convengine.engine.turn.codec import load_column
from convengine.engine.turn.seal import WORDS
from convengine.server.app_interfaces import turn_log
from convengine.server.database.sql import dialect
from convengine.server.sessions.models import CeConversationHistory
from convengine.server.turns.turn_record import encode_documents, encode_words, make_seal

_DIED = "The server process ended before the turn did."


def recover_expired_lease(conversation_id: str) -> bool:
    """When the lease has expired: record the dead turn and free the lease. True if it did (R27)."""
    sql = dialect()
    with transaction.atomic(), connection.cursor() as cursor:
        # A locked row is being committed or recovered: neither may delay readers.
        lock = " FOR UPDATE SKIP LOCKED" if sql.vendor == "postgresql" else ""
        cursor.execute(
            f"""SELECT lease_info, context_epoch, intent_code, state_code, lease_interrupted_by IS NOT NULL,
                       {sql.now()}, chain_head
                  FROM ce_conversation
                 WHERE conversation_id = %s AND lease_token IS NOT NULL AND lease_expires_at < {sql.now()}{lock}""",
            [sql.uuid_param(conversation_id)],
        )
        row = cursor.fetchone()
        if row is None:
            return False
        info, epoch, intent, state, marked, now, head = row
        _append_events(conversation_id, load_column(info) or {}, sql.read_time(now), bool(marked))
        new_head = _insert_turn_record(
            conversation_id, load_column(info) or {}, (epoch, intent, state), sql.read_time(now), head
        )
        cursor.execute(
            "UPDATE ce_conversation SET chain_head = %s, lease_token = NULL, lease_expires_at = NULL, "
            "lease_info = NULL, lease_interrupted_by = NULL "
            "WHERE conversation_id = %s",
            [new_head, sql.uuid_param(conversation_id)],
        )
        return True


def _read_lease_info(info: Mapping[str, Any]) -> tuple[uuid.UUID, int, int]:
    """Id, number and configuration of the turn of a lease."""
    version = int(str(info.get("head", "0")).split(":")[0] or 0)
    return uuid.UUID(info["turnId"]), int(info["turnNo"]), version


def _append_events(conversation_id: str, info: Mapping[str, Any], now: datetime, marked: bool) -> None:
    """The events of that turn, if they were written step by step. Otherwise only the failure is added, and the
    interruption if a newer message had `marked` the turn before it died. Needs an open transaction.
    """
    turn_id, turn_no, version = _read_lease_info(info)
    turn_log().append(
        conversation_id,
        turn_id,
        turn_no,
        version,
        now,
        [
            (USER_INPUT, {"text": info.get("userText"), "inputParamKeys": info.get("inputParamNames")}),
            (ENGINE_UNKNOWN_FAILURE, {"reason": "LEASE_EXPIRED", "message": _DIED, "recoverable": True}),
            *([(SESSION_LIFECYCLE, build_event(RUNNING, INTERRUPTED, "interrupted", turn_no))] if marked else []),
        ],
    )


def _insert_turn_record(
    conversation_id: str, info: Mapping[str, Any], stood: tuple[int, str, str], now: datetime, previous: bytes | None
) -> bytes:
    """Write the FAILED record of a turn whose process died, from its lease and from the epoch, intent and state at
    which the session `stood`; returns the hash of its seal. Needs an open transaction.
    """
    turn_id, turn_no, version = _read_lease_info(info)
    epoch, intent, state = stood
    record: dict[str, Any] = {
        "conversation_id": uuid.UUID(conversation_id),
        "user_input": info.get("userText"),
        "created_at": now,
        "turn_id": turn_id,
        "turn_no": turn_no,
        "context_epoch": epoch,
        "status": "FAILED",
        "source": "TURN",
        "error_code": "LEASE_EXPIRED",
        "error_message": _DIED,
        "intent_code": intent,
        "state_code": state,
        "config_version": version,
        "replayable": False,
        "replay_note": "The turn died before its recording was written.",
    }
    nothing: dict[str, Any] = {"assistant_output": None, "facts": None, "recording": None, "duration_ms": None}
    whole = {**record, **nothing, "audit_incomplete": False}
    last_seq, pieces = turn_log().pieces(conversation_id, turn_id, turn_no)
    words = encode_words(whole, encode_documents(whole))
    seal = make_seal(previous and bytes(previous), whole, last_seq, {**pieces, WORDS: words})
    meta = {"inputParamNames": info.get("inputParamNames"), "worker": info.get("worker")}
    CeConversationHistory.objects.create(**record, modified_at=now, request_meta=meta, chain=seal.data)
    return seal.hash
