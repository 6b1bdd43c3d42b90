"""CorrectionStep: a yes, a change or a retry is handled where the dialogue stands (pipeline-1 10)."""

from convengine.correction.route import ROUTE_FIELDS, route
from convengine.domain.outcome import Continue
from convengine.domain.session import Session
from convengine.domain.turn import Turn
from convengine.pipeline.step import Step


class CorrectionStep(Step):
    """So that "yes", "change X to Y" and "try again" are not taken for new requests."""

    after = ("InteractionPolicyStep",)
    rank = 900
    requires_persisted = True
    writes = ROUTE_FIELDS

    def execute(self, session: Session, turn: Turn) -> Continue:
        """Route the turn; `routing_decision` is in the input params from here on."""
        return Continue(route(session, turn))
