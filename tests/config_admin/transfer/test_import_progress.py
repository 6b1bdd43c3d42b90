"""Long work is followed while it runs, and goes on when nobody listens."""

import threading

import pytest

from config_admin.transfer.import_plan import Progress
from config_admin.transfer.import_progress import WorkFailed, WorkProgress, WorkResult, follow_work


def test_how_far_it_is_is_told_and_then_what_came_of_it() -> None:
    def work(progress: Progress) -> str:
        progress("judged", 100, 200)
        progress("judged", 200, 200)
        return "done"

    assert list(follow_work(work)) == [
        WorkProgress("judged", 100, 200),
        WorkProgress("judged", 200, 200),
        WorkResult("done"),
    ]


def test_what_nobody_foresaw_is_told_without_its_details() -> None:
    def work(progress: Progress) -> None:
        raise RuntimeError("secret")

    with pytest.raises(WorkFailed, match="The server log has the details"):
        list(follow_work(work))


def test_work_goes_on_when_nobody_listens_any_more() -> None:
    go_on, ended = threading.Event(), threading.Event()

    def work(progress: Progress) -> None:
        progress("judged", 1, 2)
        go_on.wait(60)
        ended.set()

    listening = follow_work(work)
    assert next(listening) == WorkProgress("judged", 1, 2)
    listening.close()  # type: ignore[attr-defined]
    go_on.set()
    assert ended.wait(60)
