import threading

import pytest
from structlog.testing import capture_logs

from convengine.server.jobs.background import Background


def test_jobs_run_elsewhere_and_can_be_waited_for() -> None:
    names: list[str] = []
    work = Background(threads=2)
    for _ in range(5):
        assert work.submit(lambda: names.append(threading.current_thread().name))
    work.finish()

    assert len(names) == 5
    assert set(names) <= {"background-0", "background-1"}


def test_a_job_that_fails_stops_no_other() -> None:
    done: list[int] = []

    def fail() -> None:
        raise ValueError("oh")

    work = Background(threads=1)
    with capture_logs() as logged:
        work.submit(fail)
        work.submit(lambda: done.append(1))
        work.finish()

    assert done == [1]
    assert [(entry["event"], entry["error"]) for entry in logged] == [("job in the background failed", "oh")]


def test_a_job_is_refused_when_the_system_gives_no_more_threads(monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(thread: threading.Thread) -> None:
        raise RuntimeError("can't start new thread")

    done: list[int] = []
    work = Background(threads=2)
    with monkeypatch.context() as patch, capture_logs() as logged:
        patch.setattr(threading.Thread, "start", refuse)
        assert not work.submit(lambda: done.append(1))

    assert [entry["event"] for entry in logged] == ["no thread for work in the background"]
    assert work.submit(lambda: done.append(2))
    work.finish()
    assert done == [2]


def test_too_many_jobs_are_dropped_and_said_so() -> None:
    gate = threading.Event()
    work = Background(threads=1, waiting=1)
    with capture_logs() as logged:
        taken = [work.submit(lambda: gate.wait(10) and None) for _ in range(5)]
        gate.set()
        work.finish()

    assert taken[0]
    assert not all(taken)
    assert logged[0]["event"] == "too much work in the background, job dropped"


@pytest.mark.parametrize("submitted", [0, 1])
def test_to_finish_waits_for_all_work_and_for_nothing_without_any(submitted: int) -> None:
    work, done = Background(threads=1), list[int]()
    for number in range(submitted):
        work.submit(lambda number=number: done.append(number))
    work.finish()
    assert done == list(range(submitted))
