"""A turn in its parts: leased, run, and not stored yet."""

from dataclasses import dataclass
from typing import Any

from convengine import wiring
from convengine.domain.recording import Recording
from convengine.domain.turn import Turn, TurnRequest
from convengine.pipeline.engine import EngineOutcome
from convengine.sessions import lease as leases
from convengine.sessions import turns


@dataclass
class Ran:
    """What the turn shell has in hand when the engine is done."""

    turn: Turn
    lease: leases.Lease
    outcome: EngineOutcome
    tape: Recording

    @property
    def parts(self) -> tuple[Turn, leases.Lease, EngineOutcome, Recording]:
        """As the commit takes them."""
        return self.turn, self.lease, self.outcome, self.tape


def ran(conversation_id: str, text: str, **values: Any) -> Ran:
    """Take the lease and run the engine."""
    request = TurnRequest(conversation_id, text, **values)
    lease = leases.take(request)
    turn, tape = turns.opened(request, lease)
    return Ran(turn, lease, wiring.engine().run(turn), tape)
