"""IntentResolutionStep: decide what the message is about (pipeline-1 14)."""

from convengine.continuity.meaning import settled
from convengine.continuity.new_task import NEW_TASK_FIELDS
from convengine.domain.outcome import Continue
from convengine.domain.session import Session
from convengine.domain.turn import Turn
from convengine.intents.resolve import RESOLVE_FIELDS, resolve_intent
from convengine.pipeline.step import Step


class IntentResolutionStep(Step):
    """Keep the intent while something holds it, else ask the resolvers."""

    after = ("GuardrailStep",)
    rank = 1300
    requires_persisted = True
    writes = RESOLVE_FIELDS | NEW_TASK_FIELDS

    def execute(self, session: Session, turn: Turn) -> Continue:
        """Resolve; on a thread the message may turn out to begin a new session."""
        return Continue(settled(resolve_intent(session, turn), turn))
