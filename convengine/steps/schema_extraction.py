"""SchemaExtractionStep: fill the form of the intent and state; hold the intent until it is complete (pipeline-2 5)."""

from convengine.domain.enums import RulePhase
from convengine.domain.outcome import Continue
from convengine.domain.scope import INTENT_COLLISION
from convengine.domain.session import Session
from convengine.domain.stages import Stage
from convengine.domain.text import blank, code, truthy
from convengine.domain.turn import Turn
from convengine.pipeline.step import Step
from convengine.rules.apply import RULE_FIELDS, run_phase
from convengine.schemas.collect import COLLECT_FIELDS, collected, hydrated, seeded
from convengine.schemas.facts import usable_form, without_form
from convengine.schemas.select import decide_schema


class SchemaExtractionStep(Step):
    """Read the message into the form; rules of phase POST_SCHEMA_EXTRACTION see the result."""

    after = ("AddContainerDataStep",)
    rank = 1700
    requires_persisted = True
    writes = COLLECT_FIELDS | RULE_FIELDS

    def execute(self, session: Session, turn: Turn) -> Continue:
        """Without a schema the intent is free again (5.1 (3))."""
        row = decide_schema(session, turn)
        form = usable_form(session, turn, row)
        if row is None or form is None:
            return Continue(without_form(session))
        given = session if _idle(session) else seeded(session, form)
        if _idle(session) or (blank(session.user_text) and given is session):
            return Continue(hydrated(session, turn, row, form))
        turn.audit(session, Stage.SCHEMA_EXTRACTION_START, schemaId=row.schema_id)
        session = collected(given, turn, row, form)
        return Continue(run_phase(RulePhase.POST_SCHEMA_EXTRACTION, self.name, session, turn))


def _idle(session: Session) -> bool:
    """True when an earlier step has handled the message, or has the answer already (5.4, R35).

    Or when it is open which intent was meant: no form may read the message, nor hold the intent (R37).
    """
    skip = truthy(session.input_params.get("skip_schema_extraction")) or code(session.state) == INTENT_COLLISION
    return skip or session.reset_only or session.reply_override is not None
