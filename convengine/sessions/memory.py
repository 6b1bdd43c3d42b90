"""Summaries kept beyond a conversation's context: `ce_memory` (tables 6.5, R59, R78)."""

from django.db import connection

from convengine.domain.conversation import Conversation
from convengine.domain.session import Session
from convengine.domain.turn import Turn
from convengine.memory.rewriting import written_after
from convengine.rules.redacting import Redaction
from convengine.sessions.compaction import compact_thread
from convengine.sessions.sql import dialect
from convengine.sessions.writes import Write


def recall(row: Conversation) -> str | None:
    """What the newest ended session of the thread left, for a session's first turn; null when there is none.

    On the plain turn API a thread is one conversation, so there is nothing to look for.
    """
    if row.remote_jid == row.conversation_id:
        return None
    # The session before may have ended a moment ago, sooner than the job comes by.
    compact_thread(row.workspace_id, row.channel, row.remote_jid)
    with connection.cursor() as cursor:
        cursor.execute(
            "SELECT summary_text FROM ce_memory WHERE workspace_id = %s AND channel = %s AND remote_jid = %s "
            "AND memory_type = 'COMPACTED' AND conversation_id <> %s ORDER BY created_at DESC LIMIT 1",
            [row.workspace_id, row.channel, row.remote_jid, dialect().uuid(row.conversation_id)],
        )
        found = cursor.fetchone()
    return found[0] if found else None


def remembered(turn: Turn, row: Conversation, session: Session) -> list[Write]:
    """The running summary of the session kept, when this turn made one. After a reset it begins anew with this turn."""
    summary = session.input_params.get("memory_session_summary")
    if not isinstance(summary, str):
        return []
    here = dialect()
    source = "TEMPLATE" if written_after(session) is None else "LLM"
    first = ", from_turn = excluded.from_turn" if session.reset_reason else ""
    return [
        Write(
            f"""INSERT INTO ce_memory
    (conversation_id, memory_type, workspace_id, channel, remote_jid, summary_text, source, detail_json, from_turn,
     to_turn, created_at, updated_at)
VALUES (%s, 'SESSION_SUMMARY', %s, %s, %s, %s, '{source}', '{{}}', %s, %s, {here.now()}, {here.now()})
ON CONFLICT (conversation_id, memory_type) DO UPDATE
SET summary_text = excluded.summary_text, source = excluded.source, to_turn = excluded.to_turn,
    updated_at = excluded.updated_at{first}""",
            [
                here.uuid(session.conversation_id),
                row.workspace_id,
                row.channel,
                row.remote_jid,
                Redaction.of(turn.snapshot).text(summary),
                turn.turn_no,
                turn.turn_no,
            ],
        )
    ]
