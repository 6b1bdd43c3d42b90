"""Long work is followed while it runs, and goes on when nobody listens."""

import threading

import pytest

from config_admin.transfer.following import Broke, Ended, News, followed
from config_admin.transfer.planning import Progress


def test_how_far_it_is_is_told_and_then_what_came_of_it() -> None:
    def work(progress: Progress) -> str:
        progress("judged", 100, 200)
        progress("judged", 200, 200)
        return "done"

    assert list(followed(work)) == [News("judged", 100, 200), News("judged", 200, 200), Ended("done")]


def test_what_nobody_foresaw_is_told_without_its_details() -> None:
    def work(progress: Progress) -> None:
        raise RuntimeError("secret")

    with pytest.raises(Broke, match="the log of the server says why"):
        list(followed(work))


def test_work_goes_on_when_nobody_listens_any_more() -> None:
    go_on, ended = threading.Event(), threading.Event()

    def work(progress: Progress) -> None:
        progress("judged", 1, 2)
        go_on.wait(10)
        ended.set()

    listening = followed(work)
    assert next(listening) == News("judged", 1, 2)
    listening.close()  # type: ignore[attr-defined]
    go_on.set()
    assert ended.wait(10)
