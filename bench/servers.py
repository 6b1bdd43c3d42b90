"""Servers for one run: started on a free port of 127.0.0.1, and stopped with the run."""

import os
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryFile

_START_SECONDS = 120
#: Stands in a command for the port.
PORT = "{port}"


@dataclass(frozen=True)
class Server:
    """A running server."""

    name: str
    pid: int
    port: int


def start_server(
    name: str,
    app: str,
    environment: Mapping[str, str],
    *,
    workers: int = 2,
    threads: int = 4,
    asgi: bool = False,
    python: str = sys.executable,
) -> AbstractContextManager[Server]:
    """Serve a WSGI or ASGI application with the granian of that Python."""
    command = [
        str(Path(python).parent / "granian"), "--interface", "asginl" if asgi else "wsgi",
        "--host", "127.0.0.1", "--port", PORT, "--workers", str(workers),
        *([] if asgi else ["--blocking-threads", str(threads)]),
        "--log-level", "warning", app,
    ]  # fmt: skip
    return start_command(name, command, {"CE_THREADS": str(threads), **environment})


@contextmanager
def start_command(name: str, command: Sequence[str], environment: Mapping[str, str]) -> Iterator[Server]:
    """Start a command with a free port for `PORT`, wait until it accepts connections, and stop it at the end."""
    port = _free_port()
    # The log has a line for each turn: written as in production, kept out of the benchmark's own output.
    with TemporaryFile() as log:
        process = subprocess.Popen(
            [str(port) if part == PORT else part for part in command],
            env={**os.environ, **environment},
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
