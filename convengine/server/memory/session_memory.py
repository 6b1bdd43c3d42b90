"""What a session keeps for later, written in the commit: its summary (`ce_memory`), its units (`ce_session_unit`)."""

from collections.abc import Sequence
from dataclasses import replace

from django.db import connection

from convengine.engine.memory.summary import get_turn_of_summary
from convengine.engine.memory.units import MemoryUnit, list_units
from convengine.engine.redaction import MASK, Redaction
from convengine.engine.turn.codec import dumps
from convengine.engine.turn.conversation import Conversation
from convengine.engine.turn.session import Session
from convengine.engine.turn.turn import Turn
from convengine.server.database.sql import Statement, dialect
from convengine.server.memory.compaction import compact_thread


def recall_previous_session(row: Conversation) -> str | None:
    """The memory of the thread's newest ended session, for a session's first turn. Returns None if there is none.

    On the plain turn API a thread is one conversation, so there is none.
    """
    if row.remote_jid == row.conversation_id:
        return None
    # The session before may have ended a moment ago, before the job ran.
    compact_thread(row.workspace_id, row.channel, row.remote_jid)
    with connection.cursor() as cursor:
        cursor.execute(
            "SELECT summary_text FROM ce_memory WHERE workspace_id = %s AND channel = %s AND remote_jid = %s "
            "AND memory_type = 'COMPACTED' AND conversation_id <> %s ORDER BY created_at DESC LIMIT 1",
            [row.workspace_id, row.channel, row.remote_jid, dialect().uuid_param(row.conversation_id)],
        )
        fetched = cursor.fetchone()
    return fetched[0] if fetched else None


def store_summary_stmts(turn: Turn, row: Conversation, session: Session) -> list[Statement]:
    """Store the running summary of the session, if this turn made one. After a reset it starts with this turn."""
    summary = session.memory.memory_session_summary
    if not isinstance(summary, str):
        return []
    sql = dialect()
    source = "TEMPLATE" if get_turn_of_summary(session) is None else "LLM"
    first = ", from_turn = excluded.from_turn" if session.reset_reason else ""
    return [
        Statement(
            f"""INSERT INTO ce_memory
    (conversation_id, memory_type, workspace_id, channel, remote_jid, summary_text, source, detail_json, from_turn,
     to_turn, created_at, updated_at)
VALUES (%s, 'SESSION_SUMMARY', %s, %s, %s, %s, '{source}', '{{}}', %s, %s, {sql.now()}, {sql.now()})
ON CONFLICT (conversation_id, memory_type) DO UPDATE
SET summary_text = excluded.summary_text, source = excluded.source, to_turn = excluded.to_turn,
    updated_at = excluded.updated_at{first}""",
            [
                sql.uuid_param(session.conversation_id),
                row.workspace_id,
                row.channel,
                row.remote_jid,
                Redaction.of(turn.snapshot).text(summary),
                session.turn_no,
                session.turn_no,
            ],
        )
    ]


#: The update of an existing unit: after a reset it belongs to the turn that repeats it.
_SAID_AGAIN = (
    "UPDATE SET source_turn = excluded.source_turn, utility = excluded.utility, phases = excluded.phases, "
    "committed_at = excluded.committed_at"
)


def store_units_stmts(session: Session, redaction: Redaction) -> list[Statement]:
    """The writes of this turn's units, masked; none without units.

    Prompts see units from the context, which is not masked, because later turns need it.
    """
    sql, new = dialect(), [_mask_unit(unit, redaction) for unit in list_units(session)]
    return [
        *delete_units_stmts(session, [unit.content_hash for unit in new]),
        *(
            Statement(
                f"""INSERT INTO ce_session_unit
    (conversation_id, kind, topic, claim, source_turn, content_hash, utility, phases, committed_at)
VALUES (%s, %s, %s, %s, %s, %s, {sql.json}, {sql.json}, {sql.now()})
ON CONFLICT (conversation_id, content_hash) DO {_SAID_AGAIN if session.reset_reason else "NOTHING"}""",
                [
                    sql.uuid_param(session.conversation_id),
                    unit.kind,
                    unit.topic,
                    unit.claim,
                    unit.source_turn,
                    unit.content_hash,
                    dumps(list(unit.utility)),
                    dumps(list(unit.phases)),
                ],
            )
            for unit in new
        ),
    ]


def _mask_unit(unit: MemoryUnit, redaction: Redaction) -> MemoryUnit:
    claim = MASK if redaction.is_masked_name(unit.topic) else redaction.text(unit.claim)
    words = (tuple(map(redaction.text, unit.utility)), tuple(map(redaction.text, unit.phases)))
    masked = replace(unit, topic=redaction.text(unit.topic), claim=claim, utility=words[0], phases=words[1])
    return unit if masked == unit else masked


def delete_units_stmts(session: Session, but: Sequence[str] = ()) -> list[Statement]:
    """The units that a reset removes, even if the turn fails after it; none without a reset.

    Units that the turn repeats (`but`, by hash) are left to their own write, because no part of one statement sees what
    another part deletes.
    """
    if not session.reset_reason:
        return []
    others = f" AND content_hash NOT IN ({', '.join(['%s'] * len(but))})" if but else ""
    key = dialect().uuid_param(session.conversation_id)
    return [Statement(f"DELETE FROM ce_session_unit WHERE conversation_id = %s{others}", [key, *but])]
