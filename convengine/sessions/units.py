"""Session units in the commit: each stored once, dropped with a failed turn, cleared by a reset (sessions 8, 11)."""

from convengine.codec import dumps
from convengine.domain.session import Session
from convengine.memory.units import units
from convengine.sessions.sql import dialect
from convengine.sessions.writes import Write


def committed(session: Session) -> list[Write]:
    """The writes of this turn's units; none for a turn that took nothing from its text."""
    here = dialect()
    key = here.uuid(session.conversation_id)
    cleared = [Write("DELETE FROM ce_session_unit WHERE conversation_id = %s", [key])] if session.reset_reason else []
    return [
        *cleared,
        *(
            Write(
                f"""INSERT INTO ce_session_unit
    (conversation_id, kind, topic, claim, source_turn, content_hash, utility, phases, committed_at)
VALUES (%s, %s, %s, %s, %s, %s, {here.json}, {here.json}, {here.now()})
ON CONFLICT (conversation_id, content_hash) DO NOTHING""",
                [
                    key,
                    unit.kind,
                    unit.topic,
                    unit.claim,
                    unit.source_turn,
                    unit.content_hash,
                    dumps(list(unit.utility)),
                    dumps(list(unit.phases)),
                ],
            )
            for unit in units(session)
        ),
    ]
