"""Session units in the commit: each stored once, dropped with a failed turn, cleared by a reset (sessions 8, 11)."""

from collections.abc import Sequence
from dataclasses import replace

from convengine.engine.memory.units import Unit, list_units
from convengine.engine.rules.redaction import Redaction
from convengine.engine.turn.codec import dumps
from convengine.engine.turn.session import Session
from convengine.server.database.dialect import dialect
from convengine.server.database.statements import Statement

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


def _mask_unit(unit: Unit, redaction: Redaction) -> Unit:
    topic, claim = redaction.text(unit.topic), redaction.text(unit.claim)
    return unit if (topic, claim) == (unit.topic, unit.claim) else replace(unit, topic=topic, claim=claim)


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
