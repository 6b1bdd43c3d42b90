import threading
import time
import uuid
from collections.abc import Callable
from datetime import timedelta
from typing import Any

import pytest
from django.db import connection, transaction
from django.utils import timezone

from config_admin.models import CeConfig
from convengine.engine.errors import ConvEngineError, TurnInProgress
from convengine.engine.pipeline.hooks import Hooks, StepHook
from convengine.engine.turn.session import Session
from convengine.server import wiring
from convengine.server.sessions.models import CeConversation, CeTurnTicket
from convengine.server.turns import waiting
from convengine.server.turns.answer import TurnAnswer
from convengine.server.turns.waiting import QueueState
from tests.convengine.server.turns.test_take_turn import hold_lease, say
from tests.worlds import create_help_desk

pytestmark = [pytest.mark.django_db, pytest.mark.dialects]


def in_the_middle_of_a_turn(monkeypatch: pytest.MonkeyPatch, call: Callable[[], None]) -> None:
    """Let the next turn, and only that one, make the call while it runs."""
    calls = [call]

    class Meanwhile(StepHook):
        def before_step(self, step_name: str, session: Session, turn: Any) -> Session:
            if step_name == "RulesStep" and calls:
                calls.pop()()
            return session

    monkeypatch.setattr(wiring.engine(), "_hooks", Hooks([Meanwhile()]))


