import threading
import time
from collections.abc import Callable

import pytest

from convengine.server.gateway import threads as module
from convengine.server.gateway.threads import RequestThreads
from convengine.server.resilience.waiting import Overloaded, running_slots


def wait_until(condition: Callable[[], bool]) -> None:
    deadline = time.monotonic() + 60
    while not condition():
        assert time.monotonic() < deadline
        time.sleep(0.002)


def test_only_so_many_requests_run_at_once_and_the_others_follow_in_order() -> None:
    threads, done, go = RequestThreads(2, 10), list[int](), threading.Event()
    running, most, lock = [0], [0], threading.Lock()

    def make(number: int) -> Callable[[], None]:
        def work() -> None:
            with lock:
                running[0] += 1
                most[0] = max(most[0], running[0])
            go.wait()
            with lock:
                running[0] -= 1
                done.append(number)

        return work

    for number in range(8):
        threads.submit(make(number))
    assert threads.count()["queued"] == 6
    go.set()
    wait_until(lambda: len(done) == 8)

    assert most[0] == 2
    wait_until(lambda: threads.count()["running"] == 0)
    assert threads.count()["threads"] == 2


def test_too_many_requests_are_refused() -> None:
    threads, go = RequestThreads(1, 1), threading.Event()
    threads.submit(go.wait)
    threads.submit(go.wait)

    with pytest.raises(Overloaded):
        threads.submit(go.wait)
    go.set()


def test_a_request_that_waits_lets_another_run_and_resumes_before_new_ones() -> None:
    threads, notes, go = RequestThreads(1, 10), list[str](), threading.Event()

    def waits() -> None:
        slots = running_slots.get()
        assert slots is threads
        slots.release()
        go.wait()
        slots.acquire()
        notes.append("resumed")

    def works() -> None:
        notes.append("other")
        go.set()
        wait_until(lambda: threads.count()["resuming"] == 1)

    threads.submit(waits)
    threads.submit(works)
    threads.submit(lambda: notes.append("last"))
    wait_until(lambda: len(notes) == 3)

    assert notes == ["other", "resumed", "last"]
    wait_until(lambda: threads.count()["running"] == 0)


def test_the_thread_that_worked_last_works_next_and_surplus_threads_end(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "_IDLE_SECONDS", 0.1)
    threads, names, go = RequestThreads(1, 10), list[str](), threading.Event()

    def waits() -> None:
        threads.release()
        go.wait()
        threads.acquire()

    for _ in range(3):
        threads.submit(waits)
    wait_until(lambda: threads.count()["threads"] == 3)
    go.set()
    wait_until(lambda: threads.count()["running"] == 0)
    wait_until(lambda: threads.count()["threads"] == 1)
    for _ in range(4):
        threads.submit(lambda: names.append(threading.current_thread().name))
        wait_until(lambda: threads.count()["running"] == 0)

    assert len(names) == 4


def test_each_request_has_a_context_of_its_own() -> None:
    threads, seen = RequestThreads(1, 10), list[object]()

    def work() -> None:
        seen.append(running_slots.get())
        running_slots.set(None)

    for _ in range(2):
        threads.submit(work)
    wait_until(lambda: len(seen) == 2)

    assert seen == [threads, threads]


@pytest.mark.parametrize("fault", [ValueError, SystemExit])
def test_work_that_raises_gives_its_slot_back(fault: type[BaseException]) -> None:
    threads, done = RequestThreads(1, 10), list[int]()

    def fail() -> None:
        raise fault

    threads.submit(fail)
    threads.submit(lambda: done.append(1))

    wait_until(lambda: done == [1])
    wait_until(lambda: threads.count()["running"] == 0)


def test_without_another_thread_of_the_system_a_request_is_refused_and_no_slot_is_lost(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    threads, done, go, waiting = RequestThreads(1, 10), list[str](), threading.Event(), threading.Event()

    def refuse(thread: threading.Thread) -> None:
        raise RuntimeError("can't start new thread")

    with monkeypatch.context() as patch:
        patch.setattr(module._Thread, "start", refuse)
        with pytest.raises(Overloaded):
            threads.submit(lambda: done.append("refused"))
    assert threads.count()["running"] == threads.count()["threads"] == 0

    def waits() -> None:
        waiting.wait()
        threads.release()
        go.wait()
        threads.acquire()
        done.append("resumed")

    threads.submit(waits)
    threads.submit(lambda: done.append("queued"))
    monkeypatch.setattr(module._Thread, "start", refuse)
    waiting.set()
    wait_until(lambda: threads.count()["running"] == 0)
    go.set()
    wait_until(lambda: done == ["resumed", "queued"])
    wait_until(lambda: threads.count()["running"] == 0)


def test_threads_stand_when_each_slot_is_held_for_long_without_a_wait(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "STANDING_SECONDS", 0.05)
    threads, go, wait = RequestThreads(2, 10), threading.Event(), threading.Event()

    def waits() -> None:
        slots = running_slots.get()
        assert slots
        slots.release()
        wait.wait()
        slots.acquire()
        go.wait()

    threads.submit(go.wait)
    assert not threads.all_stand()
    threads.submit(waits)
    time.sleep(0.1)
    assert not threads.all_stand(), "one waits for something outside"
    wait.set()
    wait_until(threads.all_stand)
    go.set()
    wait_until(lambda: not threads.all_stand())
    wait_until(lambda: threads.count()["running"] == 0)
