import time
from typing import Any

import pytest

from config_admin.health import background
from config_admin.validation.world import World
from tests.builders import make_intent, make_rule, make_snapshot

SNAPSHOT = make_snapshot(make_intent("REFUND"), make_rule(intent_code="REFUND"))


def wait_for_end(runs: background.Runs) -> background.CheckRun:
    for _ in range(400):
        run = runs.of(SNAPSHOT, World())
        if run.health or run.failed:
            return run
        time.sleep(0.02)
    raise AssertionError("The check did not end.")


def test_a_configuration_is_checked_once_with_progress() -> None:
    runs = background.Runs()
    first = runs.of(SNAPSHOT, World())

    assert wait_for_end(runs) is first
    assert first.health
    assert first.health.config_version == SNAPSHOT.config_version
    assert 0 < first.done < first.parts
    assert runs.of(SNAPSHOT, World(model_configured=True)) is not first


def test_the_check_of_a_draft_does_not_begin_that_of_the_live_configuration_again() -> None:
    runs, draft = background.Runs(), make_snapshot(make_intent("REFUND"))
    live = runs.of(SNAPSHOT, World())
    other = runs.of(draft, World())
    assert runs.of(SNAPSHOT, World()) is live
    assert runs.of(draft, World()) is other


def test_who_waits_gets_what_it_finds() -> None:
    runs = background.Runs()
    health = runs.of(SNAPSHOT, World()).wait(20)

    assert health is not None
    assert runs.of(SNAPSHOT, World()).wait(0) is health


def test_a_check_that_failed_is_begun_again(monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(*args: Any, **kwargs: Any) -> None:
        raise RuntimeError("no")

    runs = background.Runs()
    monkeypatch.setattr(background, "check_all", fail)
    first = runs.of(SNAPSHOT, World())
    while not first.failed:
        time.sleep(0.01)
    monkeypatch.undo()

    assert wait_for_end(runs) is not first
