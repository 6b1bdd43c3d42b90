"""Which form applies: exact state before ANY, then priority, then id. The intent must always be exact.

Source: tables 3.1, R77.
"""

from convengine.engine.rules.choice import Choice, choose_row
from convengine.engine.rules.exclusion import SCOPE_INTENT
from convengine.engine.text.compare import code
from convengine.engine.turn import rows
from convengine.engine.turn.enums import DecisionKind, SchemaType
from convengine.engine.turn.scope import ANY, is_resolved
from convengine.engine.turn.session import Session
from convengine.engine.turn.snapshot import Snapshot
from convengine.engine.turn.turn import Turn

#: Reason why a row in scope does not count: it is not written in JSON Schema.
SCHEMA_TYPE = "SCHEMA_TYPE"


def choose_schema(snapshot: Snapshot, intent: str | None, state: str | None) -> Choice[rows.OutputSchema]:
    """All schemas of (intent, state), best first. An unresolved intent has none."""
    return choose_row(
        snapshot, rows.OutputSchema, intent, state, _find_refusal if is_resolved(intent) else _refuse_without_intent
    )


def find_schema(snapshot: Snapshot, intent: str | None, state: str | None) -> rows.OutputSchema | None:
    """The schema of (intent, state), or null."""
    return choose_schema(snapshot, intent, state).winner if snapshot.rows(rows.OutputSchema) else None


def decide_schema(session: Session, turn: Turn) -> rows.OutputSchema | None:
    """The schema of this turn, with its DECISION event. An earlier choice of the turn stays.

    Nothing is recorded if there are no schemas at all.
    """
    chosen = session.resolved_schema
    if chosen is not None and code(chosen.intent_code) == code(session.intent):
        return chosen
    if not turn.snapshot.rows(rows.OutputSchema):
        return None
    choice = choose_schema(turn.snapshot, session.intent, session.state)
    turn.decide(
        session,
        DecisionKind.SCHEMA,
        key={"intent": session.intent, "state": session.state},
        winner=choice.winner,
        candidates=choice.candidates(),
        cut=choice.cut,
    )
    return choice.winner


def _find_refusal(row: rows.OutputSchema) -> str | None:
    if code(row.intent_code) == ANY:
        return SCOPE_INTENT
    return None if code(row.schema_type) in ("", SchemaType.SCHEMA_JSON) else SCHEMA_TYPE


def _refuse_without_intent(row: rows.OutputSchema) -> str | None:
    return SCOPE_INTENT
