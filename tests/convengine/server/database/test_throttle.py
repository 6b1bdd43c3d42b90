"""Counters that all processes share."""

import threading

import pytest
from django.db import connection

from convengine.server.database import throttle
from convengine.server.database.throttle import Delay

pytestmark = [pytest.mark.django_db, pytest.mark.dialects]
DELAY = Delay(free=3, longest=60)


def count_rows() -> int:
    with connection.cursor() as cursor:
        cursor.execute("SELECT count(*) FROM ce_throttle")
        return int(cursor.fetchone()[0])


def test_calls_count_by_window() -> None:
    assert throttle.count_call("a", 60, 120.0) == (1, 60.0)
    assert throttle.count_call("a", 60, 150.0) == (2, 30.0)
    assert throttle.count_call("b", 60, 150.0) == (1, 30.0)
    assert throttle.count_call("a", 60, 180.0) == (1, 60.0)


def test_delays_grow_after_the_free_attempts_up_to_the_longest() -> None:
    now, delays = 1000.0, []
    for _ in range(12):
        assert throttle.count_attempt("a", DELAY, now) == 0
        wait = throttle.count_attempt("a", DELAY, now + 0.5) if len(delays) >= 2 else 0
        delays.append(round(wait + 0.5) if wait else 0)
        now += max(delays[-1], 1)
    assert delays == [0, 0, 1, 2, 4, 8, 16, 32, 60, 60, 60, 60]


def test_a_refused_attempt_does_not_make_the_delay_longer() -> None:
    for _ in range(5):
        throttle.count_attempt("a", Delay(1, 60), 1000.0)

    assert throttle.count_attempt("a", Delay(1, 60), 1000.25) == 0.75
    assert throttle.count_attempt("a", Delay(1, 60), 1001.0) == 0


def test_attempts_are_forgotten() -> None:
    for second in range(10):
        throttle.count_attempt("a", DELAY, 1000.0 + 100 * second)

    assert throttle.count_attempt("a", DELAY, 9000.0) == 0
    assert throttle.count_attempt("a", DELAY, 9000.0) == 0


def test_a_success_does_not_count() -> None:
    for _ in range(20):
        assert throttle.count_attempt("a", DELAY, 1000.0) == 0
        throttle.take_back_attempt("a", 1000.0)
    assert throttle.count_attempt("a", DELAY, 1000.0) == 0


def test_a_name_is_remembered_for_its_time() -> None:
    throttle.remember("a", 10, 1000.0)

    assert throttle.is_remembered("a", 1009.0)
    assert not throttle.is_remembered("a", 1010.0)
    assert not throttle.is_remembered("b", 1000.0)


def test_expired_counters_go_and_names_are_not_stored() -> None:
    throttle.count_call("192.0.2.7", 60, 120.0)
    throttle.count_attempt("192.0.2.7", DELAY, 120.0)
    with connection.cursor() as cursor:
        cursor.execute("SELECT key FROM ce_throttle")
        assert all(len(key) == 64 for (key,) in cursor.fetchall())

    assert throttle.remove_expired(200.0) == 1
    assert throttle.remove_expired(9000.0) == 1
    assert (throttle.remove_expired(9000.0), count_rows()) == (0, 0)


@pytest.mark.django_db(transaction=True)
def test_parallel_calls_are_all_counted() -> None:
    def call() -> None:
        for _ in range(25):
            throttle.count_call("a", 60, 120.0)
        connection.close()

    threads = [threading.Thread(target=call) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()

    assert throttle.count_call("a", 60, 120.0)[0] == 101


def test_a_name_is_used_once_until_its_time_is_over() -> None:
    uses = [throttle.use_once("code", 60, now) for now in (1000, 1000, 1059, 1060, 1061)]
    assert uses == [True, False, False, True, False]
