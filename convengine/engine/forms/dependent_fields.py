"""Fields that are asked for only by the value of another one (`if`, `then`): what one says, the other one knows."""

from collections.abc import Mapping, Sequence
from dataclasses import replace

from convengine.engine.forms.composed_schemas import Dependency, list_dependencies, list_inapplicable
from convengine.engine.forms.form import Field, Form
from convengine.engine.forms.message import read_as_open
from convengine.engine.forms.session_form import list_held
from convengine.engine.forms.user_answer import says_only
from convengine.engine.turn.rows import OutputSchema
from convengine.engine.turn.session import Session
from convengine.engine.turn.turn import Turn
from convengine.engine.understanding.decide import CORRECTION, KIND
from convengine.engine.understanding.field import Kind
from convengine.engine.understanding.moves import MoveKind
from convengine.engine.understanding.reading import Reading, Taken
from convengine.json_value import Json


def settle_dependents(
    session: Session, turn: Turn, row: OutputSchema, form: Form, asked_path: str, reading: Reading
) -> Reading:
    """The reading with what its values say of the fields that decide about them, and without what no longer applies."""
    dependencies = list(list_dependencies(form.schema)) if isinstance(form.schema, Mapping) else []
    if not dependencies:
        return reading
    held = list_held(session, form)
    reading = imply_deciders(form, held, reading)
    own = next((each for each in dependencies if each.field == asked_path and each.decider in held), None)
    if own is not None and asked_path not in reading.fields and own.decider not in reading.fields:
        reading = _deny_decider(session, turn, row, form, own, reading)
    values = held | {item.field: item.value for item in reading.taken}
    changed = {item.field for item in reading.taken} & {each.decider for each in dependencies}
    gone = list_inapplicable(form.schema, values) & held.keys() if changed else frozenset[str]()
    return replace(reading, named=(*reading.named, *sorted(gone)))


def imply_deciders(form: Form, held: Mapping[str, Json], reading: Reading) -> Reading:
    """The reading with the open fields that decide about its values, where only one value allows them.

    The answer repeats the value that was said.
    """
    taken = {item.field: item for item in reading.taken}
    for each in list_dependencies(form.schema):
        item, decider = taken.get(each.field), form.field(each.decider)
        if item is None or decider is None or each.decider in (*held, *taken):
            continue
        allowed = [value for value in _list_values(decider) if each.allows(value)]
        if len(allowed) == 1:
            taken[each.field] = replace(item, is_echoed=True)
            taken[each.decider] = Taken(each.decider, allowed[0], item.start, item.end, KIND)
    return replace(reading, taken=tuple(taken.values()))


def _deny_decider(
    session: Session, turn: Turn, row: OutputSchema, form: Form, own: Dependency, reading: Reading
) -> Reading:
    """The reading, with the deciding field set to no where the message denies what a dependent field asks for."""
    decider, field = form.field(own.decider), form.field(own.field)
    if decider is None or field is None or not field.required:
        return reading
    others = [value for value in _list_values(decider) if not own.allows(value)]
    denies = says_only(session, turn, MoveKind.SKIP, MoveKind.NEGATE) and decider.spec.kind is Kind.YES_NO
    if not denies:
        again = read_as_open(session, turn, row, (own.decider,)).taken
        values = [item.value for item in again if item.field == own.decider]
        denies, others = bool(values), [value for value in others if value in values]
    if not denies or len(others) != 1:
        return reading
    taken = Taken(own.decider, others[0], 0, 0, CORRECTION)
    return replace(reading, taken=(*reading.taken, taken), refused=(), offered=())


def _list_values(field: Field) -> Sequence[Json]:
    """All values that a field may have; none where they cannot be listed."""
    return (True, False) if field.spec.kind is Kind.YES_NO else field.choices
