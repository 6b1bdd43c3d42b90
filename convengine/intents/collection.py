"""Is a form being filled in? The schema of an intent and state, and whether it holds the intent (pipeline-1 14.2)."""

from convengine.domain import rows
from convengine.domain.scope import ANY, resolved
from convengine.domain.session import Session
from convengine.domain.snapshot import Snapshot
from convengine.domain.text import code
from convengine.domain.turn import Turn
from convengine.schemas.status import evaluate, usable


def schema_of(snapshot: Snapshot, intent: str | None, state: str | None) -> rows.OutputSchema | None:
    """The schema that applies: exact state before ANY, then priority, then id; the intent is always exact (R77)."""
    if not resolved(intent):
        return None
    by_scope = snapshot.index(rows.OutputSchema, _scope, _order)
    for wanted in (code(state), ANY):
        for row in by_scope.get((code(intent), wanted), ()):
            if row.schema_type == "SCHEMA_JSON" and snapshot.is_active(row.intent_code):
                return row
    return None


def collecting(session: Session, turn: Turn) -> bool:
    """True while the schema that applies is not complete. An unusable schema holds nobody (fix W-36)."""
    schema = schema_of(turn.snapshot, session.intent, session.state)
    if schema is None:
        return False
    if not usable(schema.json_schema):
        turn.row_invalid(session, schema, "json_schema must be an object schema with properties")
        return False
    return not evaluate(schema.json_schema, session.context).complete


def _scope(row: rows.OutputSchema) -> tuple[str, str]:
    return code(row.intent_code), code(row.state_code)


def _order(row: rows.OutputSchema) -> tuple[int, int]:
    return row.priority, row.schema_id