@pytest.mark.django_db(transaction=True)
def test_P2_11_V5_of_two_parallel_turns_one_waits_for_the_other(
    conversation_id: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    answers: list[TurnAnswer] = []

    def speak() -> None:
        answers.append(say(conversation_id, "fees"))
        connection.close()

    second = threading.Thread(target=speak)

    def meanwhile() -> None:
        second.start()
        deadline = time.monotonic() + 20
        while not CeTurnTicket.objects.exists() and time.monotonic() < deadline:
            time.sleep(0.01)

    in_the_middle_of_a_turn(monkeypatch, meanwhile)
    answers.append(say(conversation_id))
    second.join()

    assert [(answer.turn_no, answer.session.intent) for answer in answers] == [(2, "HOURS"), (3, "FEES")]
    assert CeConversation.objects.get().turn_count == 3
    assert not CeTurnTicket.objects.exists()


@pytest.mark.amended("R3")
def test_P2_11_V5_of_two_parallel_turns_one_gets_a_409_where_waiting_is_off(
    conversation_id: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    CeConfig.objects.create(config_type="Session", config_key="ON_CONCURRENT_TURN", config_value="reject")
    refused: list[ConvEngineError] = []

    def meanwhile() -> None:
        with pytest.raises(TurnInProgress) as error:
            say(conversation_id, "fees")
        refused.append(error.value)

    in_the_middle_of_a_turn(monkeypatch, meanwhile)
    answer = say(conversation_id)

    assert answer.error is None
    assert [(error.code, error.status, error.recoverable) for error in refused] == [("TURN_IN_PROGRESS", 409, True)]
    assert CeConversation.objects.get().turn_count == 2


def test_a_waiting_turn_gives_up_when_its_time_is_over_and_leaves_no_ticket(conversation_id: str) -> None:
    CeConfig.objects.create(config_type="Session", config_key="LEASE_WAIT_SECONDS", config_value="1")
    hold_lease(conversation_id, 60)

    with pytest.raises(TurnInProgress):
        say(conversation_id)

    assert not CeTurnTicket.objects.exists()


def test_a_turn_that_lasts_is_looked_at_ever_more_seldom(conversation_id: str) -> None:
    CeConfig.objects.create(config_type="Session", config_key="LEASE_WAIT_SECONDS", config_value="2")
    hold_lease(conversation_id, 60)
    looks = 0

    def count(execute: Any, sql: str, *more: Any) -> Any:
        nonlocal looks
        looks += "ce_turn_ticket t" in sql and sql.startswith("SELECT")
        return execute(sql, *more)

    with connection.execute_wrapper(count), pytest.raises(TurnInProgress):
        say(conversation_id)

    # At the first pause of five milliseconds it would be four hundred.
    assert 5 < looks < 60


@pytest.mark.django_db(transaction=True)
def test_a_lease_that_runs_out_while_a_turn_waits_is_taken_at_once() -> None:
    create_help_desk()
    name = str(uuid.uuid4())
    say(name)
    hold_lease(name, 1)
    began = time.monotonic()

    answer = say(name, "fees")

    assert answer.turn_no == 3
    assert 0.5 < time.monotonic() - began < 20


@pytest.mark.django_db(transaction=True)
def test_turns_that_wait_run_in_order_of_arrival() -> None:
    create_help_desk()
    name = str(uuid.uuid4())
    say(name)
    hold_lease(name, 60)
    numbers: dict[int, int] = {}

    def speak(index: int) -> None:
        numbers[index] = say(name).turn_no
        connection.close()

    threads = [threading.Thread(target=speak, args=[index]) for index in range(5)]
    for count, thread in enumerate(threads, start=1):
        thread.start()
        deadline = time.monotonic() + 20
        while CeTurnTicket.objects.count() < count and time.monotonic() < deadline:
            time.sleep(0.01)
    CeConversation.objects.update(lease_expires_at=timezone.now() - timedelta(seconds=1))
    for thread in threads:
        thread.join()

    assert [numbers[index] for index in range(5)] == [3, 4, 5, 6, 7]


def dead(ticket: int) -> int:
    """A ticket whose waiter does not refresh it any more."""
    CeTurnTicket.objects.filter(pk=ticket).update(expires_at=timezone.now() - timedelta(seconds=1))
    return ticket


def test_a_free_conversation_has_nobody_ahead(conversation_id: str) -> None:
    assert waiting.read_queue(conversation_id, waiting.draw_ticket(conversation_id)) == QueueState(
        ahead=0, held=False, expired=False
    )


def test_only_live_and_older_tickets_of_the_conversation_are_ahead(conversation_id: str) -> None:
    waiting.draw_ticket(str(uuid.uuid4()))
    dead(waiting.draw_ticket(conversation_id))
    waiting.draw_ticket(conversation_id)
    mine = waiting.draw_ticket(conversation_id)
    waiting.draw_ticket(conversation_id)

    assert waiting.read_queue(conversation_id, mine).ahead == 1


@pytest.mark.parametrize(("seconds", "expired"), [(60, False), (-1, True)])
def test_a_held_lease_is_seen_and_whether_it_ran_out(conversation_id: str, seconds: int, expired: bool) -> None:
    hold_lease(conversation_id, seconds)

    assert waiting.read_queue(conversation_id, waiting.draw_ticket(conversation_id)) == QueueState(
        0, held=True, expired=expired
    )


def test_a_deleted_conversation_has_nobody_ahead(conversation_id: str) -> None:
    ticket = waiting.draw_ticket(conversation_id)
    CeConversation.objects.all().delete()

    assert waiting.read_queue(conversation_id, ticket) == QueueState(ahead=0, held=False, expired=False)


def test_a_refreshed_ticket_lives_on(conversation_id: str) -> None:
    first = dead(waiting.draw_ticket(conversation_id))
    waiting.refresh_ticket(first)

    assert waiting.read_queue(conversation_id, waiting.draw_ticket(conversation_id)).ahead == 1


def test_who_leaves_clears_the_tickets_of_the_dead_away(conversation_id: str) -> None:
    dead(waiting.draw_ticket(conversation_id))
    mine, behind = waiting.draw_ticket(conversation_id), waiting.draw_ticket(conversation_id)

    waiting.discard_ticket(conversation_id, mine)

    assert list(CeTurnTicket.objects.values_list("pk", flat=True)) == [behind]


@pytest.mark.django_db(transaction=True)
@pytest.mark.skipif("connection.vendor != 'postgresql'", reason="one writer at a time elsewhere")
def test_nobody_has_a_higher_ticket_before_the_lower_one_can_be_seen(conversation_id: str) -> None:
    drawn = threading.Event()
    seen: list[QueueState] = []

    def come_later() -> None:
        mine = waiting.draw_ticket(conversation_id)
        drawn.set()
        seen.append(waiting.read_queue(conversation_id, mine))
        connection.close()

    later = threading.Thread(target=come_later)
    with transaction.atomic():
        first = waiting.draw_ticket(conversation_id)
        other = threading.Thread(target=lambda: (waiting.draw_ticket(str(uuid.uuid4())), connection.close()))
        other.start()
        # Another conversation's queue is another line.
        other.join(60)
        assert not other.is_alive()
        later.start()
        assert not drawn.wait(0.3)
    later.join(60)

    assert [look.ahead for look in seen] == [1]
    assert first < CeTurnTicket.objects.order_by("-pk").values_list("pk", flat=True)[0]
