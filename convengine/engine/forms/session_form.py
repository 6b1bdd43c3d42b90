"""The form of a session: which one applies, and its facts, input params and lock.

An exact state goes before ANY, then priority, then id. The intent must always be exact.
"""

from collections.abc import Mapping
from datetime import date

from convengine.engine.forms.form import Field, Form, get_form, is_meaningful
from convengine.engine.rules.choice import RowChoice, choose_row, find_row
from convengine.engine.rules.verdict import SCOPE_INTENT
from convengine.engine.text.compare import code
from convengine.engine.turn import rows
from convengine.engine.turn.codec import dumps
from convengine.engine.turn.dialogue_state import DialogueState, update_dialogue
from convengine.engine.turn.enums import DecisionKind, SchemaType
from convengine.engine.turn.field_options import list_given_options, write_options
from convengine.engine.turn.owned_params import FormParams
from convengine.engine.turn.rows import OutputSchema
from convengine.engine.turn.scope import ANY, is_resolved
from convengine.engine.turn.session import Session
from convengine.engine.turn.snapshot import Snapshot
from convengine.engine.turn.turn import Turn
from convengine.engine.understanding.field import Kind
from convengine.engine.understanding.kinds.days import read_day
from convengine.json_value import Json

#: Kinds of fields with a day.
_DAYS = (Kind.DATE, Kind.DATE_TIME)
#: Reason why a row in scope does not count: it is not written in JSON Schema.
SCHEMA_TYPE = "SCHEMA_TYPE"


def choose_schema(snapshot: Snapshot, intent: str | None, state: str | None) -> RowChoice[rows.OutputSchema]:
    """All schemas of (intent, state), best first. An unresolved intent has none."""
    refuse = _find_refusal if is_resolved(intent) else lambda row: SCOPE_INTENT
    return choose_row(snapshot, rows.OutputSchema, intent, state, refuse)


def find_schema(snapshot: Snapshot, intent: str | None, state: str | None) -> rows.OutputSchema | None:
    if not snapshot.rows(rows.OutputSchema) or not is_resolved(intent):
        return None
    return find_row(snapshot, rows.OutputSchema, intent, state, _find_refusal)


def decide_schema(session: Session, turn: Turn) -> rows.OutputSchema | None:
    """The schema of this turn, with its DECISION event; None if no schema applies.

    An earlier choice of the turn stays. Nothing is recorded for it, and if there are no schemas at all.
    """
    chosen = session.resolved_schema
    if chosen is not None and code(chosen.intent_code) == code(session.intent):
        return chosen
    if not turn.snapshot.rows(rows.OutputSchema):
        return None
    choice = choose_schema(turn.snapshot, session.intent, session.state)
    return choice.decide(session, turn, DecisionKind.SCHEMA, intent=session.intent, state=session.state)


def find_known_schema(session: Session, turn: Turn) -> rows.OutputSchema | None:
    """The schema that was worked on last, in a later state of its intent that has none of its own.

    Returns None in other states, and if its row is gone or disabled.
    """
    row = turn.snapshot.row(rows.OutputSchema, DialogueState.of(session).last_schema)
    if row is None or not row.enabled or code(row.intent_code) != code(session.intent):
        return None
    return None if find_schema(turn.snapshot, session.intent, session.state) else row


def find_asked_field(session: Session, turn: Turn) -> Field | None:
    """The field that the last answer asked for, in the form of intent and state. Returns None if there is none."""
    asked_field = DialogueState.of(session).asked_field
    schema = find_schema(turn.snapshot, session.intent, session.state) if asked_field else None
    return get_current_form(session, turn, schema).field(asked_field) if schema and asked_field else None


def get_current_form(session: Session, turn: Turn, row: rows.OutputSchema) -> Form:
    """The form of a schema row with the options that the data of the conversation gave."""
    form = get_form(turn.snapshot, row)
    if not form.option_sources:
        return form
    options = list_given_options(session, row)
    key = "form", row.schema_id, dumps(options)
    return turn.memo.get(key, lambda: Form(write_options(form.schema, options)))


def list_held(session: Session, form: Form) -> dict[str, Json]:
    """The valid values that the form has, by path."""
    values = {field.path: find_value(session.context, field.path) for field in form.leaves}
    invalid = form.status(session.context).invalid
    return {path: value for path, value in values.items() if is_meaningful(value) and path not in invalid}


def find_value(context: Mapping[str, Json], path: str) -> Json:
    """The value under a dotted path of the context; None without one."""
    value: Json = context
    for part in path.split("."):
        value = value.get(part) if isinstance(value, Mapping) else None
    return value


def find_earlier_days(form: Form, held: Mapping[str, Json], today: date) -> dict[str, date]:
    """For each date field behind one that holds a day to come: that day."""
    earlier: dict[str, date] = {}
    last: date | None = None
    for field in (field for field in form.leaves if field.spec.kind in _DAYS):
        if last is not None:
            earlier[field.path] = last
        day = read_day(held.get(field.path))
        last = day if day and day >= today else last
    return earlier


def remember_schema(session: Session, row: rows.OutputSchema | None) -> Session:
    """The session that knows this schema from now on, or none."""
    return update_dialogue(session, last_schema=row.schema_id if row else None)


def _find_refusal(row: rows.OutputSchema) -> str | None:
    """Why a schema in scope does not count. Returns None for one that counts."""
    if code(row.intent_code) == ANY:
        return SCOPE_INTENT
    return None if code(row.schema_type) in ("", SchemaType.SCHEMA_JSON) else SCHEMA_TYPE


#: Session fields that these functions change.
FACT_FIELDS = frozenset(
    {
        "resolved_schema", "schema_complete", "schema_has_any_value", "missing_required_fields",
        "missing_field_options", "intent_locked", "intent_lock_reason", "form",
    }
)  # fmt: skip
SCHEMA_INCOMPLETE = "SCHEMA_INCOMPLETE"


def get_usable_form(session: Session, turn: Turn, row: OutputSchema | None) -> Form | None:
    """The form of a schema row. Returns None if there is none, or if it is unusable, which is reported once."""
    if row is None:
        return None
    form = get_current_form(session, turn, row)
    if form.problem:
        turn.audit_invalid_row(session, row, form.problem)
        return None
    return form


def set_form_facts(
    session: Session, row: OutputSchema, form: Form, rejected: Mapping[str, str] | None = None
) -> Session:
    """Add the facts of the form. `rejected`: values of this message that were rejected, with the reason."""
    status = form.status(session.context)
    invalid = {**(rejected or {}), **status.invalid}
    return session.evolve(
        resolved_schema=row,
        schema_complete=status.complete,
        schema_has_any_value=status.has_any_value,
        missing_required_fields=status.missing,
        missing_field_options=dict(status.options),
    ).with_values(
        FormParams(
            missing_fields=list(status.missing),
            missing_field_options=dict(status.options),
            schema_invalid_fields=invalid,
            schema_field_details=form.describe_fields(),
            schema_description=row.description or "",
            schema_id=row.schema_id,
        )
    )


def lock_intent(session: Session, complete: bool) -> Session:
    """Lock the intent while the form is incomplete, and unlock it once it is complete."""
    return session.evolve(intent_locked=not complete, intent_lock_reason=None if complete else SCHEMA_INCOMPLETE)


def clear_form_facts(session: Session) -> Session:
    """Remove the lock and the facts of the form, but for its input params: the scope has no form."""
    return lock_intent(session, True).evolve(
        resolved_schema=None,
        schema_complete=False,
        schema_has_any_value=False,
        missing_required_fields=(),
        missing_field_options={},
    )
