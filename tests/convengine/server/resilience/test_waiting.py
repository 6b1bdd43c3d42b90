import threading
import time
from collections.abc import Callable
from contextlib import suppress
from typing import Any

import pytest
from django.db import connection, transaction

from convengine.server.resilience.waiting import Overloaded, WaitingSlots, running_slots


class Slots:
    """Notes what happens to a running slot."""

    def __init__(self) -> None:
        self.notes: list[str] = []

    def release(self) -> None:
        self.notes.append("released")

    def acquire(self) -> None:
        self.notes.append("acquired")


@pytest.fixture
def slots() -> WaitingSlots:
    return WaitingSlots("MAX_WAITING_FOR_MODELS")


def hold_in_thread(slots: WaitingSlots, until: threading.Event) -> Callable[[], None]:
    def hold() -> None:
        with slots.hold():
            until.wait()

    thread = threading.Thread(target=hold)
    thread.start()
    while not slots.count()["used"]:
        time.sleep(0.001)

    def end() -> None:
        until.set()
        thread.join()

    return end


def test_a_wait_without_a_free_slot_is_refused_at_once(slots: WaitingSlots, settings: Any) -> None:
    settings.CONVENGINE = {**settings.CONVENGINE, "MAX_WAITING_FOR_MODELS": 1}
    end = hold_in_thread(slots, threading.Event())
    try:
        with pytest.raises(Overloaded, match="Too many turns"), slots.hold():
            pass
    finally:
        end()
    with slots.hold():
        assert slots.count() == {"used": 1, "most": 1, "limit": 1, "refused": 1}
    assert slots.count()["used"] == 0


def test_a_thread_that_need_not_wait_keeps_its_running_slot_when_no_waiting_slot_is_free(
    slots: WaitingSlots, settings: Any
) -> None:
    settings.CONVENGINE = {**settings.CONVENGINE, "MAX_WAITING_FOR_MODELS": 1}
    running = Slots()
    token = running_slots.set(running)
    end = hold_in_thread(slots, threading.Event())
    try:
        with slots.hold(is_required=False):
            assert running.notes == []
        assert slots.count() == {"used": 1, "most": 1, "limit": 1, "refused": 0}
    finally:
        end()
        running_slots.reset(token)
    assert slots.count()["used"] == 0


def test_a_thread_that_waits_gives_its_running_slot_to_others(slots: WaitingSlots) -> None:
    running = Slots()
    token = running_slots.set(running)
    try:
        with slots.hold():
            assert running.notes == ["released"]
            # Code that it waits for needs no second slot.
            with slots.hold():
                assert slots.count()["used"] == 1
    finally:
        running_slots.reset(token)

    assert running.notes == ["released", "acquired"]


@pytest.mark.django_db(transaction=True)
def test_a_thread_inside_a_transaction_keeps_its_running_slot(slots: WaitingSlots) -> None:
    running = Slots()
    token = running_slots.set(running)
    try:
        with transaction.atomic(), slots.hold():
            assert connection.connection is not None
    finally:
        running_slots.reset(token)

    assert running.notes == []


@pytest.mark.django_db(transaction=True)
def test_a_thread_that_waits_holds_no_connection(slots: WaitingSlots) -> None:
    connection.ensure_connection()
    with slots.hold():
        assert connection.connection is None


@pytest.mark.django_db(transaction=True)
@pytest.mark.parametrize("fault", [None, ValueError])
def test_a_thread_takes_its_running_slot_again_without_a_connection(
    slots: WaitingSlots, fault: type[Exception] | None
) -> None:
    class Looking(Slots):
        def acquire(self) -> None:
            # Those who run may wait for the connections of those who want to run.
            assert connection.connection is None
            super().acquire()

    running = Looking()
    token = running_slots.set(running)
    try:
        with suppress(ValueError), slots.hold():
            connection.ensure_connection()
            if fault:
                raise fault
    finally:
        running_slots.reset(token)

    assert running.notes == ["released", "acquired"]
