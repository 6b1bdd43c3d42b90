"""When a form is given up, because its question was missed too often."""

from convengine.engine.forms.life import find_most_misses, keep_for_person, leave_form
from convengine.engine.steps.responses.stages import FORM_GIVEN_UP
from convengine.engine.turn.dialogue_state import DialogueState, update_dialogue
from convengine.engine.turn.session import Session
from convengine.engine.turn.turn import Turn


def is_given_up(session: Session, turn: Turn) -> bool:
    """True when the asked field was missed too often and no rule went on."""
    schema = session.resolved_schema
    if schema is None or session.schema_complete or any(hop.cause == "RULE" for hop in session.transitions):
        return False
    return DialogueState.of(session).misses >= find_most_misses(session, turn, schema)


def give_up(session: Session, turn: Turn) -> Session:
    """The session after leaving its form, if it has one; writes FORM_GIVEN_UP."""
    state, schema = DialogueState.of(session), session.resolved_schema
    turn.audit(
        session,
        FORM_GIVEN_UP,
        field=state.asked_field,
        misses=state.misses,
        schemaId=schema.schema_id if schema else None,
    )
    session = update_dialogue(session, not_understood_count=0)
    if schema is None:
        return session
    return leave_form(keep_for_person(session, turn, schema), turn, schema, "FORM_GIVEN_UP")
