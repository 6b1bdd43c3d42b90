import threading
import time

import pytest
import structlog
from django.conf import settings
from django.db import OperationalError
from django.test import override_settings

from convengine.server.probes import readiness as module
from convengine.server.probes.database_state import DatabaseState
from convengine.server.probes.readiness import (
    NO_ANSWER,
    UNREACHABLE,
    BoundedCheck,
    Readiness,
    ServicePart,
    describe_database,
)


def texts(parts: list[ServicePart]) -> dict[str, str]:
    return {part.name: part.text for part in parts}


@pytest.mark.parametrize(
    ("state", "missing", "expected"),
    [
        (
            DatabaseState(True, True, True, 3, {"send_webhooks": 119.0, "old_deliveries": 3599.0}, is_writable=True),
            NO_ANSWER,
            ("ok", "ok", "ok", "ok"),
        ),
        (
            DatabaseState(True, True, True, 3, {"send_webhooks": 120.0}, is_writable=True),
            NO_ANSWER,
            ("ok", "ok", "ok", "late"),
        ),
        (DatabaseState(), UNREACHABLE, ("unreachable",) * 4),
        (DatabaseState(), NO_ANSWER, ("no answer in time",) * 4),
        (
            DatabaseState(True, False, is_writable=True),
            NO_ANSWER,
            ("ok", "not applied", "no answer in time", "no answer in time"),
        ),
        (DatabaseState(True, True, True, 3, {}, is_writable=False), NO_ANSWER, ("read-only", "ok", "ok", "ok")),
        (
            DatabaseState(True, True, False, None, {}, is_writable=True),
            NO_ANSWER,
            ("ok", "ok", "no release can be loaded", "ok"),
        ),
    ],
)
def test_each_part_says_what_is_missing(state: DatabaseState, missing: str, expected: tuple[str, ...]) -> None:
    parts = describe_database(state, missing)

    assert [part.name for part in parts] == ["database", "migrations", "configuration", "jobs"]
    assert tuple(part.text for part in parts) == expected
    assert [part.name for part in parts if not part.is_required] == ["jobs"]


def test_a_database_that_hangs_does_not_hang_the_answer(monkeypatch: pytest.MonkeyPatch) -> None:
    go_on = threading.Event()
    monkeypatch.setattr(DatabaseState, "read", lambda self: go_on.wait(20))
    monkeypatch.setattr(module, "SECONDS", 0.2)
    readiness = Readiness()

    parts = readiness.check()
    go_on.set()

    assert texts(parts)["database"] == "no answer in time"


def test_threads_that_stand_are_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(DatabaseState, "read", lambda self: None)

    assert texts(Readiness().check())["threads"] == "ok"
    (part,) = [part for part in Readiness().check(all_threads_stand=True) if part.name == "threads"]
    assert (part.text, part.is_required) == ("all are busy with requests that do not end", True)


def test_a_database_that_refuses_the_password_is_not_taken_for_one_that_is_out(monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(self: DatabaseState) -> None:
        raise OperationalError('connection failed: FATAL:  password authentication failed for user "convengine"')

    monkeypatch.setattr(DatabaseState, "read", refuse)

    assert texts(Readiness().check())["database"] == "refuses user or password"


def test_a_broker_out_of_reach_is_named_and_turns_go_on(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(DatabaseState, "read", lambda self: None)
    with override_settings(CONVENGINE={**settings.CONVENGINE, "BROKER_URL": "redis://127.0.0.1:1/0"}):
        parts = Readiness().check()

    (broker,) = [part for part in parts if part.name == "broker"]
    assert (broker.text, broker.is_required) == ("unreachable", False)


def test_without_a_broker_there_is_no_such_part(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(DatabaseState, "read", lambda self: None)

    assert "broker" not in texts(Readiness().check())


def test_a_change_is_one_line_in_the_log(monkeypatch: pytest.MonkeyPatch) -> None:
    readiness = Readiness()
    broken, whole = [ServicePart("database", "unreachable")], [ServicePart("database")]

    with structlog.testing.capture_logs() as logs:
        for parts in (whole, broken, broken, whole, whole):
            readiness._log_change(parts)

    assert [(line["event"], line.get("database")) for line in logs] == [
        ("not ready", "unreachable"),
        ("ready again", None),
    ]


@pytest.fixture(autouse=True)
def keep_results_fresh(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "_FRESH", 60.0)


def test_while_one_run_hangs_no_second_one_starts() -> None:
    go_on, started = threading.Event(), list[int]()

    def hang() -> str:
        started.append(1)
        go_on.wait(60)
        return "done"

    check = BoundedCheck("hangs", hang)
    for _ in range(3):
        with pytest.raises(TimeoutError):
            check.start().result(0.01)
    go_on.set()

    assert check.start().result(60) == "done"
    assert started == [1]


def test_a_fresh_result_is_given_again_and_an_old_one_is_not(monkeypatch: pytest.MonkeyPatch) -> None:
    runs = list[int]()
    check = BoundedCheck("counts", lambda: runs.append(1))
    check.start().result(60)
    check.start().result(60)
    assert len(runs) == 1

    monkeypatch.setattr(module, "_FRESH", 0.0)
    time.sleep(0.01)
    check.start().result(60)
    assert len(runs) == 2


def test_a_failure_is_the_result() -> None:
    check = BoundedCheck("fails", lambda: 1 / 0)

    with pytest.raises(ZeroDivisionError):
        check.start().result(60)
