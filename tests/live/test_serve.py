"""The server as it is deployed outlives its workers."""

import os
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from tests.api import make_key
from tests.live import ledger
from tests.live.client import Talk
from tests.live.processes import Server, database_url, free_port, start
from tests.worlds import create_help_desk


@pytest.fixture
def server(transactional_db: None) -> Iterator[Server]:
    """`manage.py serve`, with one worker process so that its death is the death of all there is."""
    create_help_desk()
    port = free_port()
    command = [sys.executable, "manage.py", "serve", "--port", str(port), "--workers", "1", "--streams-port", "0"]
    told = {"DATABASE_URL": database_url(), "CE_EXTENSIONS": "tests.live.slow", "CE_TEST_SLEEP_SECONDS": "1.5"}
    running = start(command, port, {**os.environ, **told})
    try:
        running.wait_until_ready()
        yield running
    finally:
        running.end()


def worker(server: Server) -> int | None:
    """The only child of the server that runs, if there is one."""
    children = Path(f"/proc/{server.pid}/task/{server.pid}/children").read_text().split()
    return int(children[0]) if children else None


@pytest.mark.long
@pytest.mark.skipif(not Path("/proc/self/task").exists(), reason="finds the worker process through /proc")
def test_a_worker_that_is_killed_is_replaced_and_the_conversation_goes_on(server: Server) -> None:
    talk, killed = Talk(make_key()), worker(server)
    talk.say(server.port, "hours")
    assert killed

    os.kill(killed, signal.SIGKILL)
    deadline = time.monotonic() + 20
    while (reply := talk.say(server.port, "fees")) is None and time.monotonic() < deadline:
        time.sleep(0.1)

    assert reply
    assert reply.said == "No fees."
    assert worker(server) != killed
    ledger.check([talk])


@pytest.mark.long
@pytest.mark.slow
def test_a_turn_that_runs_when_the_server_is_told_to_end_is_answered(server: Server) -> None:
    talk = Talk(make_key())
    talk.say(server.port, "hours")

    with ThreadPoolExecutor(1) as pool:
        running = pool.submit(talk.say, server.port, "slowly, the fees")
        time.sleep(0.5)
        os.kill(server.pid, signal.SIGTERM)
        reply = running.result()

    assert reply
    assert (reply.status, reply.said) == (200, "No fees.")
    assert server.process.wait(20) == 0
    assert ledger.check([talk]) == {"OK": 2}


@pytest.mark.long
@pytest.mark.parametrize("command", ["serve", "demo"])
def test_a_port_that_is_taken_is_refused_before_anything_else_happens(command: str, tmp_path: Path) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        done = subprocess.run(
            [sys.executable, "manage.py", command, "--port", str(port)],
            capture_output=True,
            text=True,
            env={**os.environ, "CE_VAR_DIR": str(tmp_path), "DATABASE_URL": ""},
            check=False,
        )

    assert done.returncode == 1
    assert f"Cannot serve at 127.0.0.1:{port}: address already in use" in done.stderr
    assert list(tmp_path.iterdir()) == [tmp_path / "static"]


@pytest.mark.parametrize(
    ("variable", "value", "told"),
    [
        ("CE_MAX_MESSAGE_BYTES", "many", "CE_MAX_MESSAGE_BYTES must be a whole number of at least 1."),
        ("DATABASE_URL", "mysql://somewhere/db", "DATABASE_URL must begin with postgresql:// or sqlite:///."),
    ],
)
def test_a_variable_that_is_wrong_stops_the_start_with_one_line(
    variable: str, value: str, told: str, tmp_path: Path
) -> None:
    done = subprocess.run(
        [sys.executable, "manage.py", "serve", "--port", str(free_port())],
        capture_output=True,
        text=True,
        env={**os.environ, "CE_VAR_DIR": str(tmp_path), variable: value},
        check=False,
    )

    assert (done.returncode, done.stdout, done.stderr) == (1, "", f"Cannot start: {told}\n")
