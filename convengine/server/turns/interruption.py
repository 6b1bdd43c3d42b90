"""Interrupt a running turn: the mark of a newer message, and how the turn sees it."""

import time
from dataclasses import dataclass, field

from django.db import connection

from convengine.engine.turn.codec import dumps
from convengine.server.database.sql import dialect

#: Seconds between two looks of a turn; a quick one looks only at its commit.
_PAUSE = 0.1


def interrupt_running_turn(conversation_id: str, turn_id: str, message: str | None) -> bool:
    """Mark the running turn of a conversation as interrupted by a newer one; true when this call did it.

    A turn is not interrupted if it began to run a claimed action or task, is marked already, or has an
    expired lease. `turn_id` and `message` are those of the newer turn; the message has masks.
    """
    sql = dialect()
    running_turn = sql.json_member("lease_info", "turnId")
    interrupted = sql.json_member("lease_info", "userText")
    detail = sql.json_merge("interrupted_user_message", interrupted, "turn_no", "last_turn_no", "at", sql.now())
    with connection.cursor() as cursor:
        cursor.execute(
            f"""UPDATE ce_conversation
                   SET lease_interrupted_by = %s, lifecycle = 'INTERRUPTED', lifecycle_detail = {detail}
                 WHERE conversation_id = %s AND lease_token IS NOT NULL AND lease_interrupted_by IS NULL
                   AND lease_expires_at > {sql.now()}
                   AND NOT EXISTS (
                       SELECT 1 FROM ce_pending_action_execution e
                        WHERE e.conversation_id = ce_conversation.conversation_id
                          AND {_without_dashes("e.turn_id")} = {_without_dashes(running_turn)})""",
            [sql.uuid_param(turn_id), dumps({"user_message": message}), sql.uuid_param(conversation_id)],
        )
        return bool(cursor.rowcount)


def _without_dashes(expression: str) -> str:
    """An expression of a UUID as text without dashes, in either database."""
    return f"REPLACE(CAST({expression} AS TEXT), '-', '')"


def is_interrupted(token: str) -> bool:
    """True when the turn with this lease was marked."""
    with connection.cursor() as cursor:
        cursor.execute(
            "SELECT 1 FROM ce_conversation WHERE lease_token = %s AND lease_interrupted_by IS NOT NULL",
            [dialect().uuid_param(token)],
        )
        return cursor.fetchone() is not None


@dataclass
class InterruptionCheck:
    """Called between the steps of a turn; looks at most once per pause."""

    token: str
    _looked: float = field(default_factory=time.monotonic)

    def __call__(self) -> bool:
        """True when a newer message interrupted the turn. Looks at most every `_PAUSE`, and is false in between."""
        if (now := time.monotonic()) - self._looked < _PAUSE:
            return False
        self._looked = now
        return is_interrupted(self.token)
