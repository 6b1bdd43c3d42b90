"""Turns that did not commit: what is kept of them (sessions 7, R27)."""

import uuid
from collections.abc import Mapping
from datetime import datetime
from typing import Any

from django.db import connection, transaction

from convengine import conf
from convengine.codec import loaded
from convengine.continuity.lifecycle import INTERRUPTED, RUNNING, event
from convengine.domain.chain import WORDS
from convengine.domain.stages import Stage
from convengine.sessions.models import CeConversationHistory
from convengine.sessions.sealing import documents_of, sealed, words
from convengine.sessions.sql import dialect

_DIED = "The process that ran this turn ended before the turn did."


def bury(conversation_id: str) -> bool:
    """When the lease has run out: record the dead turn and free the lease (R27). True when that was so."""
    here = dialect()
    with transaction.atomic(), connection.cursor() as cursor:
        # A row that is locked is being committed or buried: neither may hold up who only looks.
        lock = " FOR UPDATE SKIP LOCKED" if here.vendor == "postgresql" else ""
        cursor.execute(
            f"""SELECT lease_info, context_epoch, intent_code, state_code, lease_interrupted_by IS NOT NULL,
                       {here.now()}, chain_head
                  FROM ce_conversation
                 WHERE conversation_id = %s AND lease_token IS NOT NULL AND lease_expires_at < {here.now()}{lock}""",
            [here.uuid(conversation_id)],
        )
        row = cursor.fetchone()
        if row is None:
            return False
        info, epoch, intent, state, marked, now, head = row
        _events_of_dead_turn(conversation_id, loaded(info) or {}, here.read_time(now), bool(marked))
        left = _record_dead_turn(conversation_id, loaded(info) or {}, (epoch, intent, state), here.read_time(now), head)
        cursor.execute(
            "UPDATE ce_conversation SET chain_head = %s, lease_token = NULL, lease_expires_at = NULL, "
            "lease_info = NULL, lease_interrupted_by = NULL "
            "WHERE conversation_id = %s",
            [left, here.uuid(conversation_id)],
        )
        return True


def _turn(info: Mapping[str, Any]) -> tuple[uuid.UUID, int, int]:
    """Id, number and configuration of the turn that a lease was for."""
    version = int(str(info.get("head", "0")).split(":")[0] or 0)
    return uuid.UUID(info["turnId"]), int(info["turnNo"]), version


def _events_of_dead_turn(conversation_id: str, info: Mapping[str, Any], now: datetime, marked: bool) -> None:
    """Events of that turn exist already when they were written step by step; then only the failure is added, and the
    move of the session when a newer message had `marked` the turn before it died. Needs an open transaction.
    """
    turn_id, turn_no, version = _turn(info)
    conf.load("AUDIT_WRITER").append(
        conversation_id,
        turn_id,
        turn_no,
        version,
        now,
        [
            (Stage.USER_INPUT, {"text": info.get("userText"), "inputParamKeys": info.get("inputParamNames")}),
            (Stage.ENGINE_UNKNOWN_FAILURE, {"reason": "LEASE_EXPIRED", "message": _DIED, "recoverable": True}),
            *([(Stage.SESSION_LIFECYCLE, event(RUNNING, INTERRUPTED, "interrupted", turn_no))] if marked else []),
        ],
    )


def _record_dead_turn(
    conversation_id: str, info: Mapping[str, Any], stood: tuple[int, str, str], now: datetime, previous: bytes | None
) -> bytes:
    """Write the FAILED record of a turn whose process died, from what its lease said and where the session `stood`
    (epoch, intent, state); gives the hash of its seal. Needs an open transaction.
    """
    turn_id, turn_no, version = _turn(info)
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
    last_seq, pieces = conf.load("AUDIT_WRITER").pieces(conversation_id, turn_id, turn_no)
    said = words(whole, documents_of(whole))
    seal = sealed(previous and bytes(previous), whole, last_seq, {**pieces, WORDS: said})
    meta = {"inputParamNames": info.get("inputParamNames"), "worker": info.get("worker")}
    CeConversationHistory.objects.create(**record, modified_at=now, request_meta=meta, chain=seal.data)
    return seal.hash
