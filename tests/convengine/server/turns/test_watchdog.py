"""Which turn outlasts its limit, and where it is. `tests/live/test_watchdog.py` has processes that end."""

import threading
import time
from collections.abc import Sequence

import pytest

from convengine.server.turns import watchdog as module
from convengine.server.turns.watchdog import RunningTurn, Watchdog

LIMIT = 0.3


@pytest.fixture
def ended(monkeypatch: pytest.MonkeyPatch) -> list[tuple[str, str]]:
    """The turns that were ended, with the stacks of their threads. The process goes on."""
    ended: list[tuple[str, str]] = []

    def note(overdue: Sequence[RunningTurn]) -> None:
        ended.extend((turn.conversation_id, turn.format_stack()) for turn in overdue)

    monkeypatch.setattr(module, "_end_process", note)
    monkeypatch.setattr(module, "_set_alarm", lambda seconds: None)
    monkeypatch.setattr(module, "_PAUSE", 0.02)
    monkeypatch.setattr(module, "find_longest_seconds", lambda: LIMIT)
    return ended


def stand(until: threading.Event) -> None:
    until.wait(20)


def test_a_turn_beyond_its_limit_is_ended_and_its_stack_says_where_it_is(ended: list[tuple[str, str]]) -> None:
    watchdog, go = Watchdog(), threading.Event()

    def run() -> None:
        with watchdog.watching("standing", 1, "lease"):
            stand(go)

    thread = threading.Thread(target=run)
    thread.start()
    while not ended:
        time.sleep(0.01)
    go.set()
    thread.join()

    conversation_id, stack = ended[0]
    assert conversation_id == "standing"
    assert "in stand" in stack
    assert "until.wait(20)" in stack


def test_turns_that_end_in_time_are_left_alone_however_many_follow(ended: list[tuple[str, str]]) -> None:
    watchdog = Watchdog()
    began = time.monotonic()

    while time.monotonic() - began < 3 * LIMIT:
        with watchdog.watching("quick", 1, "lease"):
            time.sleep(0.01)

    assert ended == []


def test_a_turn_that_raises_is_forgotten(ended: list[tuple[str, str]]) -> None:
    watchdog = Watchdog()
    with pytest.raises(ValueError, match="broken"), watchdog.watching("broken", 1, "lease"):
        raise ValueError("broken")
    time.sleep(3 * LIMIT)

    assert ended == []


def test_what_is_ended_is_beyond_the_ordinary_end() -> None:
    assert module.find_longest_seconds() > 110 + module.STALL_SECONDS
