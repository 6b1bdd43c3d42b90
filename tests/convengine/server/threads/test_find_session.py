"""Finding and making the sessions of threads, also of several messages at once. The table is in `rows`."""

import threading
from collections import Counter
from typing import Any

import pytest
from django.db import connection

from convengine.server.sessions.models import CeConversation
from convengine.server.threads.find_session import Thread, find_or_begin_session
from convengine.server.turns import waiting
from tests.convengine.server.turns.test_take_turn import hold_lease
from tests.threads import Participant, row_of, setting, travel_desk

pytestmark = [pytest.mark.django_db, pytest.mark.dialects]


def get_decision(answer: Any) -> tuple[str, str]:
    return answer["decision"], answer["reason"]


def test_resolving_alone_finds_the_same_session_and_takes_no_turn(guest: Participant) -> None:
    first, second = guest.resolve(), guest.resolve()

    assert (get_decision(first), get_decision(second)) == (("new", "first_message"), ("continue", "within_timeout"))
    assert first["session_id"] == second["session_id"]
    assert second["session"]["turn_count"] == 0


def test_a_wish_to_start_over_waits_for_the_turn_that_runs(guest: Participant) -> None:
    first = guest.say("a trip")
    setting("LEASE_WAIT_SECONDS", "1")
    hold_lease(first["session_id"], 60)

    answer = guest.say("reset")

    assert (answer["ok"], answer["errorCode"]) == (False, "TURN_IN_PROGRESS")
    assert row_of(first).lifecycle == "PENDING_COMPLETE"


def test_a_wish_to_start_over_meets_a_dead_turn_and_leaves_its_record(guest: Participant) -> None:
    first = guest.say("a trip")
    hold_lease(first["session_id"], -1)

    answer = guest.say("reset")

    assert get_decision(answer) == ("new", "explicit_reset")
    assert row_of(first).turns.get(turn_no=2).error_code == "LEASE_EXPIRED"


def test_a_wish_to_start_over_outlasts_a_waiter_that_died(guest: Participant, monkeypatch: pytest.MonkeyPatch) -> None:
    first = guest.say("a trip")
    monkeypatch.setattr(waiting, "TICKET_SECONDS", 0.5)
    waiting.draw_ticket(first["session_id"])

    answer = guest.say("reset")

    assert get_decision(answer) == ("new", "explicit_reset")
    assert row_of(first).lifecycle == "ABORTED"


@pytest.mark.django_db(transaction=True)
def test_64_first_messages_at_once_make_one_session() -> None:
    travel_desk()
    thread, sessions = Thread("default", "whatsapp", "+1555"), []
    ready = threading.Barrier(16)

    def arrive() -> None:
        ready.wait()
        sessions.extend(find_or_begin_session(thread, "hello") for _ in range(4))
        connection.close()

    threads = [threading.Thread(target=arrive) for _ in range(16)]
    for worker in threads:
        worker.start()
    for worker in threads:
        worker.join()

    assert len({session.session_id for session in sessions}) == 1
    assert Counter(session.reason.value for session in sessions) == {"first_message": 1, "within_timeout": 63}
    assert CeConversation.objects.count() == 1


@pytest.mark.django_db(transaction=True)
def test_of_many_that_start_over_at_once_each_session_but_the_last_is_aborted() -> None:
    travel_desk()
    thread, sessions = (
        Thread("default", "whatsapp", "+1555"),
        [find_or_begin_session(Thread("default", "whatsapp", "+1555"), "hi")],
    )
    ready = threading.Barrier(8)

    def arrive() -> None:
        ready.wait()
        sessions.append(find_or_begin_session(thread, "start over"))
        connection.close()

    threads = [threading.Thread(target=arrive) for _ in range(8)]
    for worker in threads:
        worker.start()
    for worker in threads:
        worker.join()

    rows = CeConversation.objects.all()
    assert len({session.session_id for session in sessions}) == len(rows) == 9
    assert Counter(row.lifecycle for row in rows) == {"ABORTED": 8, "RUNNING": 1}
    assert len({row.previous_session_id for row in rows}) == 9
