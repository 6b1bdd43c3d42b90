"""AutoAdvanceStep: publish what is known of the form after the rules of extraction (pipeline-2 6)."""

from convengine.domain.outcome import Continue
from convengine.domain.session import Session
from convengine.domain.stages import Stage
from convengine.domain.turn import Turn
from convengine.pipeline.step import Step
from convengine.schemas.facts import FACT_FIELDS, locked, with_facts
from convengine.schemas.form import form_of


class AutoAdvanceStep(Step):
    """Rules act on the facts; this step never changes intent or state."""

    after = ("SchemaExtractionStep",)
    rank = 1800
    requires_persisted = True
    writes = FACT_FIELDS

    def execute(self, session: Session, turn: Turn) -> Continue:
        """Judge the form anew where rules or tasks changed the context; the lock follows."""
        row = session.resolved_schema
        if row is None:
            turn.audit(session, Stage.AUTO_ADVANCE_SKIPPED_NO_SCHEMA, reason="NO_RESOLVED_SCHEMA")
            return Continue(session)
        status = form_of(turn.snapshot, row).status(session.context)
        known = (session.schema_complete, session.schema_has_any_value, session.missing_required_fields)
        if known != (status.complete, status.has_any_value, status.missing):
            turned = status.complete != session.schema_complete
            session = with_facts(session, row, status)
            session = locked(session, status.complete) if turned else session
        turn.audit(
            session,
            Stage.AUTO_ADVANCE_FACTS,
            schemaComplete=session.schema_complete,
            hasAnySchemaValue=session.schema_has_any_value,
            intent=session.intent,
            state=session.state,
        )
        return Continue(session)
