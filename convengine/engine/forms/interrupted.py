"""Forms that another form interrupts (`x-resume`): their values wait until they go on (docs/forms.md)."""

from collections.abc import Mapping
from typing import NamedTuple

from convengine.engine.forms.life import forget_question, is_in_form, list_cleared, schema_order
from convengine.engine.forms.session_form import clear_form_facts
from convengine.engine.forms.stages import FORM_INTERRUPTED, FORM_RESUMED
from convengine.engine.forms.user_answer import says
from convengine.engine.text.compare import code
from convengine.engine.turn.dialogue_state import DialogueState, update_dialogue
from convengine.engine.turn.rows import OutputSchema
from convengine.engine.turn.scope import INTENT_COLLISION, intent_key
from convengine.engine.turn.session import Session
from convengine.engine.turn.turn import Turn
from convengine.engine.understanding.moves import MoveKind
from convengine.json_value import Json

#: Cause of the move back to a form.
RESUMED = "FORM_RESUMED"
#: How many forms wait; then the first one is forgotten.
_MOST = 3


class InterruptedForm(NamedTuple):
    row: OutputSchema
    state: str
    values: Mapping[str, Json]


def may_interrupt(session: Session, turn: Turn, row: OutputSchema, intent: str) -> bool:
    """True if the intent has a form, after which the bot goes back to the open one, which the user does not stop."""
    if not _resumes(row) or DialogueState.of(session).leaving is not None or says(session, turn, MoveKind.LEAVE):
        return False
    if intent not in turn.snapshot.index(OutputSchema, intent_key, schema_order):
        return False
    is_open = is_in_form(turn.snapshot, row.intent_code, session.state) and code(session.state) != INTENT_COLLISION
    return is_open and intent not in turn.snapshot.hand_over_intents


def interrupt_form(session: Session, turn: Turn, row: OutputSchema, intent: str) -> Session:
    """The session without the form, whose state and values wait; writes FORM_INTERRUPTED."""
    values = {name: session.context[name] for name in list_cleared(session, row)}
    turn.audit(session, FORM_INTERRUPTED, schemaId=row.schema_id, intent=intent, fields=list(values))
    waiting = {"schema": row.schema_id, "state": session.state, "values": values}
    others = _list_others(session, row)
    session = forget_question(clear_form_facts(session.without_context(*values)))
    return update_dialogue(session, interrupted=(*others, waiting)[-_MOST:])


def find_interrupted(session: Session, turn: Turn, intent: str = "") -> InterruptedForm | None:
    """The form that was interrupted last, or the one of the intent. Returns None if none waits that can go on."""
    for waiting in reversed(DialogueState.of(session).interrupted):
        parts = waiting if isinstance(waiting, Mapping) else {}
        row, values = turn.snapshot.row(OutputSchema, parts.get("schema")), parts.get("values")
        if row is not None and row.enabled and _resumes(row) and intent in ("", code(row.intent_code)):
            return InterruptedForm(row, str(parts.get("state")), values if isinstance(values, Mapping) else {})
    return None


def restore_values(session: Session, turn: Turn, form: InterruptedForm, state: str | None = None) -> Session:
    """The session with the values of a form that waits no longer; writes FORM_RESUMED.

    `state`: that to which the bot goes back by itself.
    """
    details = {"state": state} if state else {}
    intent, schema = code(form.row.intent_code), form.row.schema_id
    turn.audit(session, FORM_RESUMED, schemaId=schema, intent=intent, fields=list(form.values), **details)
    return update_dialogue(session.with_context(form.values), interrupted=_list_others(session, form.row))


def _list_others(session: Session, row: OutputSchema) -> tuple[Json, ...]:
    waiting = DialogueState.of(session).interrupted
    return tuple(each for each in waiting if not (isinstance(each, Mapping) and each.get("schema") == row.schema_id))


def _resumes(row: OutputSchema) -> bool:
    return isinstance(row.json_schema, Mapping) and row.json_schema.get("x-resume") is True
