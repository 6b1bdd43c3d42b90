"""Interrupting a turn that runs: the mark of a newer message, and how the turn sees it (sessions 6, R29)."""

import time
from dataclasses import dataclass, field

from django.db import connection

from convengine.codec import dumps
from convengine.sessions.sql import dialect

#: Seconds between two looks of a turn: one that is quick never looks before its commit, which looks in any case.
_PAUSE = 0.1


def interrupt(conversation_id: str, turn_id: str, message: str | None) -> bool:
    """Mark the running turn of a conversation as interrupted by a newer one; true when this call did it.

    A turn in which a confirmed action began to run is left alone: it runs to its end.
    """
    here = dialect()
    interrupted = here.member("lease_info", "userText")
    detail = here.merged("interrupted_user_message", interrupted, "turn_no", "last_turn_no", "at", here.now())
    with connection.cursor() as cursor:
        cursor.execute(
            f"""UPDATE ce_conversation
                   SET lease_interrupted_by = %s, lifecycle = 'INTERRUPTED', lifecycle_detail = {detail}
                 WHERE conversation_id = %s AND lease_token IS NOT NULL AND lease_interrupted_by IS NULL
                   AND lease_expires_at > {here.now()}
                   AND NOT EXISTS (
                       SELECT 1 FROM ce_pending_action_execution e
                        WHERE e.conversation_id = ce_conversation.conversation_id
                          AND {_plain("e.turn_id")} = {_plain(here.member("lease_info", "turnId"))})""",
            [here.uuid(turn_id), dumps({"user_message": message}), here.uuid(conversation_id)],
        )
        return bool(cursor.rowcount)


def _plain(uuid: str) -> str:
    """An expression of a UUID as text without dashes, as both databases can say it."""
    return f"REPLACE(CAST({uuid} AS TEXT), '-', '')"


def is_interrupted(token: str) -> bool:
    """True when the turn that holds this lease was marked."""
    with connection.cursor() as cursor:
        cursor.execute(
            "SELECT 1 FROM ce_conversation WHERE lease_token = %s AND lease_interrupted_by IS NOT NULL",
            [dialect().uuid(token)],
        )
        return cursor.fetchone() is not None


@dataclass
class Watch:
    """Asked between the steps of a turn; looks at most once in a while."""

    token: str
    _looked: float = field(default_factory=time.monotonic)

    def __call__(self) -> bool:
        """True when a newer message interrupted the turn."""
        if (now := time.monotonic()) - self._looked < _PAUSE:
            return False
        self._looked = now
        return is_interrupted(self.token)
