"""Processes that are started again, replaced and ended."""

import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

import pytest
from structlog.testing import capture_logs

from convengine.server.deployment import supervisor
from convengine.server.deployment.supervisor import Child, Supervisor

#: A child that notes its start, reports that it is ready, and ends a moment after SIGTERM.
_PROGRAM = """
import os, signal, sys, time
folder, behaviour = sys.argv[1:3]
ready = int(sys.argv[sys.argv.index("--ready") + 1]) if "--ready" in sys.argv else None
def note(word):
    with open(folder, "a") as file:
        file.write(f"{word} {os.getpid()}\\n")
def end(*_):
    note("end")
    if behaviour != "stubborn":
        os._exit(0)
signal.signal(signal.SIGTERM, end)
signal.signal(signal.SIGUSR1, lambda *_: note("drain"))
signal.signal(signal.SIGUSR2, lambda *_: note("hurry"))
note("start")
if behaviour == "dies" or (behaviour == "dies later" and open(folder).read().count("start") > 1):
    os._exit(3)
if ready is not None:
    os.write(ready, b"1")
while True:
    time.sleep(0.02)
"""


@pytest.fixture(autouse=True)
def fast(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Short times, and the signal handlers of the test run afterwards."""
    for name, seconds in (("FIRST_PAUSE", 0.1), ("LONGEST_PAUSE", 0.4), ("DRAIN_SECONDS", 0.2), ("_TICK", 0.01)):
        monkeypatch.setattr(supervisor, name, seconds)
    numbers = (signal.SIGTERM, signal.SIGINT, signal.SIGHUP)
    handlers = [signal.getsignal(number) for number in numbers]
    yield
    for number, handler in zip(numbers, handlers, strict=True):
        signal.signal(number, handler)


@pytest.fixture
def notes(tmp_path: Path) -> Path:
    return tmp_path / "notes"


def make_child(notes: Path, behaviour: str = "", **options: Any) -> Child:
    return Child("server 1", [sys.executable, "-c", _PROGRAM, str(notes), behaviour], **options)


def read_notes(notes: Path, word: str) -> list[int]:
    lines = notes.read_text().splitlines() if notes.exists() else []
    return [int(line.split()[1]) for line in lines if line.startswith(f"{word} ")]


Step = tuple[Callable[[], bool], Callable[[], None]]


def run(children: Sequence[Child], tmp_path: Path, steps: Sequence[Step], **more: Any) -> tuple[int, list[Any]]:
    """Run a supervisor. Each step waits for a condition, then acts; after the last one the supervisor is ended."""

    def act() -> None:
        for condition, action in steps:
            deadline = time.monotonic() + 20
            while not condition() and time.monotonic() < deadline:
                time.sleep(0.01)
            action()
        os.kill(os.getpid(), signal.SIGTERM)

    thread = threading.Thread(target=act)
    thread.start()
    with capture_logs() as logs:
        status = Supervisor(children, tmp_path, **more).run()
    thread.join()
    return status, logs


def is_running(pid: int) -> bool:
    return Path(f"/proc/{pid}/stat").exists()


def test_a_process_that_dies_again_and_again_is_started_after_growing_pauses(notes: Path, tmp_path: Path) -> None:
    enough = lambda: len(read_notes(notes, "start")) >= 5  # noqa: E731

    status, logs = run([make_child(notes, "dies")], tmp_path, [(enough, lambda: None)])

    deaths = [line for line in logs if line["event"] == "process ended; restarting it"]
    assert status == 0
    assert [line["pause_seconds"] for line in deaths[:4]] == [0.1, 0.2, 0.4, 0.4]
    assert {(line["process"], line["status"]) for line in deaths} == {("server 1", 3)}


def test_the_pause_is_short_again_after_a_stable_time(
    notes: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(supervisor, "STABLE_SECONDS", 0.0)

    _, logs = run([make_child(notes, "dies")], tmp_path, [(lambda: len(read_notes(notes, "start")) >= 4, lambda: None)])

    assert {line["pause_seconds"] for line in logs if "pause_seconds" in line} == {0.1}


def test_the_signal_of_a_death_is_named(notes: Path, tmp_path: Path) -> None:
    steps = [
        (lambda: bool(read_notes(notes, "start")), lambda: os.kill(read_notes(notes, "start")[0], signal.SIGKILL)),
        (lambda: len(read_notes(notes, "start")) == 2, lambda: None),
    ]

    _, logs = run([make_child(notes)], tmp_path, steps)

    assert [line["signal"] for line in logs if "pause_seconds" in line] == ["SIGKILL"]


def test_a_restart_replaces_a_process_when_the_new_one_is_ready(notes: Path, tmp_path: Path) -> None:
    steps = [
        (lambda: bool(read_notes(notes, "start")), lambda: os.kill(os.getpid(), signal.SIGHUP)),
        (lambda: len(read_notes(notes, "end")) == 1, lambda: None),
    ]

    _, logs = run([make_child(notes, reports_ready=True)], tmp_path, steps)

    first, second = read_notes(notes, "start")
    words = [line.split()[0] for line in notes.read_text().splitlines()]
    # The old one drains while the new one serves already.
    assert words[:4] == ["start", "start", "drain", "end"]
    assert read_notes(notes, "drain") == [first]
    assert read_notes(notes, "end") == [first, second]
    assert [line["event"] for line in logs] == ["restart begins", "restart done"]


def test_a_restart_whose_new_process_dies_leaves_the_old_one(notes: Path, tmp_path: Path) -> None:
    steps = [
        (lambda: bool(read_notes(notes, "start")), lambda: os.kill(os.getpid(), signal.SIGHUP)),
        (lambda: len(read_notes(notes, "start")) == 2, lambda: time.sleep(0.3)),
    ]

    _, logs = run([make_child(notes, "dies later", reports_ready=True)], tmp_path, steps)

    assert read_notes(notes, "end") == read_notes(notes, "start")[:1]
    assert [line["reason"] for line in logs if "reason" in line] == ["a new process ended"]


def test_a_restart_whose_preparation_fails_replaces_nothing(notes: Path, tmp_path: Path) -> None:
    steps = [
        (lambda: bool(read_notes(notes, "start")), lambda: os.kill(os.getpid(), signal.SIGHUP)),
        ((tmp_path / "prepared").exists, lambda: time.sleep(0.3)),
    ]
    prepare = [sys.executable, "-c", f"open({str(tmp_path / 'prepared')!r}, 'w'); raise SystemExit(1)"]

    _, logs = run([make_child(notes, reports_ready=True)], tmp_path, steps, prepare=prepare)

    assert len(read_notes(notes, "start")) == 1
    assert [line["reason"] for line in logs if "reason" in line] == ["the preparation failed"]


def test_what_does_not_end_in_time_is_killed(notes: Path, tmp_path: Path) -> None:
    began = time.monotonic()

    _, logs = run(
        [make_child(notes, "stubborn", stop_seconds=0.3)], tmp_path, [(notes.exists, lambda: time.sleep(0.1))]
    )

    assert time.monotonic() - began < 30
    assert [line["event"] for line in logs] == ["process killed, because it did not end in time"]
    assert not is_running(read_notes(notes, "start")[0])


def test_what_others_need_ends_after_them_and_stays_at_a_restart(notes: Path, tmp_path: Path) -> None:
    broker = Child("broker", [sys.executable, "-c", _PROGRAM, str(notes), ""], serves=True)
    steps = [
        (lambda: len(read_notes(notes, "start")) == 2, lambda: os.kill(os.getpid(), signal.SIGHUP)),
        (lambda: len(read_notes(notes, "end")) == 1, lambda: None),
    ]

    run([broker, make_child(notes)], tmp_path, steps)

    started, ended = read_notes(notes, "start"), read_notes(notes, "end")
    assert len(started) == 3
    assert ended[-1] in started[:2]
    assert ended[-1] not in ended[:-1]


def test_systemd_is_told_when_all_are_ready(notes: Path, tmp_path: Path) -> None:
    import socket

    address = tmp_path / "systemd"
    with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as receiver:
        receiver.bind(str(address))
        receiver.settimeout(60)
        environment = {**os.environ, "NOTIFY_SOCKET": str(address)}
        run([make_child(notes, reports_ready=True)], tmp_path, [(notes.exists, lambda: time.sleep(0.2))],
            environment=environment)  # fmt: skip

        assert [receiver.recv(100), receiver.recv(100)] == [b"READY=1", b"STOPPING=1"]


@pytest.mark.parametrize("fault", [BlockingIOError("no more processes"), subprocess.SubprocessError("preexec_fn")])
def test_a_system_that_starts_no_process_now_ends_nothing(
    notes: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, fault: Exception
) -> None:
    start, calls = subprocess.Popen, list[int]()

    def refuse_some(*args: Any, **options: Any) -> Any:
        calls.append(1)
        # The first start, and the first of a restart.
        if len(calls) in (1, 3):
            raise fault
        return start(*args, **options)

    monkeypatch.setattr(supervisor.subprocess, "Popen", refuse_some)
    steps = [
        (lambda: len(read_notes(notes, "start")) == 1, lambda: os.kill(os.getpid(), signal.SIGHUP)),
        (lambda: len(calls) == 3, lambda: os.kill(os.getpid(), signal.SIGHUP)),
        (lambda: len(read_notes(notes, "end")) == 1, lambda: None),
    ]

    status, logs = run([make_child(notes, reports_ready=True)], tmp_path, steps)

    assert status == 0
    assert len(read_notes(notes, "start")) == 2
    assert [line["event"] for line in logs][:2] == ["process not started", "restart begins"]
    assert [line["reason"] for line in logs if "reason" in line] == ["a new process did not start"]


def test_a_preparation_that_cannot_start_gives_the_restart_up(notes: Path, tmp_path: Path) -> None:
    steps = [
        (lambda: bool(read_notes(notes, "start")), lambda: os.kill(os.getpid(), signal.SIGHUP)),
        (lambda: True, lambda: time.sleep(0.3)),
    ]

    status, logs = run([make_child(notes, reports_ready=True)], tmp_path, steps, prepare=["/no/such/program"])

    assert status == 0
    assert len(read_notes(notes, "start")) == 1
    assert [line["reason"] for line in logs if "reason" in line] == ["the preparation did not start"]
