"""A turn in its parts: leased, run, and not stored yet."""

from dataclasses import dataclass
from typing import Any

from convengine.engine.pipeline.engine import EngineOutcome
from convengine.engine.turn.recording import Recording
from convengine.engine.turn.turn import Turn, TurnRequest
from convengine.server import wiring
from convengine.server.turns import acquire as leases
from convengine.server.turns import take_turn


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
    lease = leases.acquire(request)
    turn, tape = take_turn.open_turn(request, lease)
    return Ran(turn, lease, wiring.engine().run(turn), tape)
