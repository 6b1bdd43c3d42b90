"""Waiting for a lease that somebody holds, in order of arrival (sessions 6, R28)."""

import time
from collections.abc import Callable
from typing import TypeVar

from django.db import connection

from convengine import conf
from convengine.domain import settings
from convengine.domain.catalogue.session import LEASE_WAIT_SECONDS
from convengine.errors import ConversationClosed, TurnInProgress
from convengine.sessions import tickets
from convengine.sessions.failed import bury

T = TypeVar("T")

#: Seconds that a waiting turn sleeps between two looks, for each place in the queue, and at most.
_POLL, _LONGEST_POLL = 0.005, 0.25


def wait(conversation_id: str, take: Callable[[int], T | None], look_up: Callable[[], None]) -> T:
    """Draw a ticket and poll with short statements; neither transaction nor connection is held in between (R28).

    When nobody is ahead, `take` tries for the lease with the ticket, and gives nothing when it was not to be had.
    `look_up` is called at every look, and may raise. Raises TurnInProgress when `Session/LEASE_WAIT_SECONDS` are over,
    ConversationClosed when the session of a thread ends meanwhile.
    """
    limit = settings.read(conf.load("SNAPSHOT").current(), LEASE_WAIT_SECONDS).value
    ticket = tickets.draw(conversation_id)
    arrived = refreshed = moved = time.monotonic()
    place: int | None = None
    try:
        while (now := time.monotonic()) < arrived + limit:
            seen = tickets.look(conversation_id, ticket)
            if seen.closed:
                raise ConversationClosed()
            if seen.ahead == 0 and _free(conversation_id, seen) and (taken := take(ticket)):
                return taken
            look_up()
            if now > refreshed + tickets.LIFE / 3:
                refreshed = now
                tickets.refresh(ticket)
            if seen.ahead != place:
                place, moved = seen.ahead, now
            release_connection()
            # Quick while the queue moves; a turn that lasts is looked at ever more seldom.
            time.sleep(min(max(_POLL * (seen.ahead + 1), (now - moved) / 8), _LONGEST_POLL))
        raise TurnInProgress()
    finally:
        tickets.discard(conversation_id, ticket)


def _free(conversation_id: str, seen: tickets.Look) -> bool:
    """Nobody holds the lease, or a dead turn did."""
    return not seen.held or (seen.expired and bury(conversation_id))


def release_connection() -> None:
    """Give the connection back to the pool: whoever waits holds none."""
    if not connection.in_atomic_block:
        connection.close()
