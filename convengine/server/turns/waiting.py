"""Wait for a held lease, in order of arrival."""

import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import TypeVar

from django.db import connection

from convengine.engine.errors import ServerOverloaded, TurnInProgress
from convengine.engine.threads.settings import LEASE_WAIT_SECONDS
from convengine.engine.turn import live_settings
from convengine.server.database.sql import dialect, release_connections
from convengine.server.interfaces.configuration import configuration
from convengine.server.observability import metrics
from convengine.server.resilience.waiting import Overloaded, for_leases
from convengine.server.turns.dead_turns import recover_expired_lease

T = TypeVar("T")

#: Seconds that a ticket lives without being refreshed, so that a dead one does not block the queue.
TICKET_SECONDS = 3.0
#: Higher than every ticket.
LAST_TICKET = 2**62
#: Seconds that a waiting turn sleeps between two looks at the queue, for each ticket ahead, and at most.
_POLL, _LONGEST_POLL = 0.005, 0.25


@dataclass(frozen=True)
class QueueState:
    #: Live tickets that are older.
    ahead: int
    #: A turn holds the lease.
    held: bool
    #: Its holder has not renewed it in time.
    expired: bool
    #: The session has ended: nobody gets its lease any more.
    closed: bool = False


def wait_for_lease(
    conversation_id: str, try_with: Callable[[int], T | None], at_each_look: Callable[[], object] | None = None
) -> T | None:
    """Draw a ticket and poll with short statements; neither transaction nor connection is held in between.

    When nobody is ahead, `try_with` tries for the lease with the ticket. It returns None if it did not get it.
    `at_each_look` is called after each look without success; what it raises ends the wait. Returns None if the session
    of a thread ends meanwhile. Raises TurnInProgress when
    `Session/LEASE_WAIT_SECONDS` are over, ServerOverloaded when too many turns of this process wait.
    """
    limit = live_settings.read(configuration().current(), LEASE_WAIT_SECONDS).value
    try:
        with for_leases.hold():
            return _wait_in_queue(conversation_id, limit, try_with, at_each_look)
    except Overloaded as error:
        raise ServerOverloaded() from error


def _wait_in_queue(
    conversation_id: str, limit: float, try_with: Callable[[int], T | None], at_each_look: Callable[[], object] | None
) -> T | None:
    """Wait with a ticket, which is discarded at the end, and measure the wait."""
    ticket, arrived_at = draw_ticket(conversation_id), time.monotonic()
    metrics.LEASES_WAITING.add(1)
    try:
        return _poll_queue(conversation_id, ticket, limit, try_with, at_each_look)
    finally:
        metrics.LEASES_WAITING.add(-1)
        metrics.LEASE_WAIT_SECONDS.observe(time.monotonic() - arrived_at)
        discard_ticket(conversation_id, ticket)


def _poll_queue(
    conversation_id: str,
    ticket: int,
    limit: float,
    try_with: Callable[[int], T | None],
    at_each_look: Callable[[], object] | None,
) -> T | None:
    """Look at the queue until the lease is acquired. Returns and raises as `wait_for_lease` does."""
    arrived_at = refreshed_at = moved_at = time.monotonic()
    last_ahead: int | None = None
    while (now := time.monotonic()) < arrived_at + limit:
        queue = read_queue(conversation_id, ticket)
        if queue.closed:
            return None
        if queue.ahead == 0 and _is_free(conversation_id, queue) and (acquired := try_with(ticket)):
            return acquired
        if at_each_look:
            at_each_look()
        if now > refreshed_at + TICKET_SECONDS / 3:
            refreshed_at = now
            refresh_ticket(ticket)
        if queue.ahead != last_ahead:
            last_ahead, moved_at = queue.ahead, now
        release_connections()
        # Quick while the queue moves; a long turn is polled ever more rarely.
        time.sleep(min(max(_POLL * (queue.ahead + 1), (now - moved_at) / 8), _LONGEST_POLL))
    raise TurnInProgress()


def _is_free(conversation_id: str, queue: QueueState) -> bool:
    """True when the lease is free. An expired lease is recovered first."""
    return not queue.held or (queue.expired and recover_expired_lease(conversation_id))


def draw_ticket(conversation_id: str) -> int:
    """Draw the ticket at the end of the queue.

    Serialised, or a higher ticket could exist before a lower one, and take the lease.
    """
    sql = dialect()
    with connection.cursor() as cursor:
        cursor.execute(
            f"INSERT INTO ce_turn_ticket (conversation_id, arrived_at, expires_at) "
            f"SELECT %s, {sql.now()}, {sql.now(TICKET_SECONDS)} WHERE {sql.advisory_lock()} "
            f"RETURNING id, {sql.relax_durability()}",
            [sql.uuid_param(conversation_id), conversation_id],
        )
        return int(cursor.fetchone()[0])


def read_queue(conversation_id: str, ticket: int = LAST_TICKET) -> QueueState:
    """What the holder of this ticket sees of the queue and the lease, read in one short statement."""
    sql = dialect()
    with connection.cursor() as cursor:
        cursor.execute(
            f"""SELECT (SELECT count(*) FROM ce_turn_ticket t
                         WHERE t.conversation_id = c.conversation_id AND t.id < %s AND t.expires_at > {sql.now()}),
                       lease_token IS NOT NULL, lease_expires_at < {sql.now()},
                       lifecycle IN ('COMPLETE', 'ABORTED') AND channel <> 'api'
                  FROM ce_conversation c WHERE conversation_id = %s""",
            [ticket, sql.uuid_param(conversation_id)],
        )
        ahead, held, expired, closed = cursor.fetchone() or (0, False, False, False)
    return QueueState(int(ahead), bool(held), bool(expired), bool(closed))


def refresh_ticket(ticket: int) -> None:
    """Extend the life of a ticket by `TICKET_SECONDS`."""
    with connection.cursor() as cursor:
        cursor.execute(
            f"UPDATE ce_turn_ticket SET expires_at = {dialect().now(TICKET_SECONDS)} WHERE id = %s", [ticket]
        )


def discard_ticket(conversation_id: str, ticket: int) -> None:
    """Delete this ticket and the expired tickets of the conversation."""
    sql = dialect()
    with connection.cursor() as cursor:
        cursor.execute(
            f"DELETE FROM ce_turn_ticket WHERE conversation_id = %s AND (id = %s OR expires_at < {sql.now()})",
            [sql.uuid_param(conversation_id), ticket],
        )
