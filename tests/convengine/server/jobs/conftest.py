"""Jobs of the tests, beside the database that knows when they ran."""

from collections.abc import Callable, Iterator
from typing import Any

import pytest

from convengine.engine.turn.job import Counts, Every, Job

Work = Callable[[], Iterator[Counts]]


@pytest.fixture
def job(monkeypatch: pytest.MonkeyPatch) -> Callable[..., Job]:
    """Give `job(work)`: a job called `chores`, the only one there is."""

    def make(work: Work, seconds: int = 600) -> Job:
        chores = Job("chores", "Do the chores", "Does them.", Every(seconds), work)
        monkeypatch.setattr("convengine.server.jobs.running.all_jobs", lambda: {"chores": chores})
        return chores

    return make


@pytest.fixture
def clock(settings: Any) -> Callable[[float], None]:
    """Give `clock(seconds)`: the database's clock runs ahead by so much."""

    def ahead(seconds: float) -> None:
        settings.CONVENGINE = {**settings.CONVENGINE, "CLOCK_OFFSET_SECONDS": seconds}

    return ahead
