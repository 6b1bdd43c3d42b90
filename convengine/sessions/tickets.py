"""The queue in front of a held lease: who waits draws a ticket, and the lease goes to the lowest live one (R28)."""

from dataclasses import dataclass

from django.db import connection

from convengine.sessions.sql import dialect

#: Seconds that a ticket lives without being refreshed: a waiter that died holds nobody up for longer.
LIFE = 3.0


@dataclass(frozen=True)
class Look:
    """What a waiting turn sees."""

    #: Live tickets that are older.
    ahead: int
    #: Somebody holds the lease.
    held: bool
    #: Its holder has not renewed it in time.
    expired: bool
    #: The session has ended: nobody gets its lease any more.
    closed: bool = False


def draw(conversation_id: str) -> int:
    """Take a place at the end of the queue.

    One draws after the other, or a higher ticket could be there before a lower one is, and take the lease.
    """
    here = dialect()
    with connection.cursor() as cursor:
        cursor.execute(
            f"INSERT INTO ce_turn_ticket (conversation_id, arrived_at, expires_at) "
            f"SELECT %s, {here.now()}, {here.now(LIFE)} WHERE {here.alone()} RETURNING id, {here.soon_durable()}",
            [here.uuid(conversation_id), conversation_id],
        )
        return int(cursor.fetchone()[0])


def look(conversation_id: str, ticket: int) -> Look:
    """How the queue and the lease stand, in one short statement."""
    here = dialect()
    with connection.cursor() as cursor:
        cursor.execute(
            f"""SELECT (SELECT count(*) FROM ce_turn_ticket t
                         WHERE t.conversation_id = c.conversation_id AND t.id < %s AND t.expires_at > {here.now()}),
                       lease_token IS NOT NULL, lease_expires_at < {here.now()},
                       lifecycle IN ('COMPLETE', 'ABORTED') AND channel <> 'api'
                  FROM ce_conversation c WHERE conversation_id = %s""",
            [ticket, here.uuid(conversation_id)],
        )
        ahead, held, expired, closed = cursor.fetchone() or (0, False, False, False)
    return Look(int(ahead), bool(held), bool(expired), bool(closed))


def refresh(ticket: int) -> None:
    """Keep the place."""
    with connection.cursor() as cursor:
        cursor.execute(f"UPDATE ce_turn_ticket SET expires_at = {dialect().now(LIFE)} WHERE id = %s", [ticket])


def discard(conversation_id: str, ticket: int) -> None:
    """Leave the queue, and clear away the tickets of waiters that died."""
    here = dialect()
    with connection.cursor() as cursor:
        cursor.execute(
            f"DELETE FROM ce_turn_ticket WHERE conversation_id = %s AND (id = %s OR expires_at < {here.now()})",
            [here.uuid(conversation_id), ticket],
        )
