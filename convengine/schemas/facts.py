"""What a turn knows of its form: the schema facts, the input params beside them, the lock (pipeline-2 5.3)."""

from collections.abc import Mapping

from convengine.domain.rows import OutputSchema
from convengine.domain.session import Session
from convengine.domain.turn import Turn
from convengine.schemas.form import Form, form_of
from convengine.schemas.status import SchemaStatus, field_details

#: Session fields that the functions of this page change.
FACT_FIELDS = frozenset(
    {
        "resolved_schema", "schema_complete", "schema_has_any_value", "missing_required_fields",
        "missing_field_options", "intent_locked", "intent_lock_reason", "input_params",
    }
)  # fmt: skip
SCHEMA_INCOMPLETE = "SCHEMA_INCOMPLETE"


def usable_form(session: Session, turn: Turn, row: OutputSchema | None) -> Form | None:
    """The form of a schema row; null for none, and for one that cannot be collected, which is told once."""
    if row is None:
        return None
    form = form_of(turn.snapshot, row)
    if form.problem:
        turn.row_invalid(session, row, form.problem)
        return None
    return form


def with_facts(
    session: Session, row: OutputSchema, status: SchemaStatus, rejected: Mapping[str, str] | None = None
) -> Session:
    """The session knowing its form. `rejected`: values of this message that were not taken, with the reason."""
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
            "schema_field_details": field_details(row.json_schema),
            "schema_description": row.description or "",
            "schema_id": row.schema_id,
        }
    )


def locked(session: Session, complete: bool) -> Session:
    """The session with its intent held until the form is complete (pipeline-1 14.10)."""
    return session.evolve(intent_locked=not complete, intent_lock_reason=None if complete else SCHEMA_INCOMPLETE)


def without_form(session: Session) -> Session:
    """The session of a scope that collects nothing: no facts, no lock (pipeline-2 5.1 (3))."""
    return locked(session, True).evolve(
        resolved_schema=None,
        schema_complete=False,
        schema_has_any_value=False,
        missing_required_fields=(),
        missing_field_options={},
    )
