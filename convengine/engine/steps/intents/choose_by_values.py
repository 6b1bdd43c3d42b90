"""Choose an intent that the message does not name, by the question it answers and the values it gives."""

from convengine.engine.clarification import collision
from convengine.engine.forms.leaving import find_left_schema
from convengine.engine.forms.life import ClearCause, clears_on
from convengine.engine.forms.message import read_message
from convengine.engine.forms.session_form import find_schema, get_current_form
from convengine.engine.forms.user_answer import is_question, says
from convengine.engine.steps.intents.classifiers import order_classifiers
from convengine.engine.text.compare import code
from convengine.engine.turn import rows
from convengine.engine.turn.dialogue_state import DialogueState
from convengine.engine.turn.scope import ANY
from convengine.engine.turn.session import Session
from convengine.engine.turn.turn import Turn
from convengine.engine.understanding.field import Kind
from convengine.engine.understanding.moves import MoveKind


def find_unnamed_row(session: Session, turn: Turn) -> rows.Classifier | None:
    """The row for a choice between the offered intents, or for one more of the form that was done last.

    Returns None if the message does neither.
    """
    if chosen := collision.find_chosen_row(session, turn) or _find_row_by_values(session, turn):
        return chosen
    schema = turn.snapshot.row(rows.OutputSchema, DialogueState.of(session).done_schema)
    if schema is None or not clears_on(schema, ClearCause.RESTART):
        return None
    if not says(session, turn, MoveKind.MORE):
        return None
    intent, state = code(schema.intent_code), code(schema.state_code)
    own = (row for row in order_classifiers(turn.snapshot) if code(row.intent_code) == intent)
    return next((row for row in own if state in (code(row.state_code), ANY)), None)


def _find_row_by_values(session: Session, turn: Turn) -> rows.Classifier | None:
    """The offered row with the form that the reply fills best: "tomorrow at 3" is most of a viewing.

    Returns None if the reply fills none.
    """
    shares: list[tuple[float, rows.Classifier]] = []
    for row in collision.list_offered_rows(session, turn.snapshot):
        schema = find_schema(turn.snapshot, code(row.intent_code), code(row.state_code))
        form = get_current_form(session, turn, schema) if schema else None
        if schema is not None and form is not None and form.leaves and not form.problem:
            reading = read_message(session, turn, schema, is_opener=True)
            shares.append((len(reading.taken) / len(form.leaves), row))
    best = max(shares, key=lambda counted: counted[0], default=None)
    return best[1] if best and best[0] else None


def fills_offered_form(session: Session, turn: Turn) -> bool:
    """True when the answer to "Do you want to stop this and go on with X?" fills more of X than of the open form."""
    following, schema = DialogueState.of(session).leaving, find_left_schema(session, turn)
    row = find_offered_row(turn, following) if following and schema is not None else None
    if row is None or schema is None or is_question(session, turn):
        return False
    wanted = find_schema(turn.snapshot, code(row.intent_code), code(row.state_code))
    values = _count_typed_fields(session, turn, wanted, is_opener=True) if wanted is not None else 0
    return values > _count_typed_fields(session, turn, schema, is_opener=False)


def find_offered_row(turn: Turn, intent: str) -> rows.Classifier | None:
    """The first row of the intent to which the user was offered to go on. Returns None if it has none."""
    return next((row for row in order_classifiers(turn.snapshot) if code(row.intent_code) == intent), None)


def _count_typed_fields(session: Session, turn: Turn, schema: rows.OutputSchema, *, is_opener: bool) -> int:
    """How many fields of a form have a value in the message, taken or offered; texts do not count."""
    form = get_current_form(session, turn, schema)
    if form.problem:
        return 0
    reading = read_message(session, turn, schema, is_opener=is_opener)
    paths = {item.field for item in reading.taken} | {item.field for item in reading.offered}
    return sum(field.path in paths and field.spec.kind is not Kind.TEXT for field in form.leaves)
