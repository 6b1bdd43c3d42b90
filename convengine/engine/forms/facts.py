"""What a turn knows about its form: the facts, their input params, the form lock (pipeline-2 5.3)."""

from collections.abc import Mapping

from convengine.engine.forms.form import Form, get_form
from convengine.engine.forms.status import SchemaStatus, describe_fields
from convengine.engine.turn.rows import OutputSchema
from convengine.engine.turn.session import Session
from convengine.engine.turn.turn import Turn

#: Session fields that these functions change.
FACT_FIELDS = frozenset(
    {
        "resolved_schema", "schema_complete", "schema_has_any_value", "missing_required_fields",
        "missing_field_options", "intent_locked", "intent_lock_reason", "input_params",
    }
)  # fmt: skip
SCHEMA_INCOMPLETE = "SCHEMA_INCOMPLETE"


def get_usable_form(session: Session, turn: Turn, row: OutputSchema | None) -> Form | None:
    """The form of a schema row; null for none, and for an unusable one, which is reported once."""
    if row is None:
        return None
    form = get_form(turn.snapshot, row)
    if form.problem:
        turn.audit_invalid_row(session, row, form.problem)
        return None
    return form


def set_form_facts(
    session: Session, row: OutputSchema, status: SchemaStatus, rejected: Mapping[str, str] | None = None
) -> Session:
    """Add the facts of the form. `rejected`: values of this message that were rejected, with the reason."""
    invalid = {**(rejected or {}), **status.invalid}
    return session.evolve(
        resolved_schema=row,
        schema_complete=status.complete,
        schema_has_any_value=status.has_any_value,
        missing_required_fields=status.missing,
        missing_field_options=dict(status.options),
    ).with_params(
        {
            "missing_fields": list(status.missing),
            "missing_field_options": dict(status.options),
            "schema_invalid_fields": invalid,
            "schema_field_details": describe_fields(row.json_schema),
            "schema_description": row.description or "",
            "schema_id": row.schema_id,
        }
    )


def lock_intent(session: Session, complete: bool) -> Session:
    """Lock the intent until the form is complete (pipeline-1 14.10)."""
    return session.evolve(intent_locked=not complete, intent_lock_reason=None if complete else SCHEMA_INCOMPLETE)


def clear_form_facts(session: Session) -> Session:
    """Remove the facts and the lock for a scope without a form (pipeline-2 5.1 (3))."""
    return lock_intent(session, True).evolve(
        resolved_schema=None,
        schema_complete=False,
        schema_has_any_value=False,
        missing_required_fields=(),
        missing_field_options={},
    )
