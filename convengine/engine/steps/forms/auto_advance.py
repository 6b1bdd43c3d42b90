"""AutoAdvanceStep: publish the form's facts after the extraction rules (pipeline-2 6)."""

from convengine.engine.forms.facts import FACT_FIELDS, lock_intent, set_form_facts
from convengine.engine.forms.form import get_form
from convengine.engine.pipeline.step import Continue, Step
from convengine.engine.steps.forms.stages import AUTO_ADVANCE_FACTS, AUTO_ADVANCE_SKIPPED_NO_SCHEMA
from convengine.engine.turn.session import Session
from convengine.engine.turn.turn import Turn


class AutoAdvanceStep(Step):
    """Publish the facts for rules. This step never changes intent or state."""

    after = ("SchemaExtractionStep",)
    rank = 1800
    requires_persisted = True
    writes = FACT_FIELDS

    def execute(self, session: Session, turn: Turn) -> Continue:
        """Evaluate the form again if rules or tasks changed the context, and update the lock."""
        row = session.resolved_schema
        if row is None:
            turn.audit(session, AUTO_ADVANCE_SKIPPED_NO_SCHEMA, reason="NO_RESOLVED_SCHEMA")
            return Continue(session)
        status = get_form(turn.snapshot, row).status(session.context)
        known = (session.schema_complete, session.schema_has_any_value, session.missing_required_fields)
        if known != (status.complete, status.has_any_value, status.missing):
            turned = status.complete != session.schema_complete
            session = set_form_facts(session, row, status)
            session = lock_intent(session, status.complete) if turned else session
        turn.audit(
            session,
            AUTO_ADVANCE_FACTS,
            schemaComplete=session.schema_complete,
            hasAnySchemaValue=session.schema_has_any_value,
            intent=session.intent,
            state=session.state,
        )
        return Continue(session)
