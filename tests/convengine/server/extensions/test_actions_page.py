"""What docs/actions.md shows does what it says."""

import re
from pathlib import Path

import pytest

from convengine.engine.turn.ports import TaskRun
from convengine.engine.turn.recording import Recording
from convengine.server.extensions.registry import registry
from convengine.server.extensions.tasks import Tasks
from tests.builders import make_session

PAGE = (Path(__file__).resolve().parents[4] / "docs/actions.md").read_text()


@pytest.fixture
def tasks(monkeypatch: pytest.MonkeyPatch) -> Tasks:
    (source,) = re.findall(r"```python\n(.*?)```", PAGE, re.DOTALL)
    monkeypatch.setattr(registry, "tasks", {})
    exec(source, {})
    return Tasks(registry, Recording())


def test_the_task_of_the_page_works(tasks: Tasks) -> None:
    session = make_session(context={"orderNumber": "48392"})
    answer = tasks.run("billing", "refund", session, task_run=TaskRun("a key", 5000))

    assert answer.value == {"order": "48392", "key": "a key"}
    assert answer.context == {"refundId": "R-48392"}


def test_and_fails_as_it_says(tasks: Tasks) -> None:
    answer = tasks.run("billing", "refund", make_session(), task_run=TaskRun("a key", 5000))

    assert (answer.error_type, answer.error_message) == ("NO_ORDER", "There is no order number.")
