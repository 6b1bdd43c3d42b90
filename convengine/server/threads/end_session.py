"""End one session outside its turns: by a call, by a reset, by time."""

from dataclasses import dataclass
from datetime import datetime

from django.db import connection

from convengine.engine.threads.lifecycle import build_event, find_moves
from convengine.engine.threads.stages import SESSION_LIFECYCLE
from convengine.engine.turn.codec import dumps
from convengine.engine.turn.enums import Lifecycle
from convengine.server.database.sql import dialect
from convengine.server.interfaces.configuration import configuration
from convengine.server.interfaces.turn_log import turn_log
from convengine.server.turns.waiting import LAST_TICKET
from convengine.server.webhooks.write import store_ends


@dataclass(frozen=True)
class ObservedSession:
    """An open session as a caller saw it who wants to end it."""

    session_id: str
    lifecycle: str
    last_message_at: datetime
    last_turn_no: int
    #: The session before it in the thread.
    previous_id: str | None = None
    #: It was offered for resumption, and the user has not answered.
    offered: bool = False
    #: It ended because nobody wrote for days.
    stale: bool = False
    #: Its context says that a person takes over.
    handed_over: bool = False


def end_session(
    seen: ObservedSession, to: Lifecycle, reason: str, now: datetime, *, ticket: int = LAST_TICKET, by: str = ""
) -> bool:
    """End an open session, with its events. Needs an open transaction.

    False when it changed: a message came, a turn runs, a turn waits in front of `ticket`, or it is closed. Raises
    SessionTransitionInvalid.
    """
    sql = dialect()
    steps = find_moves(seen.lifecycle, to)
    detail = {"reason": reason, "at": now.isoformat(), **({"by": by} if by else {})}
    with connection.cursor() as cursor:
        cursor.execute(
            f"""UPDATE ce_conversation
                   SET lifecycle = %s, lifecycle_detail = {sql.json}, version = version + 1, updated_at = {sql.now()}
                 WHERE conversation_id = %s AND lifecycle = %s AND last_turn_no = %s AND lease_token IS NULL
                   AND NOT EXISTS (SELECT 1 FROM ce_turn_ticket t
                                    WHERE t.conversation_id = ce_conversation.conversation_id
                                      AND t.expires_at > {sql.now()} AND t.id < %s)""",
            [
                to.value,
                dumps(detail),
                sql.uuid_param(seen.session_id),
                seen.lifecycle,
                seen.last_turn_no,
                ticket,
            ],
        )
        if not cursor.rowcount:
            return False
    moves = zip([seen.lifecycle, *steps], steps, strict=False)
    events = [
        (seen.session_id, SESSION_LIFECYCLE, build_event(old, new, reason, seen.last_turn_no)) for old, new in moves
    ]
    version = configuration().latest.config_version
    turn_log().add_outside(events, now, version)
    store_ends([seen.session_id], to, reason, now, version)
    return True
