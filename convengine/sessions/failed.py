"""Turns that did not commit: what is kept of them (sessions 7, R27)."""

import uuid
from collections.abc import Mapping
from datetime import datetime
from typing import Any

from convengine import conf
from convengine.domain.stages import Stage
from convengine.sessions.models import CeConversationHistory


def record_dead_turn(
    conversation_id: str, info: Mapping[str, Any], epoch: int, intent: str, state: str, now: datetime
) -> None:
    """Write the FAILED record of a turn whose process died, from what its lease said. Needs an open transaction.

    Events of that turn exist already when they were written step by step; then only the failure is added.
    """
    version = int(str(info.get("head", "0")).split(":")[0] or 0)
    turn_id, turn_no = uuid.UUID(info["turnId"]), int(info["turnNo"])
    message = "The process that ran this turn ended before the turn did."
    CeConversationHistory.objects.create(
        conversation_id=conversation_id,
        user_input=info.get("userText"),
        created_at=now,
        modified_at=now,
        turn_id=turn_id,
        turn_no=turn_no,
        context_epoch=epoch,
        status="FAILED",
        error_code="LEASE_EXPIRED",
        error_message=message,
        intent_code=intent,
        state_code=state,
        config_version=version,
        request_meta={"inputParamNames": info.get("inputParamNames"), "worker": info.get("worker")},
        replayable=False,
        replay_note="The turn died before its recording was written.",
    )
    conf.load("AUDIT_WRITER").append(
        conversation_id,
        turn_id,
        turn_no,
        version,
        now,
        [
            (Stage.USER_INPUT, {"text": info.get("userText"), "inputParamKeys": info.get("inputParamNames")}),
            (Stage.ENGINE_UNKNOWN_FAILURE, {"reason": "LEASE_EXPIRED", "message": message, "recoverable": True}),
        ],
    )
