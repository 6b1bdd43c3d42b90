"""Granian servers for one run: started on a free port of 127.0.0.1, and stopped with the run."""

import os
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryFile

_START_SECONDS = 60


@dataclass(frozen=True)
class Server:
    """A running server."""

    name: str
    pid: int
    port: int


@contextmanager
def start_server(
    name: str, app: str, environment: Mapping[str, str], *, workers: int = 2, threads: int = 4, asgi: bool = False
) -> Iterator[Server]:
    """Start a WSGI or ASGI application, wait until it accepts connections, and stop it at the end."""
    port = _free_port()
    command = [
        str(Path(sys.executable).parent / "granian"), "--interface", "asginl" if asgi else "wsgi",
        "--host", "127.0.0.1", "--port", str(port), "--workers", str(workers),
        *([] if asgi else ["--blocking-threads", str(threads)]),
        "--log-level", "warning", app,
    ]  # fmt: skip
    # The log has a line for each turn: written as in production, kept out of the benchmark's own output.
    with TemporaryFile() as log:
        process = subprocess.Popen(
            command,
            env={**os.environ, "CE_THREADS": str(threads), **environment},
            stdout=log,
            stderr=log,
            start_new_session=True,
        )
        try:
            _wait(process, port, name)
            yield Server(name, process.pid, port)
        except BaseException:
            log.seek(0)
            sys.stderr.write(log.read().decode(errors="replace")[-5000:])
            raise
        finally:
            _end(process)


def _free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


def _wait(process: subprocess.Popen[bytes], port: int, name: str) -> None:
    deadline = time.monotonic() + _START_SECONDS
    while time.monotonic() < deadline:
        if process.poll() is not None:
            raise RuntimeError(f"The server of {name} ended with {process.returncode}.")
        try:
            socket.create_connection(("127.0.0.1", port), timeout=1).close()
        except OSError:
            time.sleep(0.05)
        else:
            return
    raise RuntimeError(f"The server of {name} does not answer.")


def _end(process: subprocess.Popen[bytes]) -> None:
    """The server and its workers are one process group."""
    if process.poll() is None:
        os.killpg(process.pid, signal.SIGTERM)
        try:
            process.wait(10)
        except subprocess.TimeoutExpired:
            os.killpg(process.pid, signal.SIGKILL)
            process.wait()
