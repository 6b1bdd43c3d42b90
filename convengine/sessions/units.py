"""Session units in the commit: each stored once, dropped with a failed turn, cleared by a reset (sessions 8, 11)."""

from collections.abc import Sequence
from dataclasses import replace

from convengine.codec import dumps
from convengine.domain.session import Session
from convengine.memory.units import Unit, units
from convengine.rules.redacting import Redaction
from convengine.sessions.sql import dialect
from convengine.sessions.writes import Write

#: What becomes of a unit that is there already: after a reset it is one of the turn that says it again.
_SAID_AGAIN = (
    "UPDATE SET source_turn = excluded.source_turn, utility = excluded.utility, phases = excluded.phases, "
    "committed_at = excluded.committed_at"
)


def committed(session: Session, redaction: Redaction) -> list[Write]:
    """The writes of this turn's units, masked; none for a turn that took nothing from its text.

    Prompts see units as the context has them, which later turns go on with.
    """
    here, new = dialect(), [_masked(unit, redaction) for unit in units(session)]
    return [
        *cleared(session, [unit.content_hash for unit in new]),
        *(
            Write(
                f"""INSERT INTO ce_session_unit
    (conversation_id, kind, topic, claim, source_turn, content_hash, utility, phases, committed_at)
VALUES (%s, %s, %s, %s, %s, %s, {here.json}, {here.json}, {here.now()})
ON CONFLICT (conversation_id, content_hash) DO {_SAID_AGAIN if session.reset_reason else "NOTHING"}""",
                [
                    here.uuid(session.conversation_id),
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


def _masked(unit: Unit, redaction: Redaction) -> Unit:
    topic, claim = redaction.text(unit.topic), redaction.text(unit.claim)
    return unit if (topic, claim) == (unit.topic, unit.claim) else replace(unit, topic=topic, claim=claim)


def cleared(session: Session, but: Sequence[str] = ()) -> list[Write]:
    """What a reset takes away, also where the turn fails after it; nothing for a turn without one.

    What the turn says again (`but`, by hash) is left to its own write: of one statement, which the writes of a turn
    are together, no part sees what another one deletes.
    """
    if not session.reset_reason:
        return []
    others = f" AND content_hash NOT IN ({', '.join(['%s'] * len(but))})" if but else ""
    key = dialect().uuid(session.conversation_id)
    return [Write(f"DELETE FROM ce_session_unit WHERE conversation_id = %s{others}", [key, *but])]
