"""Ending one session outside its turns: by a call, by a wish to start over, by time (sessions 2, 4)."""

import uuid
from dataclasses import dataclass
from datetime import datetime

from django.db import connection

from convengine import conf
from convengine.codec import dumps
from convengine.continuity.lifecycle import event, way
from convengine.domain.enums import Lifecycle
from convengine.domain.stages import Stage
from convengine.sessions.sql import dialect

#: Later than every ticket.
LAST = 2**62
#: Who closed a session for good, in its detail: a message of the plain turn API does not open it again (R39).
BY_CALL = "close"


@dataclass(frozen=True)
class Seen:
    """An open session as somebody saw it who wants to end it."""

    session_id: str
    lifecycle: str
    last_message_at: datetime
    last_turn_no: int
    #: The session before it in the thread.
    previous_id: str | None = None
    #: It was offered to go on, and the user has not answered.
    offered: bool = False
    #: It ended because nobody wrote for days.
    stale: bool = False


def end(seen: Seen, to: Lifecycle, reason: str, now: datetime, *, ticket: int | None = None, by: str = "") -> bool:
    """Move an open session to its end, with its events. Needs an open transaction.

    False when it is not as it was seen: a message came, a turn runs, somebody waits in front of `ticket`, or it is
    closed. Raises SessionTransitionInvalid.
    """
    here = dialect()
    steps = way(seen.lifecycle, to)
    detail = {"reason": reason, "at": now.isoformat(), **({"by": by} if by else {})}
    with connection.cursor() as cursor:
        cursor.execute(
            f"""UPDATE ce_conversation
                   SET lifecycle = %s, lifecycle_detail = {here.json}, version = version + 1, updated_at = {here.now()}
                 WHERE conversation_id = %s AND lifecycle = %s AND last_turn_no = %s AND lease_token IS NULL
                   AND NOT EXISTS (SELECT 1 FROM ce_turn_ticket t
                                    WHERE t.conversation_id = ce_conversation.conversation_id
                                      AND t.expires_at > {here.now()} AND t.id < %s)""",
            [
                to.value,
                dumps(detail),
                here.uuid(seen.session_id),
                seen.lifecycle,
                seen.last_turn_no,
                LAST if ticket is None else ticket,
            ],
        )
        if not cursor.rowcount:
            return False
    told, here_ = [], seen.lifecycle
    for step in steps:
        told.append((Stage.SESSION_LIFECYCLE, event(here_, step, reason, seen.last_turn_no)))
        here_ = step
    version = conf.load("SNAPSHOT").latest.config_version
    conf.load("AUDIT_WRITER").append(uuid.UUID(seen.session_id), None, None, version, now, told)
    return True
