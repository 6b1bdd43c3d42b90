import threading
import uuid
from datetime import timedelta

import pytest
from django.db import connection, transaction
from django.utils import timezone

from convengine.sessions import tickets
from convengine.sessions.models import CeConversation, CeTurnTicket
from convengine.sessions.tickets import Look
from tests.convengine.sessions.test_turns import hold_lease

pytestmark = pytest.mark.django_db


def dead(ticket: int) -> int:
    """A ticket whose waiter does not refresh it any more."""
    CeTurnTicket.objects.filter(pk=ticket).update(expires_at=timezone.now() - timedelta(seconds=1))
    return ticket


def test_a_free_conversation_has_nobody_ahead(conversation_id: str) -> None:
    assert tickets.look(conversation_id, tickets.draw(conversation_id)) == Look(ahead=0, held=False, expired=False)


def test_only_live_and_older_tickets_of_the_conversation_are_ahead(conversation_id: str) -> None:
    tickets.draw(str(uuid.uuid4()))
    dead(tickets.draw(conversation_id))
    tickets.draw(conversation_id)
    mine = tickets.draw(conversation_id)
    tickets.draw(conversation_id)

    assert tickets.look(conversation_id, mine).ahead == 1


@pytest.mark.parametrize(("seconds", "expired"), [(60, False), (-1, True)])
def test_a_held_lease_is_seen_and_whether_it_ran_out(conversation_id: str, seconds: int, expired: bool) -> None:
    hold_lease(conversation_id, seconds)

    assert tickets.look(conversation_id, tickets.draw(conversation_id)) == Look(0, held=True, expired=expired)


def test_a_deleted_conversation_has_nobody_ahead(conversation_id: str) -> None:
    ticket = tickets.draw(conversation_id)
    CeConversation.objects.all().delete()

    assert tickets.look(conversation_id, ticket) == Look(ahead=0, held=False, expired=False)


def test_a_refreshed_ticket_lives_on(conversation_id: str) -> None:
    first = dead(tickets.draw(conversation_id))
    tickets.refresh(first)

    assert tickets.look(conversation_id, tickets.draw(conversation_id)).ahead == 1


def test_who_leaves_clears_the_tickets_of_the_dead_away(conversation_id: str) -> None:
    dead(tickets.draw(conversation_id))
    mine, behind = tickets.draw(conversation_id), tickets.draw(conversation_id)

    tickets.discard(conversation_id, mine)

    assert list(CeTurnTicket.objects.values_list("pk", flat=True)) == [behind]


@pytest.mark.postgres
@pytest.mark.django_db(transaction=True)
@pytest.mark.skipif("connection.vendor != 'postgresql'", reason="one writer at a time elsewhere")
def test_nobody_has_a_higher_ticket_before_the_lower_one_can_be_seen(conversation_id: str) -> None:
    drawn = threading.Event()
    seen: list[Look] = []

    def come_later() -> None:
        mine = tickets.draw(conversation_id)
        drawn.set()
        seen.append(tickets.look(conversation_id, mine))
        connection.close()

    later = threading.Thread(target=come_later)
    with transaction.atomic():
        first = tickets.draw(conversation_id)
        other = threading.Thread(target=lambda: (tickets.draw(str(uuid.uuid4())), connection.close()))
        other.start()
        # Another conversation's queue is another line.
        other.join(10)
        assert not other.is_alive()
        later.start()
        assert not drawn.wait(0.3)
    later.join(10)

    assert [look.ahead for look in seen] == [1]
    assert first < CeTurnTicket.objects.order_by("-pk").values_list("pk", flat=True)[0]
