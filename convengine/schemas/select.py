"""Which schema applies: exact state before ANY, then priority, then id; the intent always exact (tables 3.1, R77)."""

from convengine.domain import rows
from convengine.domain.enums import DecisionKind, SchemaType
from convengine.domain.scope import ANY, resolved
from convengine.domain.session import Session
from convengine.domain.snapshot import Snapshot
from convengine.domain.text import code
from convengine.domain.turn import Turn
from convengine.rules.choice import Choice, choose
from convengine.rules.cuts import SCOPE_INTENT

#: Why a row in scope does not take part: it is written in another language than JSON Schema.
SCHEMA_TYPE = "SCHEMA_TYPE"


def choose_schema(snapshot: Snapshot, intent: str | None, state: str | None) -> Choice[rows.OutputSchema]:
    """All schemas of (intent, state), best first. An unresolved intent has none."""
    return choose(snapshot, rows.OutputSchema, intent, state, _refused if resolved(intent) else _no_intent)


def schema_of(snapshot: Snapshot, intent: str | None, state: str | None) -> rows.OutputSchema | None:
    """The schema that applies to (intent, state); null when none does."""
    return choose_schema(snapshot, intent, state).winner if snapshot.rows(rows.OutputSchema) else None


def decide_schema(session: Session, turn: Turn) -> rows.OutputSchema | None:
    """The schema of this turn, with its DECISION event: one chosen earlier in the turn stays chosen.

    Nothing is told where no schema exists at all.
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


def _refused(row: rows.OutputSchema) -> str | None:
    if code(row.intent_code) == ANY:
        return SCOPE_INTENT
    return None if code(row.schema_type) in ("", SchemaType.SCHEMA_JSON) else SCHEMA_TYPE


def _no_intent(row: rows.OutputSchema) -> str | None:
    return SCOPE_INTENT
