"""A deployment's extension for tests: each turn that got the lease is noted in CE_TEST_NOTES, as `<number> <ticket>`.

The ticket is 0 for a turn that found the lease free and drew none.
"""

import os
import threading
from typing import Any

from convengine.server.turns import take_turn as turns
from convengine.server.turns import waiting


class _Drawn(threading.local):
    """The ticket of the request of this thread."""

    ticket = 0


_drawn = _Drawn()
#: One write of so few bytes to a file that is open for appending is never torn, whoever else writes.
_notes = os.open(os.environ["CE_TEST_NOTES"], os.O_WRONLY | os.O_APPEND | os.O_CREAT)


def _draw(conversation_id: str, draw: Any = waiting.draw_ticket) -> int:
    _drawn.ticket = draw(conversation_id)
    return _drawn.ticket


def _take(*asked: Any, take: Any = turns.acquire) -> Any:
    _drawn.ticket = 0
    lease = take(*asked)
    os.write(_notes, f"{lease.turn_no} {_drawn.ticket}\n".encode())
    return lease


waiting.draw_ticket = _draw
turns.acquire = _take
