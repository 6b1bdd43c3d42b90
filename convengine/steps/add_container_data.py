"""AddContainerDataStep: reference data for the intent and state, before anything looks at it (pipeline-2 1)."""

from convengine.containers.attach import CONTAINER_FIELDS, attach_containers
from convengine.domain.outcome import Continue
from convengine.domain.session import Session
from convengine.domain.turn import Turn
from convengine.pipeline.step import Step


class AddContainerDataStep(Step):
    """Ask the providers that the container rows name; a provider that fails never fails the turn."""

    after = ("FallbackIntentStateStep",)
    rank = 1600
    requires_persisted = True
    writes = CONTAINER_FIELDS

    def execute(self, session: Session, turn: Turn) -> Continue:
        """Fetch and attach."""
        return Continue(attach_containers(session, turn))
