"""Is a form being filled in? Whether the schema of an intent and state holds the intent (pipeline-1 14.2)."""

from convengine.domain.session import Session
from convengine.domain.turn import Turn
from convengine.schemas.form import form_of
from convengine.schemas.select import schema_of


def collecting(session: Session, turn: Turn) -> bool:
    """True while the schema that applies is not complete. An unusable schema holds nobody (fix W-36)."""
    schema = schema_of(turn.snapshot, session.intent, session.state)
    if schema is None:
        return False
    form = form_of(turn.snapshot, schema)
    if form.problem:
        turn.row_invalid(session, schema, form.problem)
        return False
    return not form.status(session.context).complete
