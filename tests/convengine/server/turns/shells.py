"""A turn in its parts: leased, run, and not stored yet."""

from typing import Any

from convengine.engine.turn.turn import TurnRequest
from convengine.server import wiring
from convengine.server.turns import acquire as leases
from convengine.server.turns import take_turn
from convengine.server.turns.commit import EndedTurn


def ran(conversation_id: str, text: str, **values: Any) -> EndedTurn:
    """Take the lease and run the engine."""
    request = TurnRequest(conversation_id, text, **values)
    lease = leases.acquire(request)
    turn, tape = take_turn.open_turn(request, lease)
    return EndedTurn(turn, lease, wiring.engine().run(turn), tape)
