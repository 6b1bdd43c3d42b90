"""Server processes on the database of the running test: the real server, and one that dies on request."""

import ctypes
import os
import signal
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass
from http.client import HTTPConnection
from pathlib import Path
from typing import IO
from urllib.parse import quote, urlsplit

from django.db import connection

ROOT = Path(__file__).resolve().parents[2]
#: A start takes a second; the rest is for a machine that is busy with other tests.
_START_SECONDS = 180.0


def database_url() -> str:
    """The database of this very test, as another process must be told it."""
    name = str(connection.settings_dict["NAME"])
    if connection.vendor == "sqlite":
        return f"sqlite:///{quote(name)}"
    return urlsplit(os.environ["DATABASE_URL"])._replace(path=f"/{quote(name)}").geturl()


def free_port() -> int:
    """A port that nobody listens on, and neither on the next one, where a server sends its event streams."""
    while True:
        with socket.socket() as probe, socket.socket() as next_probe:
            probe.bind(("127.0.0.1", 0))
            port = int(probe.getsockname()[1])
            with suppress(OSError, OverflowError):
                next_probe.bind(("127.0.0.1", port + 1))
                return port


@dataclass
class Server:
    """A running server with its children: a process group of its own."""

    process: subprocess.Popen[bytes]
    port: int
    log: IO[bytes]

    @property
    def pid(self) -> int:
        """The process that was started; children are in its group."""
        return self.process.pid

    def text(self) -> str:
        """What it wrote so far."""
        self.log.seek(0)
        return self.log.read().decode(errors="replace")

    def wait_until_ready(self) -> None:
        """Return when it answers HTTP. Fails with what it wrote when it ends or takes too long."""
        deadline = time.monotonic() + _START_SECONDS
        while not answers(self.port):
            assert self.process.poll() is None, f"The server ended: {self.text()}"
            assert time.monotonic() < deadline, f"The server does not answer: {self.text()}"
            time.sleep(0.05)

    def kill(self) -> None:
        """End it and its children at once, as a machine that fails does."""
        os.kill(self.pid, signal.SIGSTOP)  # so that it starts none again
        for child in find_children(self.pid):
            os.killpg(child, signal.SIGKILL)
        os.killpg(self.pid, signal.SIGKILL)
        self.process.wait(10)

    def end(self) -> None:
        """End it and its children, by force if need be."""
        for number in (signal.SIGTERM, signal.SIGKILL):
            try:
                os.killpg(self.pid, number)
            except ProcessLookupError:
                break
            try:
                self.process.wait(10)
            except subprocess.TimeoutExpired:
                continue
        self.log.close()


def find_children(pid: int) -> list[int]:
    """The processes that a process started (Linux)."""
    return [int(child) for child in Path(f"/proc/{pid}/task/{pid}/children").read_text().split()]


def answers(port: int) -> bool:
    """True when something answers HTTP there: an address that does not exist will do."""
    http = HTTPConnection("127.0.0.1", port, timeout=_START_SECONDS)
    try:
        http.request("GET", "/ready")
        return http.getresponse().status > 0
    except OSError:
        return False
    finally:
        http.close()


def end_with_parent() -> None:
    """Have Linux end this process when its parent is gone, so that a killed test run leaves no servers behind."""
    if sys.platform == "linux":
        ctypes.CDLL(None).prctl(1, signal.SIGTERM)


def start(command: list[str], port: int, environment: Mapping[str, str], folder: Path = ROOT) -> Server:
    """Start a server, which may need a while until it answers. `environment` is all that it gets."""
    log = tempfile.TemporaryFile()  # noqa: SIM115  (it is closed when the server ends)
    process = subprocess.Popen(
        command,
        cwd=folder,
        env=environment,
        stdin=subprocess.DEVNULL,
        stdout=log,
        stderr=subprocess.STDOUT,
        start_new_session=True,
        preexec_fn=end_with_parent,  # noqa: PLW1509  (servers are started before any thread)
    )
    return Server(process, port, log)


def start_granian(workers: int = 1, threads: int = 4, *, asgi: bool = False, **environment: str) -> Server:
    """The server as it is deployed, on the database of this test; with `asgi` it serves event streams as well.

    Only that it loads the encoder of sentences, a quarter of a start, when a message needs it: few of tests do.
    """
    port = free_port()
    command = [
        sys.executable, "-c", "import sys; from convengine.commands.management.commands.serve import become_server; "
        "become_server('127.0.0.1', *map(int, sys.argv[1:4]), asgi=bool(sys.argv[4:]))",
        str(port), str(workers), str(threads), *(["asgi"] if asgi else []),
    ]  # fmt: skip
    told = {"DATABASE_URL": database_url(), "CE_TAKES_TURNS": "false", **environment}
    return start(command, port, {**os.environ, **told})


def start_doomed_server(struck: Path, **environment: str) -> Server:
    """The server that ends itself where a request says; `struck` is the folder where it notes that (see doomed)."""
    port = free_port()
    told = {
        **os.environ,
        "DATABASE_URL": database_url(),
        "CE_EXTENSIONS": "tests.live.doom",
        "CE_TEST_STRUCK": str(struck),
        **environment,
    }
    return start([sys.executable, "-m", "tests.live.doomed", str(port)], port, told)
